import ast

import pytest

from gola.data.dataset import Dataset
from gola.runs import code_version, fingerprint_of
from gola.runs.fingerprints import _ENTRY, _deciding_modules, _essence, _imported_modules

CODE = '''
"""What it is."""

def double(number):
    """Return twice the number."""
    return 2 * number  # quick
'''


def test_the_code_version_covers_what_decides_numbers_and_nothing_else():
    modules = set(_imported_modules(_ENTRY))
    decide = {
        "gola.metrics",
        "gola.surrogate.fit",
        "gola.operators.gola.gola",
        "gola.fitting.training.loop",
        "gola.runs.config",
    }
    assert decide <= modules
    assert not [
        name for name in modules if name.startswith(("gola.cli", "gola.plotting", "gola.problems", "gola.data.formats"))
    ]
    assert len(code_version()) == 8


def test_work_on_closed_forms_leaves_the_version_of_networks_alone_and_the_other_way_round():
    network, closed_form = set(_deciding_modules("gola/paper")), set(_deciding_modules("linear"))
    assert {"gola.operators.gola.gola", "gola.fitting.training.loop", "gola.graph.fused.statistics"} <= network
    assert not [name for name in network if name.startswith(("gola.operators.linear", "gola.representation"))]
    assert {"gola.operators.linear.linear", "gola.representation.smoothness"} <= closed_form
    assert not [name for name in closed_form if name.startswith(("gola.operators.gola", "gola.fitting"))]
    assert code_version("gola") == code_version("gola/paper") != code_version("linear")


def test_an_automatic_choice_and_unknown_operators_have_the_version_of_all_code():
    assert code_version("auto") == code_version("not there") == code_version()


def test_comments_docstrings_and_layout_do_not_change_the_version_and_code_does():
    essence = _essence(ast.parse(CODE))
    assert _essence(ast.parse("def double(number):\n\n    return (2 *\n number)")) == essence
    assert _essence(ast.parse(CODE.replace("2 *", "3 *"))) != essence


def test_the_fingerprint_of_a_file_follows_its_content(data, tmp_path):
    copy = tmp_path / "data.h5"
    Dataset.load(data).save(copy, compress=True)
    assert fingerprint_of(copy) == fingerprint_of(data)
    Dataset.load(data).select([0, 1]).save(copy)
    assert fingerprint_of(copy) == Dataset.load(copy).fingerprint() != fingerprint_of(data)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"missing\.h5 is not a file"):
        fingerprint_of(tmp_path / "missing.h5")
