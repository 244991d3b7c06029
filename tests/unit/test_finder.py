"""Our own modules are found in one look, and they are the ones that the usual finder finds."""

import sys
from importlib.machinery import FileFinder, PathFinder
from pathlib import Path

import pytest

from validator import resources
from validator.cli import finder

PACKAGE = Path(finder.__file__).parents[1]


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    # Another test may have run a command of ours in this process.
    monkeypatch.setattr(sys, "path_hooks", [hook for hook in sys.path_hooks if hook is not finder._folder])
    monkeypatch.setattr(sys, "path_importer_cache", {**sys.path_importer_cache, str(PACKAGE): None})
    for _ in range(2):
        finder.install()
    assert sys.path_hooks.count(finder._folder) == 1
    assert not [path for path in sys.path_importer_cache if path.startswith(str(PACKAGE))]


@pytest.mark.parametrize("folder", [PACKAGE, PACKAGE / "rules", PACKAGE / "rules" / "terminal"])
def test_what_is_found_is_what_the_usual_finder_finds(folder):
    name = ".".join(folder.relative_to(PACKAGE.parent).parts)
    usual = FileFinder(str(folder), *finder._USUAL)
    for path in folder.iterdir():
        if path.suffix == ".py" or (path / "__init__.py").exists():
            own, other = (
                look(f"{name}.{path.stem}") for look in (finder._folder(str(folder)).find_spec, usual.find_spec)
            )
            assert (own.name, own.origin, own.cached) == (other.name, other.origin, other.cached)
            assert own.submodule_search_locations == other.submodule_search_locations
            assert own.has_location is other.has_location is True
            assert type(own.loader) is type(other.loader)
            assert own.loader.get_filename() == other.loader.get_filename()


def test_modules_below_the_package_are_found_so_and_no_others(tmp_path):
    assert PathFinder.find_spec("validator.session", [str(PACKAGE)]).origin == str(PACKAGE / "session.py")
    assert type(sys.path_importer_cache[str(PACKAGE)]) is finder.Folder
    (tmp_path / "other.py").write_text("")
    assert PathFinder.find_spec("other", [str(tmp_path)]).origin == str(tmp_path / "other.py")
    assert type(sys.path_importer_cache[str(tmp_path)]) is FileFinder
    assert PathFinder.find_spec("validator.nothing", [str(PACKAGE)]) is None
    assert PathFinder.find_spec("validator.nowhere.nothing", [str(PACKAGE / "nowhere")]) is None


@pytest.mark.parametrize("path", [f"{PACKAGE}s", str(resources.root()), str(PACKAGE / "session.py")])
def test_what_is_no_folder_of_ours_is_left_to_others(path):
    with pytest.raises(ImportError):
        finder._folder(path)


def test_a_module_that_comes_later_is_looked_for_as_usual(tmp_path, monkeypatch):
    monkeypatch.setattr(finder, "_HOME", str(tmp_path))
    found = finder._folder(str(tmp_path))
    (tmp_path / "late.py").write_text("")
    found.invalidate_caches()
    assert found.find_spec("late").origin == str(tmp_path / "late.py")
