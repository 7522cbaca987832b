import pytest

from gola.cli.values import assignments, choices, counts, names, written

DEFAULTS = {"members": ("linear",), "width": 64}


def test_values_are_numbers_text_and_booleans():
    texts = ["width=32,64", "radius=0.1", "learning_rate=1e-3,3e-3", "norm=layer,none", "residual=true,false"]
    assert choices(texts, DEFAULTS) == {
        "width": [32, 64],
        "radius": [0.1],
        "learning_rate": [1e-3, 3e-3],
        "norm": ["layer", "none"],
        "residual": [True, False],
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("members=kernel", ("kernel",)),
        ("members=linear,kernel", ("linear", "kernel")),
        ('members=["linear", "kernel"]', ("linear", "kernel")),
        ("members=[]", ()),
        ("width=32", 32),
        ("width=null", None),
    ],
)
def test_a_setting_whose_default_is_a_tuple_is_a_list_with_commas_or_json(text, value):
    (found,) = assignments([text], DEFAULTS).values()
    assert found == value


@pytest.mark.parametrize("value", [("linear", "kernel"), ("linear",), (), 3, 0.25, True, None, "layer"])
def test_what_is_written_is_read_back(value):
    defaults = {"setting": ()} if isinstance(value, tuple) else {}
    assert assignments([f"setting={written(value)}"], defaults) == {"setting": value}


@pytest.mark.parametrize("text", ["width", "=3", "width=", " = "])
def test_what_is_no_assignment_is_refused(text):
    with pytest.raises(ValueError, match="--set needs NAME=VALUE"):
        assignments([text], DEFAULTS)


def test_lists_that_are_empty_or_no_numbers_are_refused():
    with pytest.raises(ValueError, match="--operators needs at least one name; got ' , '"):
        names(" , ", "--operators")
    for text in ("ten", "0", ""):
        with pytest.raises(ValueError, match="whole numbers above 0"):
            counts(text, "--num-points")
