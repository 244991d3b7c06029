"""The configuration file: who wins, what is refused, and suppressions that explain themselves."""

import json

import pytest

from tests.cli.support import BAD, GOOD, call, capture
from validator import config
from validator.errors import ConfigurationError
from validator.tomlfile import may_hold

SUPPRESS = '[[suppress]]\nrule = "STA001"\nreason = "the importer drops task.started"\n'


def written(folder, text, name="runtime-validate.toml"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def settings(folder, *words, **more):
    done = call("check", "--show-settings", *words, cwd=folder, **more)
    assert done.returncode == 0, done.stderr
    rows = [line.split("  ") for line in done.stdout.splitlines()]
    return {row[0]: [word.strip() for word in row[1:] if word.strip()] for row in rows}


def test_the_command_line_beats_the_file_and_the_file_the_default(tmp_path):
    written(tmp_path, 'fail-on = "should"\nprofile = "strict"\n')
    found = settings(tmp_path, "--profile", "default")
    assert found["profile"] == ["default", "command line"]
    assert found["fail-on"] == ["should", "runtime-validate.toml"]
    assert found["jobs"] == ["auto", "default"]
    assert settings(tmp_path, GITHUB_ACTIONS="true")["format"] == ["github", "GitHub Actions"]


def test_the_nearest_file_wins_and_our_own_name_beats_pyproject(tmp_path):
    written(tmp_path, '[tool.runtime-validate]\nfail-on = "may"\n', "pyproject.toml")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert settings(inner)["fail-on"] == ["may", "pyproject.toml"]
    written(tmp_path, 'fail-on = "should"\n')
    assert settings(inner)["fail-on"] == ["should", "runtime-validate.toml"]
    written(tmp_path, "[tool.other]\nx = 1\n", "a/pyproject.toml")
    assert settings(inner)["fail-on"] == ["should", "runtime-validate.toml"], "a file without our section is passed by"
    (tmp_path / "a" / ".git").mkdir()
    assert settings(inner)["fail-on"] == ["must", "default"], "the search ends at the repository"


@pytest.mark.parametrize(
    "text",
    [
        "[tool.runtime-validate]\njobs = 2\n",
        '  [ tool . "runtime-validate" ]\r\njobs = 2\n',
        "[\"tool\".'runtime-validate']\njobs = 2\n",
        '[[tool.runtime-validate.suppress]]\nrule = "STA001"\n',
        "[tool]\nx = 1\nruntime-validate = {jobs = 2}\n",
        "[tool]\nruntime-validate.jobs = 2\n",
        "tool.runtime-validate.jobs = 2\n",
        "tool = {x = [\n1], runtime-validate = {jobs = 2}}\n",
        '["t\\u006fol".runtime-validate]\njobs = 2\n',
        '[tool."runtime\\U0000002dvalidate"]\njobs = 2\n',
    ],
)
def test_our_section_is_found_however_it_is_written(tmp_path, text):
    assert config.find(tmp_path) is None
    path = written(tmp_path, text, "pyproject.toml")
    assert config.find(tmp_path) == path


def test_what_has_no_section_of_ours_is_not_parsed(tmp_path):
    text = '[project]\nname = "runtime-validate"\n[project.scripts]\nruntime-validate = "a:b"\n[tool.other]\nx = = 1\n'
    written(tmp_path, text, "pyproject.toml")
    (tmp_path / ".git").mkdir()
    assert config.find(tmp_path) is None
    path = written(tmp_path, text + "[tool.runtime-validate]\n", "pyproject.toml")
    with pytest.raises(ConfigurationError, match="Invalid value"):
        config.find(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf[tool.runtime-validate]\n")
    with pytest.raises(ConfigurationError, match="Invalid statement"):
        config.find(tmp_path)


def test_a_file_that_cannot_be_read_may_hold_anything(tmp_path):
    assert may_hold(tmp_path / "absent.toml", config.SECTION)


def test_rules_may_be_written_small_in_a_file_too(tmp_path):
    written(tmp_path, 'select = ["sta"]\n')
    assert settings(tmp_path)["select"] == ["STA", "runtime-validate.toml"]


def test_planted_values_are_not_repeated(tmp_path):
    written(tmp_path, 'canary = ["hush-hush"]\n')
    assert settings(tmp_path)["canary"] == ["1 given", "runtime-validate.toml"]


def test_paths_in_a_file_are_relative_to_it(tmp_path):
    written(tmp_path, 'out = ["json=report.json"]\n')
    capture(tmp_path, "a/x.ndjson", GOOD)
    assert call("x.ndjson", cwd=tmp_path / "a").returncode == 0
    assert json.loads((tmp_path / "report.json").read_text())["exit_code"] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('fail-on = "must"\nprofle = "x"\n', "line 2: unknown key 'profle'\n  hint: did you mean 'profile'?"),
        ('jobs = "four"\n', "line 1: jobs must be 'auto'"),
        ("jobs = 1.5\n", "line 1: jobs must be integer, is number"),
        ("\njobs = 0\n", "line 2: jobs breaks minimum 1"),
        ('fail-on = "never"\n', "line 1: fail-on must be one of must, should, may"),
        ('select = "STA"\n', "line 1: select must be array, is string"),
        ("jobs = = 2\n", "line 1, column 8: Invalid value"),
        ('a = "x\n', "line 1, column 7: Illegal character"),
        ('[[suppress]]\nrule = "STA001"\n', "line 1: suppress.0 lacks reason"),
        ('[[suppress]]\nrule = "STA001"\nreason = "flaky"\n', "line 3: suppress.0.reason must be a reason that"),
        ('[[suppress]]\nreason = "for all of them"\n', "line 1: suppress.0 must name a rule"),
        (SUPPRESS + "expires = 2026-02-31\n", "line 4, column 11: Invalid date"),
        (SUPPRESS + 'expires = "2026-02-31"\n', "line 1: 2026-02-31 is no day of the calendar"),
        (SUPPRESS + "\n" + SUPPRESS + 'until = "x"\n', "line 8: unknown key 'until' in suppress.1"),
        ('suppress = [\n  {rule = "STA001", reason = "long enough"},\n  {rule = "sta"},\n]\n', "line 3: suppress.1"),
    ],
)
def test_each_fault_is_told_with_file_and_line(text, message, tmp_path):
    with pytest.raises(ConfigurationError) as refused:
        config.load(written(tmp_path, text))
    assert f"runtime-validate.toml, {message}" in str(refused.value)


def test_lines_are_right_inside_pyproject_too(tmp_path):
    text = '[project]\nname = "x"\n\n[tool.runtime-validate]\nfail-on = "must"\njobs = true\n'
    with pytest.raises(ConfigurationError, match=r"pyproject.toml, line 6: jobs must be integer, is boolean"):
        config.load(written(tmp_path, text, "pyproject.toml"))


def test_a_suppressed_finding_does_not_count_and_is_still_told(tmp_path):
    written(tmp_path, SUPPRESS)
    capture(tmp_path, "x.ndjson", BAD)
    done = call("x.ndjson", "--format", "json", "--expect", "prefix", cwd=tmp_path)
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert [(entry["by"], entry["reason"]) for entry in told["accepted"]] == [
        ("suppression", "the importer drops task.started")
    ]
    outcomes = {entry["id"]: entry["outcome"] for entry in told["captures"][0]["requirements"]}
    assert outcomes["TASK-20"] == "suppressed"
    totals = told["captures"][0]["totals"]
    assert sum(totals.values()) == 2 * totals["requirements"]


def test_an_unused_suppression_is_a_finding_with_its_line(tmp_path):
    written(tmp_path, "# why\n" + SUPPRESS)
    capture(tmp_path, "x.ndjson", GOOD)
    done = call("x.ndjson", cwd=tmp_path)
    assert done.returncode == 1
    first = done.stdout.splitlines()[0]
    assert first == "fails: runtime-validate.toml:2: the suppression of STA001 fits no finding; remove it"


def test_an_expired_suppression_no_longer_helps_and_is_told(tmp_path):
    written(tmp_path, SUPPRESS + "expires = 2026-06-30\n")
    capture(tmp_path, "x.ndjson", BAD)
    words = ("x.ndjson", "--expect", "prefix", "--as-of")
    assert call(*words, "2026-06-30", cwd=tmp_path).returncode == 0
    late = call(*words, "2026-07-01", cwd=tmp_path)
    assert late.returncode == 1
    assert (
        "runtime-validate.toml:1: expired-suppression: the suppression of STA001 expired on 2026-06-30" in late.stdout
    )
    assert "MUST STA001" in late.stdout


def test_a_suppression_holds_where_its_path_says(tmp_path):
    written(tmp_path, SUPPRESS + 'path = "old/*.ndjson"\n')
    capture(tmp_path, "old/x.ndjson", BAD)
    capture(tmp_path, "new/x.ndjson", BAD)
    assert call("old", "--expect", "prefix", cwd=tmp_path).returncode == 0
    assert call("x.ndjson", "--expect", "prefix", cwd=tmp_path / "old").returncode == 0, "wherever it is called from"
    assert call("new", "--expect", "prefix", cwd=tmp_path).returncode == 1
    aside = call("new", "--ignore", "STA", "--expect", "prefix", cwd=tmp_path)
    assert "unused-suppression" not in aside.stdout, "a rule that was not asked proves nothing"


def test_a_day_that_is_none_is_refused(tmp_path):
    capture(tmp_path, "x.ndjson", GOOD)
    assert "write it as YYYY-MM-DD" in call("x.ndjson", "--as-of", "soon", cwd=tmp_path).stderr
