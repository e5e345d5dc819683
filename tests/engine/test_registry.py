"""One registry: folder scan, entry points, files; nothing imported until asked; broken plug-ins."""

import subprocess
import sys
from types import ModuleType

import pytest

from ctxbudget.errors import ConfigError, UnknownName
from ctxbudget.registry import Listed, Registry


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A package with two modules, one of which does not import, and a folder as a third."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "_hidden.py").write_text("raise RuntimeError")
    (folder / "good_one.py").write_text('"""The good one."""\nimport shelf_was_imported\n')
    (folder / "deep").mkdir()
    (folder / "deep" / "__init__.py").write_text('"""A folder."""\n')
    (tmp_path / "shelf_was_imported.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield Registry("thing", "shelf")
    for name in [name for name in sys.modules if name.startswith("shelf")]:
        del sys.modules[name]


class Point:
    """An entry point."""

    def __init__(self, name, value, thing=None, error=None):
        self.name, self.value, self.thing, self.error = name, value, thing, error

    def load(self):
        if self.error:
            raise self.error
        return self.thing


def plug(monkeypatch, *points):
    monkeypatch.setattr("ctxbudget.registry.entry_points", lambda group: list(points) if group == "shelf" else [])


def test_names_come_from_files_and_nothing_is_imported(shelf):
    assert shelf.names() == ("deep", "good-one")
    assert "shelf_was_imported" not in sys.modules
    assert isinstance(shelf.get("good-one"), ModuleType)
    assert shelf.describe("good-one") == "The good one."


def test_an_unknown_name_suggests_the_nearest(shelf):
    with pytest.raises(UnknownName) as caught:
        shelf.get("good-on")
    assert (caught.value.message, caught.value.hint) == ("unknown thing 'good-on'", "did you mean 'good-one'?")


def test_entry_points_join_in_and_never_hide_ours(shelf, monkeypatch):
    other = ModuleType("other", "From elsewhere.")
    plug(monkeypatch, Point("extra", "other", other), Point("good-one", "other", other))
    assert shelf.names() == ("deep", "extra", "good-one")
    assert shelf.get("extra") is other
    assert shelf.get("good-one") is not other


def test_a_broken_plug_in_is_skipped_in_listings_and_an_error_when_named(shelf, monkeypatch):
    plug(monkeypatch, Point("broken", "nowhere", error=ImportError("no module named nowhere")))
    assert Listed("broken", "", "thing 'broken' does not load: ImportError: no module named nowhere") in shelf.listing()
    good, warnings = shelf.working()
    assert set(good) == {"deep", "good-one"}
    assert [one.code for one in warnings] == ["broken-plugin"]
    with pytest.raises(ConfigError, match="does not load"):
        shelf.get("broken")


def test_files_and_dotted_paths_only_where_allowed(shelf, tmp_path):
    path = tmp_path / "my_thing.py"
    path.write_text('"""Mine."""\n')
    assert shelf.get(str(path), anywhere=True).__doc__ == "Mine."
    assert shelf.get("shelf.good_one", anywhere=True).__doc__ == "The good one."
    for name in (str(path), "shelf.good_one"):
        with pytest.raises(UnknownName):
            shelf.get(name)
    with pytest.raises(ConfigError, match="no such file"):
        shelf.get(str(tmp_path / "none.py"), anywhere=True)
    path.write_text("1 / 0\n")
    with pytest.raises(ConfigError, match="ZeroDivisionError"):
        shelf.get(str(path), anywhere=True)


def test_listing_names_imports_no_pass():
    code = "import sys; from ctxbudget.passes import PASSES; PASSES.names(); print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not [name for name in done.stdout.split() if name.startswith("ctxbudget.passes.")]
