import warnings

import pytest


@pytest.fixture(scope="session")
def geometric():
    """PyTorch Geometric's layers, where that package is installed."""
    with warnings.catch_warnings():
        # Importing it uses torch.jit.script, which torch deprecates.
        warnings.simplefilter("ignore")
        return pytest.importorskip("torch_geometric.nn")
