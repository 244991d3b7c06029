"""Words that only name captures are judged without what reads options, and to the same effect."""

import os
import subprocess
import sys

import pytest

from validator import resources
from validator.capture import native
from validator.cli import entry

CAPTURE = str(resources.fixtures() / "agent-runtime" / "0.3" / "golden" / "hooks.ndjson")
LOADED = (
    "import sys, atexit; atexit.register(lambda: print(sorted({'click', 'orjson'} & sys.modules.keys()),"
    " file=sys.stderr)); from validator.cli import main; main()"
)


def run(*words, **more):
    environment = {**os.environ, "PYTHONPATH": str(resources.root()), **more}
    return subprocess.run([sys.executable, "-c", LOADED, *words], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], ()),
        (["run.ndjson"], ("run.ndjson",)),
        (["check", "run.ndjson"], ("run.ndjson",)),
        (["check", "check"], ("check",)),
        (["check"], ()),
        (["one", "rules"], ("one", "rules")),
        (["rules", "one"], ()),
        (["one", "--profile", "strict"], ()),
        (["one", "-"], ()),
        (["-h"], ()),
    ],
)
def test_only_words_without_an_option_name_captures(words, found):
    assert entry.captures(words) == found


def test_a_shell_that_completes_is_answered_by_the_commands(monkeypatch):
    monkeypatch.setenv("_RUNTIME_VALIDATE_COMPLETE", "bash_complete")
    assert entry.captures(["run.ndjson"]) == ()


def test_a_short_capture_is_judged_without_the_libraries_and_as_with_them():
    plain, asked = run(CAPTURE), run(CAPTURE, "--color", "auto")
    assert (plain.stdout, plain.returncode) == (asked.stdout, asked.returncode)
    assert (plain.stderr.strip(), asked.stderr.strip()) == ("[]", "['click', 'orjson']")
    assert run(CAPTURE, RUNTIME_VALIDATE_FAST="on").stderr.strip() == "['orjson']"
    assert run("check", CAPTURE).stdout == plain.stdout


def test_many_captures_a_folder_or_a_compressed_one_are_not_short(tmp_path, monkeypatch):
    small, packed = tmp_path / "a.ndjson", tmp_path / "a.ndjson.gz"
    small.write_bytes(b"{}\n")
    packed.write_bytes(b"")
    assert entry._are_short((str(small), str(small)))
    for others in ((str(packed),), (str(tmp_path),), ("-",), (str(small), str(tmp_path / "none")), ("a\0b",)):
        assert not entry._are_short(others)
    monkeypatch.setattr(entry, "_SHORT", 6)
    assert entry._are_short((str(small),))
    assert not entry._are_short((str(small), str(small)))


def test_what_is_not_there_is_refused_in_one_message():
    done = run("there-is-none.ndjson")
    assert done.returncode == 2
    assert done.stderr.startswith("error: there is no file there-is-none.ndjson")


def test_a_library_that_is_loaded_is_not_spared(monkeypatch):
    monkeypatch.setattr(native, "_spared", False)
    assert native.load() is not None
    native.spare()
    assert native.load() is not None
    monkeypatch.delitem(sys.modules, "orjson")
    native.spare()
    assert native.load() is None
    monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "on")
    native.spare()
    assert native._spared is False


def test_an_interruption_leaves_with_its_own_code(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "_answer", interrupt)
    with pytest.raises(SystemExit) as left:
        entry.run()
    assert left.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"


SPARED = {
    "click",
    "datetime",
    "enum",
    "fnmatch",
    "importlib.metadata",
    "ipaddress",
    "json",
    "jsonschema",
    "orjson",
    "pathlib",
    "re",
    "referencing",
    "signal",
    "threading",
    "tomllib",
    "typing",
    "urllib.parse",
    "validator.apart",
    "validator.capture.guess",
    "validator.dividing",
    "validator.echo",
    "validator.joining",
    "validator.replay.readmodels.agent_threads",
    "validator.stopping",
    "validator.tomlfile",
    "yaml",
}
"""What a short capture of the core that is in order needs no part of, once the contract is kept."""
WATCHED = (
    "import sys, atexit; before = {*sys.modules};"
    " atexit.register(lambda: print(*(sys.modules.keys() - before), sep='\\n', file=sys.stderr));"
    " from validator.cli import main; main()"
)
"""What measures coverage, for one, loads modules before the command begins."""


def modules(capture, folder):
    """What is loaded for a capture when the contract is kept."""
    environment = {**os.environ, "PYTHONPATH": str(resources.root()), "RUNTIME_VALIDATE_CACHE": str(folder / "cache")}
    for _ in range(2):
        command = [sys.executable, "-c", WATCHED, str(resources.fixtures() / capture)]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_a_short_capture_loads_what_it_needs(tmp_path):
    loaded = modules("agent-runtime/0.3/golden/happy-path.ndjson", tmp_path)
    assert "validator.rules.terminal.call_cut_off" in loaded
    assert not SPARED & loaded


@pytest.mark.parametrize(
    ("capture", "family"),
    [
        ("agenthub/1/golden/approval-rejected.ndjson", "agenthub"),
        ("agent-threads/1/golden/last-commit-wins.ndjson", "agent_threads"),
        ("runagents/1/golden/two-gates.ndjson", "runagents"),
    ],
)
def test_a_dialect_loads_its_own_rules_and_those_that_all_know(tmp_path, capture, family):
    loaded = modules(capture, tmp_path)
    assert any(name.startswith(f"validator.rules.{family}.") for name in loaded)
    assert "validator.rules.terminal.change_after_end" in loaded
    for name in ("terminal.call_cut_off", "snapshot.value_differs", "identity.wrong_root", "governance._work"):
        assert f"validator.rules.{name}" not in loaded
