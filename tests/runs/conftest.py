import pytest

from tests.runs.examples import small_file


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A data set of twelve samples."""
    return small_file(tmp_path_factory.mktemp("runs"))
