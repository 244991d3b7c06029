"""Every fixture behaves as it says, and together they leave nothing out."""

import io
import json
import re
import shutil

import pytest

from tests.conftest import PROTOCOLS
from validator import resources
from validator.capture.lines import line_errors, read_lines
from validator.datafile import read_json
from validator.engine import validate
from validator.errors import CaptureError
from validator.protocol.honest import is_honest
from validator.protocol.protocol import load_protocol
from validator.protocol.view import view
from validator.selftest import run

FIXTURES = resources.fixtures()


@pytest.fixture(scope="module")
def outcome():
    return run()


def test_every_fixture_meets_its_expectation(outcome):
    assert outcome.failures == []
    assert sum(coverage.cases for coverage in outcome.coverage) > 1200


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_event_type_occurs_in_a_golden_capture(outcome, name):
    coverage = next(entry for entry in outcome.coverage if entry.protocol == name)
    assert coverage.all_events - coverage.events == set()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_table_row_is_taken_in_a_golden_capture(outcome, name):
    coverage = next(entry for entry in outcome.coverage if entry.protocol == name)
    assert coverage.all_rows - coverage.rows == set()


GOLDEN = [path for name in PROTOCOLS for path in sorted((FIXTURES / name / "golden").glob("*.ndjson"))]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_capture_departs_from_nothing(path):
    """What is shown as an example follows the recommendations too."""
    report = validate(io.BytesIO(path.read_bytes()), path.name)
    assert [(found.rule, found.line, found.clause, found.pointer) for found in report.findings] == []
    assert report.verdict == "conformant"
    assert report.crashes == ()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_kind_of_document_has_a_valid_and_an_invalid_case(name):
    protocol = load_protocol(name)
    for kind in protocol.references():
        cases = read_json(FIXTURES / name / "documents" / f"{kind}.json")["cases"]
        assert {case["valid"] for case in cases} == {True, False}, kind


@pytest.mark.parametrize("name", PROTOCOLS)
def test_descriptions_state_facts_and_ids_are_unique(name):
    for path in sorted((FIXTURES / name / "documents").rglob("*.json")):
        cases = read_json(path)["cases"]
        for field in ("id", "description"):
            values = [case[field] for case in cases]
            assert len(values) == len(set(values)), path.name
        for case in cases:
            assert not re.search(r"\b(should|test that)\b", case["description"]), path.name


def record_of(place):
    """The record a place holds, if the contract names it; its fields count once per read model, wherever it stands."""
    return next((name for name in place.names if name.startswith("records.")), None)


def declared(shape, path="", seen=frozenset()):
    """Every field a read model declares, lists passed through; free maps declare nothing."""
    for key, place in shape.properties().items():
        yield f"{path}/{key}"
        inner = place.items() if "array" in place.types else place
        record = record_of(inner)
        if record not in seen:
            yield from declared(inner, record or f"{path}/{key}", seen | {record} if record else seen)


def filled(shape, value, path=""):
    """The declared fields at which a document holds a value; null and an honest statement are none."""
    for key, place in shape.properties().items():
        sub = value.get(key)
        if sub is None or is_honest(sub) or sub == []:
            continue
        yield f"{path}/{key}"
        inner, subs = (place.items(), sub) if isinstance(sub, list) else (place, [sub])
        for entry in subs:
            if isinstance(entry, dict):
                yield from filled(inner, entry, record_of(inner) or f"{path}/{key}")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_read_model_field_holds_a_value_in_some_expected_model(name):
    protocol = load_protocol(name)
    seen = {model: set() for model in protocol.snapshots}
    shapes = {model: view(protocol.store, reference) for model, reference in protocol.snapshots.items()}
    for path in sorted((FIXTURES / name / "golden").glob("*.readmodel.json")):
        for model, documents in read_json(path).get("models", {}).items():
            for document in documents:
                seen[model] |= set(filled(shapes[model], document))
    for model, shape in shapes.items():
        assert set(declared(shape)) - seen[model] == set(), model


@pytest.mark.parametrize("name", PROTOCOLS)
def test_golden_captures_hold_no_machine_path(name):
    leak = re.compile(r"/(home|Users|root|tmp|var)/|[A-Z]:\\\\|file:/")
    clean = [*(FIXTURES / name / "golden").rglob("*.*"), *(FIXTURES / name / "documents").rglob("*.json")]
    for path in sorted(clean):
        assert not leak.search(path.read_text()), path.name


class TestTheSelftestCanFail:
    """A check that cannot fail proves nothing."""

    @pytest.fixture
    def copy(self, tmp_path):
        shutil.copytree(FIXTURES / "agenthub", tmp_path / "agenthub")
        return tmp_path

    def reasons(self, copy):
        return [failure.reason for failure in run(["agenthub"], copy).failures]

    def edit(self, path, change):
        data = json.loads(path.read_text())
        change(data)
        path.write_text(json.dumps(data))

    def test_the_copy_passes(self, copy):
        assert self.reasons(copy) == []

    def test_a_wrong_pointer_is_told(self, copy):
        def change(data):
            case = next(case for case in data["cases"] if not case["valid"])
            case["error"]["pointer"] = "/nowhere"

        self.edit(copy / "agenthub/1/documents/events/run.created.json", change)
        assert any("not at ('/nowhere'" in reason for reason in self.reasons(copy))

    def test_an_invalid_document_called_valid_is_told(self, copy):
        def change(data):
            case = next(case for case in data["cases"] if not case["valid"])
            case["valid"] = True

        self.edit(copy / "agenthub/1/documents/events/run.created.json", change)
        assert any(reason.startswith("is refused") for reason in self.reasons(copy))

    def test_a_valid_document_called_invalid_is_told(self, copy):
        def change(data):
            case = next(case for case in data["cases"] if case["valid"])
            case.update({"valid": False, "error": {"pointer": "", "keyword": "required"}})

        self.edit(copy / "agenthub/1/documents/events/run.created.json", change)
        assert "is accepted" in self.reasons(copy)

    def test_a_wrong_id_and_a_malformed_fixture_are_told(self, copy):
        self.edit(
            copy / "agenthub/1/documents/events/run.failed.json", lambda data: data.update(id="agenthub/1/events/x")
        )
        self.edit(copy / "agenthub/1/documents/events/run.started.json", lambda data: data.update(cases=[]))
        reasons = self.reasons(copy)
        assert "the id must be agenthub/1/events/run.failed" in reasons
        assert any("breaks minItems" in reason for reason in reasons)

    def test_a_fixture_of_nothing_is_told(self, copy):
        folder = copy / "agenthub/1/documents/events"
        shutil.copy(folder / "run.failed.json", folder / "run.vanished.json")
        assert "agenthub/1 has no events/run.vanished" in self.reasons(copy)

    def test_an_illegal_move_and_another_end_are_told(self, copy):
        path = next((copy / "agenthub/1/golden").glob("*.ndjson"))
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines, lines[-1]]) + "\n")
        assert self.reasons(copy)
        expectation = path.with_name(f"{path.stem}.readmodel.json")
        path.write_text("\n".join(lines) + "\n")

        def change(data):
            machine = next(iter(data["states"].values()))
            machine[next(iter(machine))] = "Created"

        self.edit(expectation, change)
        assert any("expected Created" in reason for reason in self.reasons(copy))

    def test_a_line_that_is_no_json_object_stops_us_with_its_place(self, copy):
        path = next((copy / "agenthub/1/golden").glob("*.ndjson"))
        for text in ("{not json\n", "[1]\n"):
            path.write_text(text)
            with pytest.raises(CaptureError) as caught:
                list(read_lines(path))
            assert caught.value.place == "line 1"


def test_record_lines_fit_their_kind_and_what_they_carry(core):
    command = {"record": "command", "command": "respond_action", "command_id": "c", "request": {"action_id": "a"}}
    assert [(e.pointer, e.keyword) for e in line_errors(core, command)] == [("/request", "required")]
    assert [(e.pointer, e.keyword) for e in line_errors(core, {"record": "rumour"})] == [("/record", "enum")]
    assert [(e.pointer, e.keyword) for e in line_errors(core, {"record": "header"})] == [("", "required")]
    snapshot = {"record": "snapshot", "model": "queue_snapshot", "snapshot": {"freshness": "current"}}
    assert ("/snapshot", "required") in [(e.pointer, e.keyword) for e in line_errors(core, snapshot)]
    assert line_errors(core, {"record": "snapshot", "model": "acme_model", "snapshot": {}}) == []
    run_record = {"record": "run", "runId": "no ulid"}
    assert line_errors(load_protocol("agent-threads"), run_record)
