"""The code of our modules, kept in one entry, is what Python would load, and only while no source has changed."""

import inspect
import os
import subprocess
import sys
import traceback
import zipfile
from importlib import import_module, invalidate_caches
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import spec_from_loader
from pathlib import Path
from zipimport import zipimporter

import pytest

from validator import loading, resources
from validator.cli import shelf
from validator.protocol import keep

CAPTURE = str(resources.fixtures() / "agent-runtime" / "0.3" / "golden" / "hooks.ndjson")
LOADERS = (
    "import sys, atexit; atexit.register(lambda: print({name: type(module.__spec__.loader).__name__ for name, module"
    " in sys.modules.items() if name.startswith('validator.')}, file=sys.stderr)); "
)
SOURCE = 'WORD = "one"\n\n\ndef fail():\n    raise ValueError(WORD)\n'


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A package of two modules that is ours for a while."""
    folder = tmp_path / "places" / "borrowed"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "inner" / "__init__.py").write_text("from borrowed.plain import WORD\n")
    (folder / "plain.py").write_text(SOURCE)
    monkeypatch.setattr(shelf, "_PACKAGE", "borrowed.")
    monkeypatch.setattr(sys, "path", [str(folder.parent), *sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    yield folder
    forget()


def forget():
    invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] == "borrowed"]:
        del sys.modules[name]


@pytest.fixture
def again(home, tmp_path):
    """Loads a module as a new process would, and says how."""

    def load(name="borrowed.plain", folder=tmp_path / "cache"):
        forget()
        found = shelf.Shelf(keep.Keep(str(folder), "key"))
        sys.meta_path.insert(sys.meta_path.index(PathFinder), found)
        try:
            module = import_module(name)
            shelf.flush()
        finally:
            sys.meta_path.remove(found)
        return module, type(module.__spec__.loader)

    return load


def told(module):
    spec = module.__spec__
    places = (module.__file__, module.__cached__, module.__package__, getattr(module, "__path__", None))
    return (*places, spec.name, spec.origin, spec.cached, spec.has_location, spec.submodule_search_locations)


@pytest.mark.parametrize("name", ["borrowed.plain", "borrowed.inner"])
def test_what_is_held_is_loaded_to_the_same_effect(again, name):
    usual, word = told(import_module(name)), import_module(name).WORD
    assert again(name)[1] is shelf._New
    module, loader = again(name)
    assert loader is shelf._Held
    assert told(module) == usual
    assert word == module.WORD


def loader_of(name):
    return type(sys.modules[name].__spec__.loader)


def test_what_a_module_imports_is_loaded_before_it(again, home):
    looks = "import sys\n\nBEFORE = 'borrowed.inner' in sys.modules\n"
    (home / "user.py").write_text(f"{looks}from borrowed.inner import WORD\n")
    assert not again("borrowed.user")[0].BEFORE
    usual = {name: told(sys.modules[name]) for name in ("borrowed.plain", "borrowed.inner")}
    module, _ = again("borrowed.user")
    assert (module.BEFORE, module.WORD) == (True, "one")
    assert {name: told(sys.modules[name]) for name in usual} == usual
    assert [loader_of(name) for name in usual] == [shelf._Held, shelf._Held]
    assert sys.modules["borrowed"].inner is sys.modules["borrowed.inner"]


def test_what_a_module_of_a_package_imports_of_it_is_left_to_the_package(again, home):
    (home / "inner" / "__init__.py").write_text("WORD = 'early'\nfrom borrowed.inner.part import LATE\n")
    (home / "inner" / "part.py").write_text("from borrowed.inner import WORD\nLATE = WORD\n")
    for _ in range(2):
        assert again("borrowed.inner")[0].LATE == "early"
    assert loader_of("borrowed.inner.part") is shelf._Held


def test_what_is_imported_no_longer_as_it_was_is_imported_as_ever(again, home):
    again("borrowed.inner")
    (home / "plain.py").write_text(SOURCE.replace("one", "three"))
    assert again("borrowed.inner")[0].WORD == "three"
    assert loader_of("borrowed.plain") is shelf._New


def test_a_module_that_fails_is_not_there(again, home, monkeypatch):
    (home / "plain.py").write_text("import os\n\nWORD = os.environ['BORROWED']\n")
    monkeypatch.setenv("BORROWED", "1")
    again("borrowed.inner")
    monkeypatch.delenv("BORROWED")
    with pytest.raises(KeyError, match="BORROWED"):
        again("borrowed.inner")
    assert not {"borrowed.inner", "borrowed.plain"} & sys.modules.keys()


class Elsewhere:
    """A finder that knows a module of ours."""

    @staticmethod
    def find_spec(name, _path, _target=None):
        if name != "borrowed.plain":
            return None
        return spec_from_loader(name, Spoken())


class Spoken:
    @staticmethod
    def create_module(_spec):
        return None

    @staticmethod
    def exec_module(module):
        module.WORD = "spoken"


def test_who_stands_before_the_shelf_is_asked_first(again):
    again("borrowed.inner")
    sys.meta_path.insert(0, Elsewhere)
    assert again("borrowed.inner")[0].WORD == "spoken"


def test_by_name_a_module_is_loaded_from_the_shelf_or_as_ever(again, home, tmp_path):
    (home / "third.py").write_text("")
    again()
    forget()
    found = shelf.Shelf(keep.Keep(str(tmp_path / "cache"), "key"))
    sys.meta_path.insert(sys.meta_path.index(PathFinder), found)
    import_module("borrowed")
    module = found.load("borrowed.plain")
    assert (module.WORD, loader_of("borrowed.plain")) == ("one", shelf._Held)
    assert found.load("borrowed.plain") is module
    assert type(found.load("borrowed.third").__spec__.loader) is shelf._New
    for name in ("borrowed.none", "borrowed.plain.none"):
        with pytest.raises(ModuleNotFoundError):
            found.load(name)


def test_the_code_of_a_written_source_is_held(tmp_path):
    def begun():
        return shelf.Shelf(keep.Keep(str(tmp_path), "key"))

    first, plain = begun(), loading.compiled("WORD = 1\n")
    assert first.compiled("WORD = 1\n") == plain
    first.flush()
    second = begun()
    assert second.compiled("WORD = 1\n") == plain
    assert second.compiled("WORD = 2\n") == loading.compiled("WORD = 2\n")
    assert second._written.keys() == {"WORD = 2\n"}
    second.flush()
    third = begun()
    assert [third.compiled(f"WORD = {number}\n").co_consts[0] for number in (1, 2)] == [1, 2]
    assert not third._written


def test_a_traceback_and_a_source_are_those_of_the_file(again, home):
    again()
    module, loader = again()
    assert loader is shelf._Held
    with pytest.raises(ValueError, match="one") as raised:
        module.fail()
    frame = traceback.extract_tb(raised.tb)[-1]
    assert (frame.filename, frame.lineno, frame.line) == (str(home / "plain.py"), 5, "raise ValueError(WORD)")
    assert inspect.getsource(module.fail) == SOURCE.partition("\n\n\n")[2]


def test_a_source_of_another_time_is_read_anew(again, home):
    again()
    path, status = home / "plain.py", (home / "plain.py").stat()
    path.write_text(SOURCE.replace("one", "two"))  # of the same size
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 2_000_000_000))
    module, loader = again()
    assert (module.WORD, loader) == ("two", shelf._New)
    assert again()[1] is shelf._Held
    assert again()[0].WORD == "two"


def test_a_source_of_another_size_is_read_anew(again, home):
    again()
    path, status = home / "plain.py", (home / "plain.py").stat()
    path.write_text(SOURCE.replace("one", "three"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert again()[0].WORD == "three"


def test_a_module_that_is_gone_is_not_found(again, home):
    again()
    (home / "plain.py").unlink()
    with pytest.raises(ModuleNotFoundError):
        again()


def test_a_package_in_another_place_is_not_answered_from_here(again, home, tmp_path):
    again()
    other = tmp_path / "elsewhere"
    other.mkdir()
    home.rename(other / "borrowed")
    sys.path[0] = str(other)
    module, loader = again()
    assert (module.__file__, loader) == (str(other / "borrowed" / "plain.py"), shelf._New)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(b""),
        lambda path: path.chmod(0o666),
        lambda path: path.parent.chmod(0o777),
    ],
)
def test_what_cannot_be_trusted_is_not_loaded(again, tmp_path, spoil):
    again()
    spoil(next((tmp_path / "cache").iterdir()))
    module, loader = again()
    assert (module.WORD, loader) == ("one", shelf._New)


def test_where_nothing_can_be_written_all_is_loaded_as_ever(again, tmp_path):
    (tmp_path / "file").write_text("no folder")
    for _ in range(2):
        assert again(folder=tmp_path / "file" / "below")[1] is shelf._New


def test_the_place_of_what_has_changed_is_used_again(again, home, tmp_path):
    for size in range(5):
        (home / "plain.py").write_text(f"{SOURCE}#{'.' * size}\n")
        assert [again()[1], again()[1]] == [shelf._New, shelf._Held]
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == [
        "key-modules",
        "key-modules-0",
        "key-modules-1",
    ]


def test_a_shelf_of_many_pieces_is_begun_anew(again, home, monkeypatch):
    monkeypatch.setattr(shelf, "_MOST", 2)
    (home / "third.py").write_text("")
    again(), again("borrowed.inner")
    assert [again(name)[1] for name in ("borrowed.plain", "borrowed.inner")] == [shelf._Held, shelf._Held]
    assert [again("borrowed.third")[1], again("borrowed.third")[1], again()[1]] == [shelf._New, shelf._Held, shelf._New]


def test_a_piece_that_another_process_wrote_is_not_taken_for_ours(again, tmp_path):
    again()
    kept = keep.Keep(str(tmp_path / "cache"), "key")
    told = {name: ((0, 0), *rest) for name, (_, *rest) in kept.get("modules-0").items()}
    kept.put("modules-0", lambda: told)
    kept.flush()
    assert again()[1] is shelf._New


def test_what_is_read_from_an_archive_is_left_to_its_finder(again, home, tmp_path):
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in home.rglob("*.py"):
            file.write(path, path.relative_to(home.parent))
    sys.path[0] = str(archive)
    for _ in range(2):
        module, loader = again()
        assert (module.WORD, loader) == ("one", zipimporter)


def test_other_modules_are_left_to_others():
    found = shelf.Shelf(keep.NOTHING)
    assert found.find_spec("validator", None) is None
    assert found.find_spec("json.decoder", ["anywhere"]) is None
    assert found.find_spec("validator.nothing", [str(Path(shelf.__file__).parents[1])]) is None
    spec = found.find_spec("validator.session", [str(Path(shelf.__file__).parents[1])])
    assert isinstance(spec.loader, SourceFileLoader)


def test_nothing_is_installed_where_nothing_may_be_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(loading, "load", import_module)
    monkeypatch.setattr(loading, "compiled", loading.compiled)
    before = [*sys.meta_path]
    monkeypatch.setenv(keep.VARIABLE, "off")
    shelf.install()
    assert (sys.meta_path, loading.load) == (before, import_module)
    monkeypatch.setenv(keep.VARIABLE, str(tmp_path))
    shelf.install()
    (found,) = [finder for finder in sys.meta_path if finder not in before]
    assert type(found) is shelf.Shelf
    assert loading.load == found.load


def judge(folder, *flags):
    environment = {**os.environ, keep.VARIABLE: str(folder), "PYTHONPATH": str(resources.root())}
    command = [sys.executable, *flags, "-c", f"{LOADERS} from validator.cli import main; main()", CAPTURE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.stdout, done.returncode, set(eval(done.stderr).values()), eval(done.stderr)


def test_a_second_command_loads_from_the_shelf_and_says_the_same(tmp_path):
    plain, first, second = judge("off"), judge(tmp_path), judge(tmp_path)
    assert plain[:2] == first[:2] == second[:2]
    assert (plain[2], first[2]) == ({"SourceFileLoader"}, {"SourceFileLoader", "_New"})
    assert second[2] == {"SourceFileLoader", "_Held"}
    assert second[3]["validator.session"] == "_Held"
    assert judge(tmp_path, "-O")[2] == {"SourceFileLoader", "_New"}
