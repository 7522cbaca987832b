import pytest

from gola.fitting.configs import config_for
from gola.registry import OPERATORS
from gola.surrogate.uncertainty.spread import error_covariance, expected_spreads, held_out_spreads
from tests.fits import small_data, task_of


@pytest.mark.parametrize(("name", "says"), [("kernel", True), ("mean", False)])
def test_only_operators_that_expect_errors_are_asked(name, says):
    data = small_data(num_samples=6)
    result = OPERATORS[name](config_for(data, name)).fit(task_of(data))
    asked = result.operator, result.scaling, list(data)
    assert result.operator.expects_errors is says
    assert (held_out_spreads(*asked) is not None) is says
    assert (error_covariance(*asked) is not None) is says
    assert all((one is not None) is says for one in expected_spreads(*asked))
