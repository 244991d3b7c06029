"""Baselines bite both ways, and are never quietly absent."""

import json

import pytest

from tests.cli.support import BAD, GOOD, call, capture, event

NAME = "runtime-validate-baseline.json"
TWO = (*BAD, event(3, "task.created", {"objective": "Again."}, task_id="t2"), event(4, "task.completed", task_id="t2"))
WHY = ("--reason", "known before the rewrite")


@pytest.fixture
def folder(tmp_path):
    capture(tmp_path, "x.ndjson", TWO)
    done = call("baseline", "write", "x.ndjson", *WHY, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"wrote {NAME}: 1 entries, 2 findings\n"), done.stderr
    return tmp_path


def check(folder, *words):
    return call("x.ndjson", "--baseline", NAME, "--expect", "prefix", *words, cwd=folder)


def entries(folder):
    return json.loads((folder / NAME).read_text())["entries"]


def edit(folder, **changes):
    data = json.loads((folder / NAME).read_text())
    data["entries"][0].update(changes)
    (folder / NAME).write_text(json.dumps(data, indent=2))


def test_what_the_baseline_holds_does_not_fail(folder):
    assert check(folder).returncode == 0
    (entry,) = entries(folder)
    assert (entry["rule"], entry["requirement"], entry["count"]) == ("STA001", "TASK-20", 2)
    assert entry["reason"] == WHY[1]


def test_a_new_finding_fails(folder):
    more = (*TWO, event(5, "task.created", {"objective": "T"}, task_id="t3"), event(6, "task.completed", task_id="t3"))
    capture(folder, "x.ndjson", more)
    done = check(folder)
    assert done.returncode == 1
    assert done.stdout.startswith("fails: 1 finding at or above MUST")
    assert "grown-entry" in done.stdout


def test_a_finding_that_is_gone_fails_until_it_is_pruned(folder):
    capture(folder, "x.ndjson", BAD)
    done = check(folder)
    assert done.returncode == 1
    assert "stale-entry" in done.stdout
    assert f"{NAME}:4:" in done.stdout.splitlines()[0]
    assert call("baseline", "prune", "x.ndjson", cwd=folder).stdout == f"wrote {NAME}: 1 entries, 1 findings fewer\n"
    assert check(folder).returncode == 0
    capture(folder, "x.ndjson", GOOD)
    assert check(folder).returncode == 1
    call("baseline", "prune", "x.ndjson", cwd=folder)
    assert entries(folder) == []


def test_an_entry_whose_rule_was_not_asked_is_left_alone(folder):
    assert check(folder, "--ignore", "STA").returncode == 0
    call("baseline", "prune", "x.ndjson", "--ignore", "STA", cwd=folder)
    assert len(entries(folder)) == 1


def test_write_does_not_grow_unasked_and_keeps_reasons(folder):
    capture(folder, "x.ndjson", BAD)
    assert call("baseline", "write", "x.ndjson", cwd=folder).returncode == 0
    assert (entries(folder)[0]["count"], entries(folder)[0]["reason"]) == (1, WHY[1])
    capture(folder, "x.ndjson", TWO)
    refused = call("baseline", "write", "x.ndjson", *WHY, cwd=folder)
    assert refused.returncode == 2
    assert "the baseline would grow by 1 finding" in refused.stderr
    assert entries(folder)[0]["count"] == 1
    assert call("baseline", "write", "x.ndjson", *WHY, "--allow-growth", cwd=folder).returncode == 0
    assert entries(folder)[0]["count"] == 2


def test_new_entries_need_a_reason(tmp_path):
    capture(tmp_path, "x.ndjson", BAD)
    done = call("baseline", "write", "x.ndjson", cwd=tmp_path)
    assert (done.returncode, (tmp_path / NAME).exists()) == (2, False)
    assert "new entries need a reason" in done.stderr
    done = call("baseline", "write", "x.ndjson", "--reason", "known", cwd=tmp_path)
    assert (done.returncode, (tmp_path / NAME).exists()) == (2, False), "nothing is left that cannot be read back"
    assert "at least 8 characters" in done.stderr


def test_an_entry_expires_on_the_day_the_caller_names(folder):
    edit(folder, expires="2026-12-31")
    assert check(folder, "--as-of", "2026-12-31").returncode == 0
    late = check(folder, "--as-of", "2027-01-01")
    assert late.returncode == 1
    assert "expired-entry" in late.stdout


def test_check_says_how_the_entries_fare(folder):
    done = call("baseline", "check", "x.ndjson", "--expect", "prefix", cwd=folder)
    assert done.returncode == 0
    assert done.stdout.endswith(f"{NAME}: 2 findings accepted, 0 new\n")
    capture(folder, "x.ndjson", GOOD)
    stale = call("baseline", "check", "x.ndjson", cwd=folder)
    assert stale.returncode == 1
    assert "accepts 2 and 0 were found (STA001 looked at 3 subjects)" in stale.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "the file does not exist"),
        ("", "Expecting value"),
        ("[]", "must be object, is array"),
        ('{"baseline": "1"}', "lacks entries"),
        ('{"baseline": "2", "entries": []}', "line 1 (/baseline): must be '1'"),
        ('{"baseline": "1",\n "entries": [\n  {"fingerprint": "x"}]}', "line 3"),
        (
            '{"baseline": "1", "entries": [{"fingerprint": "0123456789abcdef", "rule": "STA001", "count": 1, '
            '"reason": "long enough", "expires": "2026-02-31"}]}',
            "is no day of the calendar",
        ),
    ],
)
def test_a_missing_or_malformed_baseline_is_bad_usage(text, message, tmp_path):
    capture(tmp_path, "x.ndjson", GOOD)
    if text is not None:
        (tmp_path / NAME).write_text(text)
    done = check(tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert NAME in done.stderr
    assert done.stdout == ""


def test_one_fingerprint_has_one_entry(folder):
    data = json.loads((folder / NAME).read_text())
    data["entries"] *= 2
    (folder / NAME).write_text(json.dumps(data))
    assert "has an entry already" in check(folder).stderr


def test_a_subset_proves_nothing_stale(folder):
    capture(folder, "x.ndjson", GOOD)
    assert check(folder, "--subset").returncode == 0
    (folder / "runtime-validate.toml").write_text('[[suppress]]\nrule = "FRM"\nreason = "never needed at all"\n')
    assert check(folder, "--subset").returncode == 0
    capture(folder, "x.ndjson", [*TWO, event(5, "task.completed", task_id="t9")])
    assert check(folder, "--subset").returncode == 1, "what is new still fails"


@pytest.mark.parametrize("data", [b"", b"noise\n"])
@pytest.mark.parametrize("act", ["write", "prune"])
def test_what_was_not_seen_is_not_taken_out(act, data, folder):
    (folder / "x.ndjson").write_bytes(data)
    done = call("baseline", act, "x.ndjson", cwd=folder)
    assert (done.returncode, len(entries(folder))) == (2, 1)
    assert "the capture shows no event" in done.stderr
