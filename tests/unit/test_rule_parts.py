"""Parts of rules that every stream reaches and few can tell apart."""

import io
import json
from types import SimpleNamespace

import pytest

from tests.conftest import PROTOCOLS
from validator import resources
from validator.engine import Options, validate
from validator.protocol.exports import Part, parts
from validator.protocol.protocol import load_protocol
from validator.replay.fold import Fold
from validator.replay.step import Stretch
from validator.replay.world import World
from validator.rules import seen
from validator.rules.agent_threads.tree_differs import _forks
from validator.rules.governance._hooks import Hooks
from validator.rules.identity import _parents
from validator.rules.identity._parents import Identities, ordinary
from validator.rules.identity.shared_writes_untold import Writers
from validator.rules.ordering._arrivals import Arrivals
from validator.rules.redaction import _leaks
from validator.rules.redaction._leaks import Leaks
from validator.rules.redaction.redacted_here_plain_there import Redactions, _depth
from validator.rules.runagents.action_view_differs import LINKS, _wrong
from validator.rules.runagents.export_contradicts_log import _settle
from validator.rules.snapshot import old_fact_told_anew
from validator.rules.snapshot._claims import Claim, Claims
from validator.rules.snapshot._compare import Difference
from validator.rules.snapshot._comparisons import _left_out
from validator.rules.snapshot._owners import _is_guess
from validator.rules.snapshot.invented_value import _clause
from validator.rules.snapshot.old_fact_told_anew import Told
from validator.rules.snapshot.override_unexplained import Turns
from validator.rules.snapshot.thread_stands_wrong import _unknown
from validator.rules.snapshot.view_differs import _is_left_out, _is_untold
from validator.rules.terminal._work import Children
from validator.rules.terminal.dropped_by_compaction import Links
from validator.rules.terminal.work_before_submission import Early
from validator.rules.unknown._restarts import Restarts

UNKNOWN = {"honest": "unknown", "reason": "not kept"}


def difference(*path, kind="value", entity=None, states=(None, None)):
    return Difference(kind, path, "one", "other", entity, states)


def test_what_belongs_to_something_lies_below_it():
    for identities in (load_protocol(name).identities for name in PROTOCOLS):
        for name, entry in identities.items():
            for parent in entry["belongs_to"]:
                assert parent not in identities or _depth(name, identities) > _depth(parent, identities), (name, parent)


def test_a_tree_does_not_list_as_a_fork_what_it_does_not_hold():
    nodes = [{"messageId": name, "parentMessageId": "before the tree"} for name in ("a", "b")]
    assert list(_forks(None, {"forkPoints": []}, nodes)) == [seen("AT-104", "AT-105")]


@pytest.mark.parametrize(
    ("own", "shown", "wrong"),
    [
        (True, True, ("RA-90", None)),
        (True, False, ("RA-90", "payload_match")),
        (False, False, ("RA-146", None)),
        (False, True, ("RA-146", "payload_match")),
        (UNKNOWN, None, ("RA-146", None)),
        (UNKNOWN, True, ("RA-146", "payload_match")),
    ],
)
def test_whether_two_hashes_agree_is_shown_as_the_log_has_it(own, shown, wrong):
    known = {"status": "APPROVED", **dict.fromkeys(LINKS), "payload_match": own}
    assert list(_wrong({"status": "APPROVED", "payload_match": shown}, known))[-1] == wrong


@pytest.mark.parametrize(
    ("entry", "restarted", "left_out"),
    [
        (difference("diagnostics", "stalled_turn_ids", "0", kind="more"), False, True),
        (difference("diagnostics", "stalled_turn_ids", "0", kind="dropped"), False, False),
        (difference("last_outcome", kind="more"), True, True),
        (difference("last_outcome", kind="more"), False, False),
        (difference("diagnostics", "lost_worker_ids", "0", kind="more"), True, True),
        (difference("diagnostics", "lost_worker_ids", "0", kind="more"), False, False),
        (difference("tools"), False, True),
        (difference("tools", "0"), False, True),
        (difference("tools", "name"), False, False),
        (difference("title"), True, False),
    ],
)
def test_doubt_and_what_the_events_only_refer_to_are_left_out(entry, restarted, left_out):
    claim = Claim("thread_read_model", {}, "/snapshot", "snapshot")
    assert _left_out(claim, {"tools": UNKNOWN}, {}, restarted)(entry) is left_out


@pytest.mark.parametrize(
    ("entry", "left_out"),
    [
        (difference("turns", kind="dropped"), True),
        (difference("turns", "0", kind="order"), True),
        (difference("turns"), True),
        (difference("title", "0"), True),
        (difference("turns", "0", "status"), False),
    ],
)
def test_an_answer_that_was_asked_for_less_may_leave_out_entries_and_sums(entry, left_out):
    claim = Claim("thread_read_model", {}, "/result/snapshot", "result", partial=True)
    assert _left_out(claim, {}, {}, False)(entry) is left_out


def test_a_child_that_has_completed_is_no_guess_whatever_became_of_it():
    entry = difference("subagents", "0", "status", entity=("subagent_id", "g1"), states=("closed", "completed"))
    assert not _is_guess(SimpleNamespace(children={"g1"}), entry)
    assert _is_guess(SimpleNamespace(children=set()), entry)


@pytest.mark.parametrize(
    ("entry", "session", "clause"),
    [
        (difference("decisions", "0", kind="more"), "s1", "RM-28"),
        (difference("decisions", "0", kind="more"), "s2", "RM-4"),
        (difference("turns", "0", kind="more"), "s1", "RM-4"),
        (difference("title", kind="more"), "s1", "RM-29"),
        (difference("verification_outcomes", "0", kind="more"), "s1", "EVI-4"),
    ],
)
def test_what_stands_twice_after_a_repetition_was_counted_twice(entry, session, clause):
    world = SimpleNamespace(ledger={Claims: SimpleNamespace(repeated={"s1"})}.__getitem__)
    assert _clause(world, Claim("thread_read_model", {}, "", "snapshot", session), entry) == clause


def test_unknown_is_right_where_the_replay_does_not_know_either():
    assert list(_unknown(None, None, SimpleNamespace(expected={"status": "unknown"}))) == []


def test_a_view_may_know_what_no_line_told():
    assert _is_untold({"user": UNKNOWN}, ("user", "name"))
    assert _is_untold({"events": [UNKNOWN]}, ("events", "0", "type"))
    assert not _is_untold({"events": []}, ("events", "0", "type"))
    assert not _is_untold({"user": {"name": "a"}}, ("user", "name"))
    alone, joined = ({"conversation_id": value, "created_at": "x"} for value in (UNKNOWN, "c1"))
    assert _is_left_out("runagents", "run_view", alone, difference("created_at"))
    assert not _is_left_out("runagents", "run_view", joined, difference("created_at"))


def test_a_log_of_another_run_contradicts_no_status():
    path = next((resources.fixtures() / "runagents/1/rules/RAG012").glob("trips-*.ndjson"))
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    export = next(line["snapshot"] for line in lines if line.get("model") == "audit_export")
    export["run"] |= {"id": "another", "status": "no such word"}
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    report = validate(io.BytesIO(data), path.name, Options(protocol="runagents/1", select=("RAG012",)))
    assert (report.findings, report.crashes) == ((), ())
    assert report.looks["RAG012"] == 1


def told(kind, payload, stamp=None, **scope):
    line = {"type": kind, "payload": payload, "timestamp": stamp}
    raw = json.dumps(line).encode()
    return SimpleNamespace(type=kind, kind="event", line=line, raw=raw, scope=scope, moves=[], number=1)


def test_a_child_thread_that_is_no_word_is_not_remembered():
    writers = Writers(None)
    writers.apply(told("subagent.spawned", {"child_thread_id": ["h2"], "parent_thread_id": "h1"}))
    assert writers.children == {}


def spoken(kind, number, task, **more):
    return {"type": kind, "event_id": f"e{number}", "sequence": number, "session_id": "s", "task_id": task, **more}


def test_what_nothing_was_heard_of_is_silent_since_the_last_restart(core):
    """Restart after restart, only what was heard of in between is looked at again."""
    world = World(core, [Restarts])
    lines = [
        *(spoken("task.created", number, f"k{number}", payload={"objective": "o"}) for number in (1, 2, 3)),
        {"record": "restart"},
        spoken("task.cancelled", 4, "k1", payload={}),
        spoken("acme.note", 5, "k2"),
        {"record": "restart"},
        {"record": "restart"},
    ]
    found = []
    for number, line in enumerate(lines, 1):
        world.apply(line, number)
        found.append({key: since for (_, key), since in world.ledger(Restarts).silent.items()})
    assert found[3:] == [
        {"k1": 4, "k2": 4, "k3": 4},
        {"k2": 4, "k3": 4},
        {"k3": 4},
        {"k2": 7, "k3": 7},
        {"k2": 8, "k3": 8},
    ]


def test_what_is_in_doubt_at_a_restart_stays_silent_since_the_one_before(core):
    world = World(core, [Restarts])
    world.apply(spoken("task.created", 1, "k1", payload={"objective": "o"}), 1)
    for number in (2, 4):
        world.apply({"record": "restart"}, number)
        world.doubt(number + 1)
    assert dict(world.ledger(Restarts).silent.items()) == {("task", "k1"): 2}


def test_a_profile_that_is_resolved_before_its_turn_is_early(core):
    early = Early(World(core))
    early.apply(told("task.profile.resolved", {}, turn_id="t"))
    early.apply(told("run.status", {}, turn_id="u"))
    assert early.lines == {("TURN-17", "t"): 1}


def test_a_turn_that_is_held_back_is_let_go_by_its_own_work():
    hooks = Hooks(None)
    hooks.held = {"t": 1, "u": 1}
    hooks.apply(told("tool.started", {}, turn_id="t"))
    hooks.apply(told("tool.started", {}, turn_id="x"))
    hooks.apply(told("turn.paused", {}, turn_id="u"))
    assert hooks.held == {"u": 1}


def test_lines_alike_share_their_traits_and_only_so_many_are_kept(core, monkeypatch):
    monkeypatch.setattr(_leaks, "_MOST", 2)
    world = World(core, [Leaks])
    leaks, found = world.ledger(Leaks), []
    for number, kind in enumerate(("acme.a", "acme.a", "acme.b", "acme.c", "acme.a"), 1):
        found.append(leaks.traits(world.apply(spoken(kind, number, "k1", payload={"path": "src/a.py"}), number)))
    first, again, _, _, anew = found
    assert first is again
    assert first is not anew
    assert [traits.unnamed for traits in found] == [1] * 5


def test_what_an_object_in_a_payload_says_of_a_call_is_kept_for_that_call(core):
    """The event speaks of one subject, and an object in it of another, of which something is hidden later."""
    call = {"tool_call_id": "c1", "note": "the plain words"}
    world = World(core, [Leaks, Redactions])
    world.apply(spoken("task.created", 1, "k1", payload={"calls": [call]}), 1)
    world.apply(spoken("tool.result", 2, "k1", payload={"note": "[redacted]"}, tool_call_id="c1"), 2)
    assert [(line, subject) for line, subject, *_ in world.ledger(Redactions).clashes] == [(1, ("tool_call_id", "c1"))]
    world.apply(spoken("task.updated", 3, "k1", payload={"note": "more"}), 3)
    assert world.ledger(Redactions).clashes == []


@pytest.mark.parametrize(
    ("payload", "clashes"),
    [
        ({"note": "plain", "other": "x"}, True),
        ({"note": "", "other": "x"}, False),
        ({"note": {"honest": "stale", "reason": "x"}, "other": "x"}, False),
        ({"note": {"honest": "no", "reason": "x"}, "other": "x"}, False),
        ({"note": 1, "other": "x"}, False),
        ({"note": ["plain"]}, False),
    ],
)
@pytest.mark.parametrize("before", [0, 1])
def test_text_of_a_call_is_kept_by_the_keys_that_held_it(core, payload, clashes, before):
    """Lines of one layout share their keys, unless a text is empty; what is hidden before makes no difference."""
    world = World(core, [Leaks, Redactions])
    told = [{"size": "[redacted]"}] * before + [{"note": "some", "other": "words"}, payload]
    for number, entry in enumerate(told, 1):
        world.apply(spoken("tool.result", number, "k1", payload=entry, tool_call_id=f"c{number // len(told)}"), number)
    hidden = {"note": "[redacted]", "other": 1}
    world.apply(spoken("tool.result", 9, "k1", payload=hidden, tool_call_id="c1"), 9)
    found = [(line, segments) for line, _, segments, _ in world.ledger(Redactions).clashes]
    assert found == [(len(told), ("payload", "note"))] * clashes


def test_evidence_without_an_id_is_linked_to_nothing():
    links = Links(None)
    links.apply(told("evidence.changed", {"pack_ref": "pack://1"}, thread_id="h"))
    assert links.evidence == {}


def test_text_that_tells_the_environment_of_its_turn_is_shown_piece_by_piece(core):
    line = {"type": "model.delta", "session_id": "s", "turn_id": "t", "execution_environment": {"cwd": "src"}}
    world = World(core, [Turns])
    (alike,) = world.audience(world.apply(line, 1)).alike
    assert world.ledger(Turns).told == {"t": {"cwd": ("src", 1)}}
    assert not alike(world.apply(line, 2))


def test_a_line_that_is_no_export_is_what_it_is():
    line = {"note": "nothing that anybody lists"}
    assert parts(load_protocol("runagents"), line) == [Part(line)]


def test_a_task_is_not_below_itself():
    children = Children(None)
    children.apply(told("task.delegated", {"target_kind": "task", "target_id": "k"}, task_id="k"))
    assert (children.below, children.above) == ({}, {})


def test_a_process_is_below_the_task_that_started_it():
    children = Children(None)
    children.apply(told("process.started", {}, task_id="k", process_id="p"))
    children.apply(told("process.completed", {}, task_id="k", process_id="q"))
    assert children.below == {"k": {("process", "p"): 1}}


def test_a_fact_without_a_time_is_not_recognised():
    facts = Told(None)
    facts.apply(SimpleNamespace(kind="restart", type="restart", line={"timestamp": "2026-05-08T09:00:00Z"}, number=1))
    for stamp, known in ((None, 0), ("2026-05-08T09:00:01Z", 1)):
        facts.apply(told("artifact.changed", {}, stamp))
        assert len(facts.facts) == known


def test_only_so_many_events_wait_to_be_told_anew(monkeypatch):
    monkeypatch.setattr(old_fact_told_anew, "KEPT", 3)
    facts = Told(None)

    def tell(session, number):
        step = told("artifact.changed", {}, session_id=session)
        step.number = number
        facts.apply(step)

    for number, session in enumerate(("one", "two", "one", "one", "two"), 1):
        tell(session, number)
    assert [entry[-1] for entry in facts._take("one")] == [3, 4]
    assert set(facts._waiting) == {"two"}
    for number in range(6, 10):
        tell("two", number)
        assert len(facts._waiting["two"]) < 2 * 3
    assert [entry[-1] for entry in facts._take("two")] == [7, 8, 9]
    tell("one", 10)
    for number in range(11, 16):
        tell("two", number)
    assert set(facts._waiting) == {"two"}


def test_of_a_stretch_those_wait_to_be_told_anew_that_are_among_the_last(monkeypatch):
    monkeypatch.setattr(old_fact_told_anew, "KEPT", 4)
    facts = Told(None)
    one, two = (told("model.delta", {}, session_id=session) for session in ("one", "two"))
    facts.echo([Stretch(one, 1, 1, [b"1", b"2"]), Stretch(two, 3, 1, [b"3"]), Stretch(one, 4, 3, [b"4", b"5", b"6"])])
    assert [entry[2:] for entry in facts._take("one")] == [(b"4", 4), (b"5", 5), (b"6", 6)]
    assert [entry[2:] for entry in facts._take("two")] == [(b"3", 3)]
    facts.echo([Stretch(one, 7, 6, [b"7", b"8", b"9"]), Stretch(two, 10, 2, [b"a", b"b", b"c"])])
    assert [entry[2:] for entry in facts._take("one")] == [(b"9", 9)]
    facts.echo([Stretch(two, 13, 5, [b"d"] * 4)])
    assert [entry[-1] for entry in facts._take("two")] == [13, 14, 15, 16]
    assert not facts._waiting


def test_events_of_more_types_than_are_kept_are_judged_one_by_one(monkeypatch, core):
    monkeypatch.setattr(_parents, "_MOST", 1)
    world = World(core, [Identities])
    found = []
    for number, kind in enumerate(("acme.one", "acme.two", "acme.one", "acme.two"), 1):
        step = world.apply({"type": kind, "event_id": f"e{number}", "session_id": "s", "sequence": number}, number)
        found.append(ordinary(step, world, None))
    assert [key is None for key in found] == [False, True, False, True]
    assert found[0] == found[2]


def test_an_exported_action_without_an_id_settles_nothing():
    protocol = load_protocol("runagents")
    fold = Fold(protocol)
    _settle(fold, SimpleNamespace(protocol=protocol), {"actions": [{"status": "APPROVED"}]})
    assert not fold.subjects["blocked_action"]


@pytest.mark.parametrize(("last", "missing"), [(5, {2, 4}), (10**9, range(2, 10**9))])
def test_a_late_event_fills_its_place_in_a_small_gap_only(last, missing, core):
    world = World(core, [Arrivals])
    for number, sequence in enumerate((1, last, 3), 1):
        world.apply({"type": "acme.note", "event_id": f"e{number}", "session_id": "s", "sequence": sequence}, number)
    assert [gap.missing for gap in world.ledger(Arrivals).gaps.open] == [missing]


def test_after_a_line_that_could_not_be_read_a_run_view_is_not_judged():
    path = resources.fixtures() / "runagents/1/rules/RAG025/trips-ahead.ndjson"
    lines = path.read_bytes().splitlines()
    wishes = Options(protocol="runagents/1", select=("RAG025",))
    streams = (lines, [lines[0], b"{", lines[1]])
    whole, cut = (validate(io.BytesIO(b"\n".join(rows)), path.name, wishes) for rows in streams)
    assert [found.line for found in whole.findings] == [2]
    assert cut.findings == ()


def overlap(first, second, between=()):
    """The lines of REF014 for two calls of a turn, of which the second starts while the first runs."""
    ids = {"session_id": "s", "thread_id": "h", "turn_id": "t"}
    told = [
        ("session.created", {"session_id": "s"}, {}),
        ("turn.submitted", ids, {"status": "accepted"}),
        ("tool.started", {**ids, "tool_call_id": "one"}, {"tool_name": "a", **first}),
        *((kind, {**ids, "tool_call_id": "one"}, payload) for kind, payload in between),
        ("tool.started", {**ids, "tool_call_id": "two"}, {"tool_name": "b", **second}),
    ]
    events = [
        {"type": kind, "event_id": f"e{number}", "sequence": number, **scope, "payload": payload}
        for number, (kind, scope, payload) in enumerate(told, 1)
    ]
    raw = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    report = validate(io.BytesIO(raw), "x", Options(protocol="agent-runtime", expect="prefix", select=("REF014",)))
    return [found.line for found in report.findings], report.looks.get("REF014", 0) > 0


READS, WRITES = {"is_read_only": True}, {"is_read_only": False}
SAFE = {"is_concurrency_safe": True}


@pytest.mark.parametrize(
    ("first", "second", "found", "looks"),
    [
        (READS, READS, [], False),
        (READS, WRITES, [4], True),
        (WRITES, READS, [4], True),
        (WRITES, WRITES, [4], True),
        ({**WRITES, **SAFE}, WRITES, [4], True),
        (WRITES, {**WRITES, **SAFE}, [4], True),
        ({**WRITES, **SAFE}, {**WRITES, **SAFE}, [], True),
        ({**READS, **SAFE}, {**WRITES, **SAFE}, [], True),
        ({**READS, **SAFE}, {**READS, **SAFE}, [], False),
        ({}, {"is_destructive": True}, [4], True),
    ],
)
def test_calls_clash_when_one_writes_and_not_both_are_safe(first, second, found, looks):
    assert overlap(first, second) == (found, looks)


@pytest.mark.parametrize(
    ("between", "found"),
    [
        ([("tool.result", {"output_ref": "output://one"})], []),
        ([("tool.failed", {"error_category": "timeout"})], []),
        ([("tool.progress", {"percent": 3})], [5]),
    ],
)
def test_a_call_that_is_over_runs_beside_no_other(between, found):
    assert overlap(WRITES, WRITES, between)[0] == found
