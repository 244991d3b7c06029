"""Every format: accepted by a reader that is not ours, and the same whichever way it is asked for."""

import io
import json
import xml.etree.ElementTree as ET

import junitparser
import pytest

from tests.cli.support import BAD, CREATED, GOOD, STARTED, call, capture, event, lines
from validator import resources
from validator.engine import Options, validate
from validator.protocol.schemas import load_store
from validator.renderers import FORMATS, render
from validator.rules._catalog import load_rules
from validator.run import Accepted, Note, Run

LEAK = event(2, "task.progress", {"message": "see /home/alice/x"}, task_id="t1")


def report(documents, name="captures/run 1.ndjson", **options):
    return validate(io.BytesIO(lines(documents)), name, Options(**options))


@pytest.fixture(scope="module")
def red():
    """One capture of each verdict, an accepted finding and a note."""
    reports = (report(GOOD, "good.ndjson"), report(BAD), report([CREATED, STARTED], "open.ndjson"))
    accepted = Accepted(reports[1].findings[0], "baseline", "known since the spring")
    stale = Note("stale-entry", "STA001 accepts 2 and 1 were found", "baseline.json", 4)
    return Run(reports, (stale,), (accepted,))


@pytest.fixture(scope="module")
def green():
    return Run((report(GOOD, "good.ndjson"),))


def test_json_and_every_ndjson_line_fit_their_published_schemas(red):
    store = load_store(resources.schemas().resolve())
    assert store.errors("report/1/report.schema.json", json.loads(render("json", red))) == []
    told = [json.loads(line) for line in render("ndjson", red).splitlines()]
    assert [error for line in told for error in store.errors("report/1/line.schema.json", line)] == []
    assert {line["kind"] for line in told} == {"finding", "capture", "accepted", "note", "run"}
    assert store.errors("report/1/line.schema.json", {"kind": "finding"}), "the schema can refuse"


def test_junit_loads_and_is_red_exactly_when_the_exit_code_is_not_zero(red, green):
    suites = junitparser.JUnitXml.fromstring(render("junit", red).encode())
    names = ["good.ndjson", "captures/run 1.ndjson", "open.ndjson", "runtime-validate"]
    assert [suite.name for suite in suites] == names
    assert suites.tests == sum(1 for suite in suites for _ in suite)
    failed = {case.name for suite in suites for case in suite if any(r._tag != "skipped" for r in case.result)}
    assert failed == {"TASK-20 (MUST)", "the capture is complete", "stale-entry baseline.json:4"}
    assert suites.failures == 3
    assert red.exit_code == 1
    calm = junitparser.JUnitXml.fromstring(render("junit", green).encode())
    assert (calm.failures, calm.errors, green.exit_code) == (0, 0, 0)


def test_junit_says_what_was_not_judged_as_skipped(green):
    (suite,) = ET.fromstring(render("junit", green))
    skipped = {case.get("name"): case.find("skipped").get("type") for case in suite if case.find("skipped") is not None}
    assert {"not_observed", "not_applicable", "not_judgeable"} == set(skipped.values())


def test_junit_carries_no_letter_that_xml_forbids():
    odd = event(1, "task.created", {"objective": "x"}, task_id="t\u0001\ufffe")
    text = render("junit", Run((report([odd], "odd\u0001.ndjson"),)))
    assert ET.fromstring(text)[0].get("name") == "odd\ufffd.ndjson"


def test_sarif_carries_line_offset_and_a_fingerprint_that_survives_a_shift(red):
    (run,) = json.loads(render("sarif", red))["runs"]
    first = run["results"][0]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "captures/run%201.ndjson"
    assert place["region"] == {"startLine": 2, "byteOffset": len(lines([CREATED]))}
    later = [{**entry, "sequence": entry["sequence"] + 1, "event_id": f"x{entry['sequence']}"} for entry in BAD]
    shifted = report([event(1, "session.created", {"title": "T"}), *later])
    moved = json.loads(render("sarif", Run((shifted,))))["runs"][0]["results"][0]
    assert moved["locations"][0]["physicalLocation"]["region"]["startLine"] == 3
    assert moved["partialFingerprints"] == first["partialFingerprints"]
    assert run["results"][-1]["suppressions"][0]["justification"] == "baseline: known since the spring"
    assert run["invocations"][0]["exitCode"] == 1


def test_github_annotations_are_commands_and_no_more_than_the_platform_shows():
    many = [CREATED, *(event(n, "task.completed", task_id=f"t{n}") for n in range(2, 40))]
    text = render("github", Run((report(many, "a,b:c.ndjson"),)))
    errors = [line for line in text.splitlines() if line.startswith("::error ")]
    assert len(errors) == 10
    assert errors[0].startswith("::error file=a%2Cb%3Ac.ndjson,line=2,title=")
    assert "%0Afound " in errors[0]
    assert text.splitlines()[-1].endswith(" more in the summary")
    assert int(text.splitlines()[-1].split()[0]) >= 28


def test_gitlab_issues_have_the_documented_members_and_fingerprints_of_their_own():
    many = [CREATED, *(event(n, "task.completed", task_id=f"t{n}") for n in range(2, 6))]
    issues = json.loads(render("gitlab", Run((report(many, "a.ndjson"), report(many, "b.ndjson")))))
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) >= 8
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert issue["location"]["lines"]["begin"] >= 1


def test_markdown_escapes_what_a_file_name_could_smuggle_in():
    text = render("markdown", Run((report(BAD, "a|b`<img>.ndjson"),)))
    assert "| a\\|b\\`\\<img\\>.ndjson |" in text
    assert "## MUST STA001 illegal-move" in text


@pytest.mark.parametrize("form", ["text", "concise", "github", "markdown"])
def test_the_first_words_say_why(form, red, green):
    first = next(line for line in render(form, red).splitlines() if "fail" in line)
    assert "1 finding at or above MUST in 1 capture" in first.replace("\\", "")
    assert "conforms: 1 capture, 3 events" in "\n".join(render(form, green).splitlines()[:3])


def test_a_leaked_path_is_in_no_format():
    run = Run((report([CREATED, LEAK]),))
    assert run.findings
    assert not [form for form in FORMATS if "alice" in render(form, run)]


def test_several_formats_of_one_pass_equal_those_of_separate_runs(tmp_path):
    capture(tmp_path, "bad.ndjson", BAD)
    capture(tmp_path, "good.ndjson", GOOD)
    outs = [word for form in FORMATS for word in ("--out", f"{form}=all.{form}")]
    once = call("bad.ndjson", "good.ndjson", *outs, cwd=tmp_path)
    assert once.returncode == 1
    assert once.stdout == (tmp_path / "all.text").read_text()
    for form in ("sarif", "junit", "github", "json"):
        alone = call("bad.ndjson", "good.ndjson", "--format", form, cwd=tmp_path)
        assert alone.stdout == (tmp_path / f"all.{form}").read_text(), form


def test_every_rule_has_the_parts_that_sarif_shows():
    for rule in load_rules().values():
        assert rule.doc["Why"]
        assert rule.doc["Trips"]


@pytest.mark.parametrize("form", FORMATS)
def test_what_a_capture_says_steers_neither_terminal_nor_log(form):
    wild = "t\n::error::stolen\x1b[31m\u202e"
    documents = [event(1, "task.created", {"objective": "x"}, task_id=wild), event(2, "task.completed", task_id=wild)]
    run = Run(
        (report([*documents, event(3, "task.created", {"objective": "x"}, task_id=wild + "2")], "a\n::x.ndjson"),)
    )
    assert any("\x1b" in found.entity[1] for found in run.findings if found.entity), "the capture tries"
    text = render(form, run)
    assert not [line for line in text.splitlines() if line.startswith(("::error::", "::x"))]
    assert "\x1b" not in text
    assert "\u202e" not in text or form in {"json", "ndjson", "sarif", "gitlab"}
