"""What is kept of the contract changes how long a run takes, and nothing else; what cannot be trusted is not read."""

import marshal
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from validator import resources
from validator.protocol import clauses, keep, protocol, schemas
from validator.protocol.fastpath import restore
from validator.protocol.fastpath.compiler import Compiler
from validator.protocol.protocol import load_protocol
from validator.protocol.schemas import SchemaStore
from validator.redact import names

CAPTURE = resources.fixtures() / "agent-runtime" / "0.3" / "golden" / "hooks.ndjson"
LOOK = "import sys; from validator.cli import main; main()"
TRACED = "import sys, atexit; atexit.register(lambda: print('yaml' in sys.modules, file=sys.stderr)); " + LOOK


def run(folder, capture=CAPTURE, code=LOOK):
    """Judges a capture in a process of its own."""
    environment = {**os.environ, keep.VARIABLE: str(folder), "PYTHONPATH": str(resources.root())}
    command = [sys.executable, "-c", code, "--format", "json", str(capture)]
    return subprocess.run(command, env=environment, capture_output=True, check=False)


@pytest.fixture(scope="module")
def expected():
    return run("off").stdout


@pytest.fixture(scope="module")
def warm(tmp_path_factory, expected):
    """A folder that one run has filled."""
    folder = tmp_path_factory.mktemp("cache") / "inner"
    assert run(folder).stdout == expected != b""
    assert len(list(folder.iterdir())) >= 4
    return folder


def test_a_second_run_says_the_same_and_reads_no_yaml(warm, expected):
    before = {path: path.stat().st_mtime_ns for path in warm.iterdir()}
    done = run(warm, code=TRACED)
    assert (done.stdout, done.stderr.strip()) == (expected, b"False")
    assert {path: path.stat().st_mtime_ns for path in warm.iterdir()} == before
    assert run("off", code=TRACED).stderr.strip() == b"True"


def test_a_finding_says_the_same_from_what_is_kept(warm, tmp_path):
    bad = tmp_path / "bad.ndjson"
    text = CAPTURE.read_text().replace('"turn.started"', '"turn.completed"')
    bad.write_text(text.replace('"sequence":3', '"sequence":"x"'))
    cold, kept = run("off", bad), run(warm, bad)
    assert cold.returncode == kept.returncode == 1
    assert cold.stdout == kept.stdout


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content[: len(content) // 2],
        lambda content: b"",
        lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
        lambda content: b"another program's file",
        lambda content: content.replace(b"contract 3", b"contract 2"),
    ],
)
def test_a_spoiled_entry_is_passed_over_and_written_again(warm, expected, spoil):
    # A piece of the shelf is written again only where its modules are asked for (`test_shelf.py`).
    sound = {path: path.read_bytes() for path in warm.iterdir() if "modules" not in path.name}
    for path, content in sound.items():
        path.write_bytes(spoil(content))
    assert run(warm).stdout == expected
    assert not [path for path in warm.iterdir() if path not in sound and "schemas" in path.name]
    clauses = next(path for path in sound if path.name.endswith("-clauses"))  # entries of commands have other keys
    assert keep.Keep(str(warm), clauses.name.partition("-")[0]).get("clauses")
    assert run(warm).stdout == expected


class Unmappable:
    """Stands for the module where a system maps no files."""

    ACCESS_READ = 0

    @staticmethod
    def mmap(*_args, **_options):
        raise OSError


@pytest.mark.parametrize("module", [mmap, Unmappable, None])
def test_a_large_entry_is_mapped_or_read_to_the_same_effect(tmp_path, monkeypatch, module):
    monkeypatch.setattr(keep, "_LARGE", 64)
    monkeypatch.setitem(sys.modules, "mmap", module)
    found, words = keep.Keep(str(tmp_path), "key"), ["word"] * 100
    found.put("words", lambda: words)
    found.flush()
    assert keep.Keep(str(tmp_path), "key").get("words") == words
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    assert keep.Keep(str(tmp_path), "key").get("words") is None


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path, expected):
    (tmp_path / "file").write_text("no folder")
    assert run(tmp_path / "file" / "below").stdout == expected


_ONCE = (keep.shipped, schemas._store, protocol._load, protocol.outline, clauses._clauses)


def load():
    """What a process makes of the contract, begun anew."""
    for remembered in _ONCE:
        remembered.cache_clear()
    found = load_protocol("agenthub")
    event = {"type": "run.created", "run_id": 3}
    errors = found.store.errors(found.schema_for("run.created"), event)
    rows = [(row.id, row.clause) for row in found.rows()]
    listed = clauses.load_clauses(resources.spec().resolve())
    keep.shipped().flush()
    return errors, rows, listed, protocol.outline("agenthub/1"), found.store.kept


def test_what_is_kept_is_what_was_read(tmp_path, monkeypatch):
    monkeypatch.setenv(keep.VARIABLE, str(tmp_path))
    first, second = load(), load()
    assert first[:4] == second[:4]
    assert first[0]
    assert second[4].get("definitions")
    assert any(value for name, value in second[4]._known.items() if name.startswith("acceptors/agenthub"))
    assert not second[4]._changed
    monkeypatch.undo()
    assert load()[4] is keep.NOTHING


def test_of_names_only_those_of_the_contract_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv(keep.VARIABLE, str(tmp_path))
    load()
    names._vocabulary.cache_clear()
    first = names.vocabulary(load_protocol("agenthub"))
    first.kinds("sesame_path")
    keep.shipped().flush()
    load()
    second = names.vocabulary(load_protocol("agenthub"))
    assert second is not first
    assert second._kinds.keys() > {"honest", "affectedFiles"}
    assert "sesame_path" not in second._kinds
    assert all(set(first._find(name)) == kinds for name, kinds in second._kinds.items())
    monkeypatch.undo()
    load()


def test_an_entry_that_cannot_be_written_is_left(tmp_path):
    (tmp_path / "file").write_text("no folder")
    found = keep.Keep(str(tmp_path / "file"), "key")
    found.put("words", lambda: 1)
    found.flush()
    assert found.get("words") is found.get("words") is None


@pytest.fixture
def entries(tmp_path):
    found = keep.Keep(str(tmp_path / "cache"), "key")
    found.put("words", lambda: {"a": ["b"]})
    found.flush()
    return found


def again(entries):
    return keep.Keep(entries._folder, entries._key)


@pytest.fixture
def packed(entries):
    """The same entries as they come with a package: whoever owns them."""
    Path(entries._folder).chmod(0o777)
    return entries._folder


def test_an_entry_is_written_whole_and_read_back(entries):
    assert again(entries).get("words") == {"a": ["b"]}
    assert again(entries).get("others") is None
    assert [path.name for path in Path(entries._folder).iterdir()] == ["key-words"]
    assert keep.Keep(entries._folder, "another").get("words") is None


def test_what_came_with_the_package_is_read_whoever_installed_it(packed, tmp_path):
    assert keep.Keep(packed, "key").get("words") is None
    assert keep.Keep(str(tmp_path / "own"), "key", packed=packed).get("words") == {"a": ["b"]}
    assert keep.Keep(str(tmp_path / "own"), "another", packed=packed).get("words") is None


def test_an_entry_of_the_own_folder_goes_before_one_of_the_package(packed, tmp_path):
    found = keep.Keep(str(tmp_path / "own"), "key", packed=packed)
    found.put("words", lambda: ["newer"])
    found.flush()
    assert again(found).get("words") == keep.Keep(found._folder, "key", packed=packed).get("words") == ["newer"]


def test_a_spoiled_entry_of_the_package_is_passed_over(packed, tmp_path):
    (entry,) = Path(packed).iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    assert keep.Keep(str(tmp_path / "own"), "key", packed=packed).get("words") is None


def test_without_a_folder_only_what_came_with_the_package_is_read(packed):
    before = [path.name for path in Path(packed).iterdir()]
    found = keep.Keep(None, "key", packed=packed)
    found.put("others", lambda: 1)
    found.flush()
    assert (found.get("words"), found.get("others")) == ({"a": ["b"]}, None)
    assert [path.name for path in Path(packed).iterdir()] == before


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners and modes are those of POSIX")
def test_what_others_may_write_is_not_read(entries, monkeypatch):
    path = Path(entries._path(entries._folder, "words"))
    path.chmod(0o622)
    assert again(entries).get("words") is None
    path.chmod(0o600)
    Path(entries._folder).chmod(0o777)
    assert again(entries).get("words") is None
    Path(entries._folder).chmod(0o700)
    assert again(entries).get("words")
    monkeypatch.setattr(os, "getuid", lambda: path.stat().st_uid + 1)
    assert (again(entries).get("words") is None) is (path.stat().st_uid != 0)


def test_where_there_are_no_owners_nobody_is_asked_for(entries, monkeypatch):
    monkeypatch.delattr(os, "getuid", raising=False)
    assert again(entries).get("words")


def test_nothing_is_kept_of_files_that_changed_while_they_were_read(tmp_path):
    found = keep.Keep(str(tmp_path), "key", lambda: "another")
    found.put("words", lambda: 1)
    found.flush()
    assert not list(tmp_path.iterdir())


def test_nothing_is_unpacked_before_its_digest_is_right(entries, monkeypatch):
    path = Path(entries._path(entries._folder, "words"))
    path.write_bytes(path.read_bytes() + b"more")
    monkeypatch.setattr(marshal, "loads", lambda payload: pytest.fail("unpacked"))
    assert again(entries).get("words") is None


def test_the_key_answers_for_every_file_and_for_the_interpreter(contract, monkeypatch):
    monkeypatch.setattr(resources, "home", lambda: str(contract))
    (contract / "schemas" / "notes.txt").write_text("no part of the contract")
    keys = {keep._key()}
    chapter = next((contract / "spec" / "agenthub").rglob("*.md"))
    for path in (contract / "schemas" / "agenthub" / "1" / "protocol.yaml", chapter):
        text = path.read_text()
        moment = path.stat().st_mtime_ns
        path.write_text(text.replace("e", "a", 1))
        os.utime(path, ns=(moment, moment))  # same size, same time, other content
        keys.add(keep._key())
        path.write_text(text)
    assert keep._key() in keys
    monkeypatch.setattr(keep, "_INTERPRETER", (*keep._INTERPRETER, "another"))
    assert len(keys | {keep._key()}) == 4


def test_an_interpreter_is_told_by_the_code_that_it_takes():
    assert {sys.implementation.cache_tag, keep.MAGIC_NUMBER.hex(), marshal.version} < set(keep._INTERPRETER)
    told = (
        "import re, sys; sys.modules['_sre'] = None; from validator.protocol import keep; print(keep._INTERPRETER[2])"
    )
    environment = {**os.environ, "PYTHONPATH": str(resources.root())}
    done = subprocess.run([sys.executable, "-c", told], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == sys.version.strip()


def test_only_the_shipped_contract_is_kept(contract, monkeypatch):
    monkeypatch.setenv(keep.VARIABLE, str(contract / "cache"))
    store = SchemaStore(contract / "schemas")
    assert store.kept is keep.NOTHING
    load_protocol("agenthub", contract / "schemas")
    store.kept.flush()
    assert not (contract / "cache").exists()


@pytest.mark.parametrize(
    ("named", "base", "folder"),
    [("/y", "/x", "/y"), ("", "/x", "/x/runtime-validate"), ("", "relative", None)],
)
def test_where_the_folder_lies(monkeypatch, named, base, folder):
    monkeypatch.setenv(keep.VARIABLE, named)
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    assert keep._folder() == folder


def test_restored_acceptors_decide_as_compiled_ones(core):
    names = [core.events[name] for name in ("turn.started", "tool.started", "model.delta")]
    kept = marshal.loads(marshal.dumps(Compiler(core.store._by_path).written(names)))
    line = {"type": "turn.started", "event_id": "e", "timestamp": "2026-05-08T09:00:01Z", "sequence": 1}
    line |= {"session_id": "s", "thread_id": "t", "turn_id": "u"}
    documents = [line, {**line, "turn_id": None}, {**line, "timestamp": "2026-02-30T09:00:01Z"}, {}, 3]
    for name, accept in restore(kept).items():
        compiled = Compiler(core.store._by_path).accept(name)
        assert [*map(bool, map(accept, documents))] == [*map(bool, map(compiled, documents))]
    assert any(restore(kept)[names[0]](document) for document in documents)
