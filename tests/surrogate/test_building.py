import pytest

from gola.operators import Gola, GolaConfig
from gola.surrogate.building import built_operator

SMALL = Gola(GolaConfig(width=8, num_modes=4, num_heads=1))


def test_an_operator_is_built_from_its_settings_and_tensors():
    built = built_operator("gola", SMALL.config.to_dict(), SMALL.state_dict())
    assert built.config == SMALL.config


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 8192}, r"ask for .* of shape .*8192"),
        ({"num_blocks": 1_000_000}, "more than the .* tensors that there can be"),
        ({"width": "wide"}, "width must be like its default"),
        ({"radius": float("nan")}, "radius must be like its default"),
        ({"width": True}, "width must be like its default"),
        ({"colour": 1}, "no setting of GolaConfig 'colour'"),
    ],
)
def test_settings_that_do_not_fit_the_tensors_are_refused_before_anything_is_made(changes, message):
    with pytest.raises(ValueError, match=message):
        built_operator("gola", {**SMALL.config.to_dict(), **changes}, SMALL.state_dict())


def test_tensors_of_another_operator_are_refused():
    with pytest.raises(ValueError, match="its tensors are not those of linear"):
        built_operator("linear", {}, SMALL.state_dict())
