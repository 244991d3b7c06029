"""Mutators are deterministic, really change something, and a judge that has lost a rule is found out."""

from dataclasses import replace

import pytest

from tests.conftest import PROTOCOLS
from validator.engine import Options
from validator.errors import DefinitionError
from validator.protocol.protocol import load_protocol
from validator.testing.mutators import OPERATORS, Mutant, Seed, golden, parse, render, try_mutant
from validator.testing.mutators.edits import run
from validator.testing.mutators.lines import at, leaves, put, without
from validator.testing.mutators.matrix import mutants
from validator.testing.mutators.propose import cost, propose
from validator.testing.mutators.snapshots import with_snapshots

CORE = load_protocol("agent-runtime")


def event(number, word, **more):
    stamp = f"2026-05-08T09:00:{number:02}Z"
    head = {"type": word, "event_id": f"e{number}", "timestamp": stamp, "sequence": number, "session_id": "s1"}
    return {**head, "task_id": "t1", **more}


def task():
    made = event(1, "task.created", payload={"objective": "Fix it."})
    return [made, event(2, "task.started"), event(3, "task.completed")]


def edited(*edits, **more):
    return run({"edits": list(edits), **more}, task(), CORE)


def shape(lines):
    return [(line["type"], line["event_id"], line["sequence"]) for line in lines]


class TestEdits:
    def test_a_dropped_line_leaves_no_gap(self):
        lines = edited({"drop": {"/type": "task.started"}})
        assert shape(lines) == [("task.created", "e1", 1), ("task.completed", "e3", 2)]
        assert lines[1]["timestamp"] == task()[1]["timestamp"]

    def test_a_dropped_line_leaves_a_gap_when_slots_are_not_kept(self):
        lines = edited({"drop": {"/type": "task.started"}}, keep_slots=False)
        assert [line["sequence"] for line in lines] == [1, 3]

    def test_a_repetition_has_an_id_of_its_own_and_counts_on(self):
        lines = edited({"repeat": {"/type": "task.completed"}, "set": {"/payload": {"summary": "Again."}}})
        assert shape(lines)[-1] == ("task.completed", "e3-again", 4)
        assert lines[-1]["payload"] == {"summary": "Again."}

    def test_a_line_moves_and_the_slots_stay(self):
        lines = edited({"move": {"/type": "task.completed"}, "before": {"/type": "task.started"}})
        assert shape(lines) == [("task.created", "e1", 1), ("task.completed", "e3", 2), ("task.started", "e2", 3)]
        assert edited({"move": {"/event_id": "e1"}, "after": {"/event_id": "e3"}})[2]["event_id"] == "e1"
        assert edited({"move": {"/event_id": "e1"}})[2]["event_id"] == "e1"

    def test_values_are_set_and_taken_out(self):
        edit = {"change": {"/event_id": "e1"}, "set": {"/payload/kinds/0/a~1b": 1}, "unset": ["/payload/objective"]}
        assert edited(edit)[0]["payload"] == {"kinds": {"0": {"a/b": 1}}}

    def test_a_new_line_stands_at_the_end_or_where_it_is_told(self):
        new = event(9, "task.updated")
        assert edited({"insert": new})[3]["sequence"] == 4
        assert edited({"insert": new, "before": {"/event_id": "e1"}})[0]["event_id"] == "e9"
        assert edited({"insert": new, "after": {"/event_id": "e1"}})[1]["event_id"] == "e9"

    def test_bytes_are_replaced(self):
        lines = edited({"text": {"/event_id": "e2"}, "find": "", "replace": "\xef\xbb\xbf"})
        assert lines[1].startswith(b"\xef\xbb\xbf{")

    def test_the_nth_of_its_kind_is_meant(self):
        assert edited({"drop": {"/session_id": "s1", "nth": 2}})[1]["event_id"] == "e3"

    @pytest.mark.parametrize("edit", [{"drop": {"/type": "turn.started"}}, {"change": {"/event_id": "e1"}, "set": {}}])
    def test_a_script_that_finds_or_changes_nothing_is_refused(self, edit):
        with pytest.raises(DefinitionError):
            edited(edit)


class TestLines:
    def test_a_capture_is_read_and_written_as_it_was(self):
        data = b'{"type":"a"}\n{half\n{"type":"b"}\n'
        assert render(parse(data)) == data
        assert render(parse(b'{"type":"a"}\n{half')) == b'{"type":"a"}\n{half'

    def test_pointers(self):
        document = {"a": [1, {"b": []}], "c~/d": 2}
        assert list(leaves(document)) == [("/a/0", 1), ("/a/1/b", []), ("/c~0~1d", 2)]
        assert at(document, "/c~0~1d") == 2
        assert at(document, "/a/7/b") is None
        assert put(document, "/a/-", 3)["a"] == [1, {"b": []}, 3]
        assert without(document, "/a/0")["a"] == [{"b": []}]
        assert without(document, "/x/y") == document


class TestOperators:
    @pytest.mark.parametrize("name", PROTOCOLS)
    def test_the_same_capture_yields_the_same_mutants(self, name):
        seed = min((seed for seed in golden() if seed.protocol.id == name), key=lambda seed: len(seed.lines))
        for operator in OPERATORS.values():
            first, second = (list(operator.apply(seed.lines, seed.protocol)) for _ in range(2))
            assert first == second
            assert all(render(mutant.lines) != render(seed.lines) for mutant in first)

    def test_an_operator_leaves_its_capture_alone(self):
        seed = next(seed for seed in golden() if seed.name.endswith("approval-rejected"))
        before = render(seed.lines)
        for operator in OPERATORS.values():
            list(operator.apply(seed.lines, seed.protocol))
        assert render(seed.lines) == before

    def test_every_operator_says_what_it_does(self):
        assert all(operator.description.endswith(".") for operator in OPERATORS.values())

    def test_a_snapshot_can_be_skewed_emptied_and_guessed(self):
        unknown = {"honest": "unknown", "reason": "Not told."}
        view = {"runId": "run_1", "stage": unknown, "artifacts": [{"artifactId": "art_1"}]}
        lines = with_snapshots([], {"vendor_view": [view]})
        changed = {
            name: [mutant.lines[0]["snapshot"] for mutant in OPERATORS[name].apply(lines, CORE)]
            for name in ("skew-a-snapshot", "drop-from-a-snapshot", "guess-in-a-snapshot")
        }
        assert changed["skew-a-snapshot"][0]["runId"] == "run_1-other"
        assert changed["drop-from-a-snapshot"] == [{**view, "artifacts": []}]
        assert changed["guess-in-a-snapshot"] == [{**view, "stage": "completed"}]

    def test_what_the_stream_does_not_settle_is_not_skewed(self):
        session = {"session_id": "ses_1", "as_of_sequence": 3, "history_truncated": False}
        lines = with_snapshots([], {"vendor_view": [session]})
        skewed = [mutant.lines[0]["snapshot"] for mutant in OPERATORS["skew-a-snapshot"].apply(lines, CORE)]
        assert skewed == [{**session, "history_truncated": True}]
        threads, tree = load_protocol("agent-threads/1"), {"nodes": [{"messageId": "m_1"}], "forkPoints": [1]}
        kept = with_snapshots([], {"thread_tree": [tree]})
        assert list(OPERATORS["drop-from-a-snapshot"].change(kept, threads)) == []


class TestTheMatrixCanFail:
    """A judge without a rule lets the mutants through that name it."""

    @pytest.mark.parametrize(
        ("name", "rule"),
        [("repeat-with-another-body", "ORD003"), ("late-event", "TRM001"), ("leak-a-canary", "RED005")],
    )
    def test_a_rule_that_is_switched_off_is_missed(self, name, rule):
        seed, mutant = next((s, m) for s, m in mutants(OPERATORS[name]) if s.protocol.name == "agent-runtime")
        assert try_mutant(seed, mutant).kind == "killed"
        deaf = Seed(seed.name, seed.protocol, seed.lines, replace(seed.options, ignore=(rule,)))
        assert try_mutant(deaf, mutant).kind != "killed"

    def test_a_mutant_that_amounts_to_the_same_survives(self):
        seed = Seed("task", CORE, task(), Options(protocol=CORE.id))
        lines = task()
        assert try_mutant(seed, Mutant("repeated", [*lines, lines[-1]])).kind == "survived"

    def test_what_amounts_to_something_else_is_missed(self):
        seed = Seed("task", CORE, task(), Options(protocol=CORE.id))
        other = put(task()[0], "/payload/objective", "Break it.")
        assert try_mutant(seed, Mutant("changed", [other, *task()[1:]])).kind == "missed"

    def test_a_served_document_that_nobody_finds_is_missed(self):
        seed = Seed("task", CORE, task(), Options(protocol=CORE.id))
        lines = with_snapshots(task(), {"vendor_view": [{"stage": "completed"}]})
        assert try_mutant(seed, Mutant("guessed", lines)).kind == "survived"
        assert try_mutant(seed, Mutant("guessed", lines, served=True)).kind == "missed"

    def test_a_finding_of_another_rule_or_clause_does_not_count(self):
        seed = Seed("task", CORE, task(), Options(protocol=CORE.id))
        lines = edited({"drop": {"/type": "task.started"}})
        assert try_mutant(seed, Mutant("cut", lines, ("STA001",), clause="TASK-20")).kind == "killed"
        assert try_mutant(seed, Mutant("cut", lines, ("STA001",), clause="TASK-1")).kind == "misnamed"
        assert try_mutant(seed, Mutant("cut", lines, ("ORD003",))).kind == "misnamed"
        assert try_mutant(seed, Mutant("cut", lines, verdict="incomplete")).kind == "misnamed"


def test_a_proposal_is_the_smallest_difference(tmp_path):
    expect = {
        "streams": {
            "trips-never-started": {"description": "-", "findings": [{"line": 2, "clause": "TASK-20"}]},
            "near-started": {"description": "-"},
        }
    }
    (tmp_path / "near-started.ndjson").write_bytes(render(task()))
    (tmp_path / "trips-never-started.ndjson").write_bytes(render(edited({"drop": {"/type": "task.started"}})))
    found = propose(CORE, "STA001", expect, tmp_path)
    assert found == {
        "never-started": {"from": "near-started", "edits": [{"drop": {"/type": "task.started"}}], "clause": "TASK-20"}
    }
    assert cost(found["never-started"]) == 1
