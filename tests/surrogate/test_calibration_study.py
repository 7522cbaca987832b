import numpy as np
import pytest

from gola.surrogate.calibration_study import calibration
from tests.surrogate.uncertainty.test_bands import KERNEL, waves


@pytest.fixture(scope="module")
def study():
    return calibration(waves(40), KERNEL, num_train=15, num_splits=3)


def test_levels_that_the_samples_support_are_counted_for_both_kinds(study):
    levels = [(one.level, one.kind) for one in study.coverages]
    assert levels == [(level, kind) for kind in ("everywhere", "pointwise") for level in (0.5, 0.8, 0.9)]
    for kind in ("everywhere", "pointwise"):
        shares = [one.actual for one in study.coverages if one.kind == kind]
        assert shares == sorted(shares)
    assert all(0.0 <= one.error_bar < 0.1 and one.half_width > 0.0 for one in study.coverages)


def test_estimated_errors_are_compared_with_actual_ones(study):
    assert study.estimated.shape == study.actual.shape == (3, 25)
    assert -1.0 <= study.rank_correlation <= 1.0
    assert study.to_dict()["mean_error"] == np.mean(study.actual)


def test_no_level_or_no_split_is_refused():
    with pytest.raises(ValueError, match="a level that 15 training samples support"):
        calibration(waves(20), KERNEL, num_train=15, levels=(0.99,))
