import math
import sys

import pytest

from gola.extras import require


def test_a_module_that_is_installed_comes_as_it_is():
    assert require("math", extra="mesh", what="Counting") is math


@pytest.mark.parametrize(("module", "package"), [("meshio", "meshio"), ("skfem.helpers", "scikit-fem")])
def test_a_missing_package_is_named_with_the_extra_that_installs_it(module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    expected = (
        f"^Reading meshes needs {package}, which is not installed; install it with `pip install 'gola\\[mesh\\]'`.$"
    )
    with pytest.raises(ValueError, match=expected):
        require(module, extra="mesh", what="Reading meshes")


def test_a_package_that_lacks_something_itself_says_so(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import no_such_dependency")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
        require("broken_package", extra="mesh", what="Reading meshes")
