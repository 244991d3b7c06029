"""Sessions judged apart: what every ledger and rule keeps of more than one session, and how that is handled."""

import gzip
import json
import multiprocessing
import re
import threading
from pathlib import Path

import pytest

from tests.properties.apart import HEADER, apart, events_of, interleaved, together, told_again, written
from validator import dividing, judging, processes, resources, rules, stopping
from validator.apart import PROTOCOL, Reader
from validator.engine import Options
from validator.joining import InseparableError, Seal, Verdict, merged
from validator.joining import agree as judges_agree
from validator.names import NAMED, SILENT, is_name
from validator.protocol.protocol import load_protocol
from validator.replay.readmodels.agent_runtime.recall import Replay
from validator.replay.world import World
from validator.rules import Finding
from validator.rules._catalog import compile_rules, load_rules
from validator.samples import is_promising
from validator.sharing import Part

GOLDEN = resources.fixtures() / "agent-runtime" / "0.3" / "golden"
IDS = "keeps what it knows under ids that no two judges have in common, and lines"
STREAM = "keeps what it knows under the stream or session of an event"
LINE = "knows the line at hand and no more"
RECORDS = "learns from records, of which there are none"
HEARS = "overhears what is told in other sessions"
TELLS = "tells what it knows of all sessions, and hears it, at the end"
LEDGERS = {
    "replay.readmodels.agent_runtime.recall.Replay": "counts events of other sessions, and mingles when it replays all",
    "rules._catalogues.Catalogues": IDS,
    "rules.command._commands.Commands": RECORDS,
    "rules.command.answer_contradicts_stream.Outcomes": RECORDS,
    "rules.command.busy_thread_accepted.Busy": IDS,
    "rules.command.queue_change_untold.Places": HEARS,
    "rules.command.queue_miscounted.Queues": IDS,
    "rules.command.queue_policy_ignored.Interrupts": RECORDS,
    "rules.framing._problems.Told": TELLS,
    "rules.governance._bridges.Bridges": IDS,
    "rules.governance._decisions.Boundaries": IDS,
    "rules.governance._decisions.Decisions": IDS,
    "rules.governance._decisions.PolicyModes": STREAM,
    "rules.governance._hooks.Hooks": IDS,
    "rules.governance._questions.Questions": IDS,
    "rules.governance._rewrites.Rewrites": IDS,
    "rules.governance._work.Work": IDS,
    "rules.governance.guard_failed_open.OpenGuards": IDS,
    "rules.governance.open_failure_unwarned.OpenFailures": IDS,
    "rules.governance.question_says_too_little.Offers": IDS,
    "rules.governance.resumed_without_command.Answers": RECORDS,
    "rules.governance.sandbox_refusal_hidden.Violations": IDS,
    "rules.governance.waited_for_nobody.Modes": IDS,
    "rules.identity._parents.Identities": TELLS,
    "rules.identity._parents.Tasks": IDS,
    "rules.identity._peers.PeerTasks": IDS,
    "rules.identity._runtimes.Runtimes": STREAM,
    "rules.identity.shared_writes_untold.Writers": IDS,
    "rules.identity.thread_without_its_parent.Opened": IDS,
    "rules.identity.work_without_its_task.Served": TELLS,
    "rules.ordering._arrivals.Arrivals": STREAM,
    "rules.ordering._introduced.Introduced": RECORDS,
    "rules.ordering._reconnects.Acknowledgements": IDS,
    "rules.ordering.context_told_late.Requests": IDS,
    "rules.redaction._leaks.CredentialActions": IDS,
    "rules.redaction._leaks.Leaks": LINE,
    "rules.redaction._leaks.ResumeTokens": RECORDS,
    "rules.redaction.redacted_here_plain_there.Redactions": TELLS,
    "rules.reference._outputs.Outputs": HEARS,
    "rules.reference.call_says_too_little.Decided": IDS,
    "rules.reference.process_record_contradicts.ProcessLimits": IDS,
    "rules.reference.result_without_arguments.Arguments": IDS,
    "rules.reference.same_version_again.Versions": IDS,
    "rules.reference.silent_cut.Cuts": TELLS,
    "rules.reference.unsafe_overlap.CallFlags": IDS,
    "rules.routing._routes.Routes": HEARS,
    "rules.routing.cost_out_of_place.Costs": IDS,
    "rules.routing.limit_that_joins_nothing.Unjoined": IDS,
    "rules.routing.usage_does_not_add_up.Usage": IDS,
    "rules.routing.vendor_only_work.Vendors": TELLS,
    "rules.schema.version_not_named.Versions": TELLS,
    "rules.snapshot._claims.Claims": HEARS,
    "rules.snapshot._comparisons.Comparisons": LINE,
    "rules.snapshot.claim_out_of_reach.Ahead": RECORDS,
    "rules.snapshot.freshness_overstated.Shadows": STREAM,
    "rules.snapshot.old_fact_told_anew.Told": TELLS,
    "rules.snapshot.override_unexplained.Turns": IDS,
    "rules.snapshot.running_after_restart.Silent": RECORDS,
    "rules.terminal._criteria.Criteria": IDS,
    "rules.terminal._jobs.Jobs": IDS,
    "rules.terminal._results.Results": IDS,
    "rules.terminal._work.Attempts": IDS,
    "rules.terminal._work.Children": IDS,
    "rules.terminal._work.OpenWork": IDS,
    "rules.terminal.call_cut_off.Interrupts": IDS,
    "rules.terminal.call_never_ended.Orphans": IDS,
    "rules.terminal.cancelled_with_open_children.Wishes": IDS,
    "rules.terminal.completed_after_fatal_error.Fatal": IDS,
    "rules.terminal.dropped_by_compaction.Links": IDS,
    "rules.terminal.edge_to_nothing.Edges": IDS,
    "rules.terminal.failed_rollback_not_repaired.Failures": TELLS,
    "rules.terminal.process_outlives_owner.Retentions": IDS,
    "rules.terminal.removed_turn_works_on.Removed": IDS,
    "rules.terminal.silent_wait_of_a_child.Waits": IDS,
    "rules.terminal.work_before_submission.Early": IDS,
    "rules.terminal.work_before_submission.Served": IDS,
    "rules.unknown._restarts.Restarts": RECORDS,
    "rules.unknown.incident_mistold.Incidents": IDS,
    "rules.unknown.uncounted_zero.Spoken": IDS,
}
"""Every ledger of the core, and why judges of different sessions know as much as they have to."""

ASKED = {
    "command/_commands.py": "commands alone ask for the highest sequence",
    "command/queue_miscounted.py": "makes the world mingled",
    "command/queue_policy_ignored.py": "commands alone ask for all queues",
    "command/unknown_subject_accepted.py": "commands alone ask for the types that were seen",
    "governance/blocked_call_ran.py": "of all hooks those of one call",
    "governance/stop_overruled.py": "of all hooks those of one turn",
    "reference/export_beyond_the_stream.py": "answers alone ask for the highest sequence and the last line",
    "routing/request_without_a_route.py": "the type is overheard",
    "routing/usage_does_not_add_up.py": "of all requests those of one turn",
    "snapshot/_claims.py": "the last event is the one at hand",
    "terminal/complete_capture_with_open_work.py": "everybody tells its own",
    "terminal/completed_with_running_attempt.py": "the type is overheard",
    "_silence.py": "restarts alone ask for what is open and what was lost",
}
"""Modules that ask the world about more than some ids, and why that is no matter."""
_WIDE = re.compile(
    r"observed_types|\.last_event\b|last_session|last_line|\.losses|order\.highest|open_work\(|open_subjects"
    r"|subjects\([^()]*\)\.(?:values|items|keys)|world\.(?:unproved|lost|midway)\(\)"
)
HARMLESS = {
    **dict.fromkeys(("runtime_id", "trace_id", "span_id"), "nothing is looked up by them"),
    **dict.fromkeys(("command_id", "conversation_id", "decided_event_id", "event_ids"), "of records and dialects"),
    **dict.fromkeys(("required_event_id", "retry_event_id", "resume_token_ref"), "of records and dialects"),
    "event_id": "compared as such",
    **dict.fromkeys(("message_id", "workspace_id", "account_ref", "env_ref", "rule_refs", "policy_ref"), "of a line"),
    **dict.fromkeys(("input_ref", "read_ref", "preview_ref", "summary_ref", "continuation_ref"), "of a line"),
    **dict.fromkeys(("replacement_history_ref", "structured_content_ref", "request_ref"), "of a line"),
    **dict.fromkeys(("artifact_refs", "image_refs", "evidence_ref", "evidence_refs"), "of a line"),
    **dict.fromkeys(("args_ref", "updated_input_ref", "modified_input_ref", "violation_ref"), "compared within a call"),
    **dict.fromkeys(("pack_ref", "trace_ref", "replay_ref", "review_ref"), "compared within a thread"),
    "preserved_evidence_refs": "compared within a thread",
    "version_id": "compared within an artifact",
    "remote_context_id": "compared within a peer task",
    "lost_worker_ids": "compared within a document",
}
"""Ids and references that rules read and nothing is looked up by across sessions."""


def sources():
    root = Path(rules.__file__).parent
    dialects = {"agenthub", "runagents", "agent_threads"}
    paths = (path for path in sorted(root.glob("**/*.py")) if not dialects.intersection(path.relative_to(root).parts))
    return [(path.relative_to(root).as_posix(), path.read_text()) for path in paths]


def ledgers():
    active = tuple(rule for rule in load_rules(PROTOCOL).values() if PROTOCOL in rule.clauses)
    found = compile_rules(load_protocol(PROTOCOL), active).ledgers
    return {f"{kind.__module__}.{kind.__qualname__}".removeprefix("validator."): kind for kind in found}


def test_every_ledger_says_why_sessions_can_be_judged_apart():
    assert sorted(ledgers()) == sorted(LEDGERS)


@pytest.mark.parametrize("name", sorted(LEDGERS))
def test_who_hears_of_other_sessions_is_listed(name):
    kind, why = ledgers()[name], LEDGERS[name]
    assert (hasattr(kind, "tell"), hasattr(kind, "hear")) == (why == TELLS, why == TELLS)
    assert (hasattr(kind, "overhear"), hasattr(kind, "overhears")) == (why == HEARS, why == HEARS)


def test_what_is_asked_about_all_sessions_is_listed():
    assert {name for name, text in sources() if _WIDE.search(text)} == set(ASKED)


def test_every_id_that_a_rule_reads_is_compared_or_known_to_be_harmless():
    read = {name for _, text in sources() for name in re.findall(r'"([a-z][a-z_]*_(?:id|ref)s?)"', text)}
    assert {name for name in read if not is_name(name)} == {name for name in HARMLESS if name in read}
    assert not [name for name in HARMLESS if is_name(name)]
    identities = load_protocol(PROTOCOL).identities
    assert {name for name in identities if not is_name(name)} == SILENT
    assert all(map(is_name, NAMED))


# What sessions have in common.


def event(kind, session, number, payload=None, **more):
    head = {"type": kind, "event_id": f"{session}-{number}", "timestamp": f"2026-05-08T09:00:{number:02d}Z"}
    return {**head, "sequence": number, "session_id": session, **more, "payload": payload or {}}


def session(name, *events):
    """A session that begins as it has to, and goes on with some events."""
    told = [event("session.created", name, 1, {"title": "t", "workspace_id": "ws"})]
    return told + [event(kind, name, place, payload, **ids) for place, (kind, payload, ids) in enumerate(events, 2)]


def in_turn(*stories):
    """One line of each in turn."""
    longest = max(map(len, stories))
    return [story[place] for place in range(longest) for story in stories if place < len(story)]


def agree(events, count=2, expected=True, options=None):
    raw = written(events)
    found = apart(raw, count, options)
    assert (found is not None) is expected
    if found is not None:
        assert repr(found) == repr(together(raw, options))
    return found


QUIET = session("b", ("run.status", {"phase": "working"}, {"turn_id": "tb"}))
MODEL = {"provider": "acme", "model": "m"}
TURN = ("turn.submitted", {"input_ref": "input://1", "source": "workspace", "status": "accepted"})


def asks(name):
    """A turn that asks a model."""
    ids = {"thread_id": f"t{name}", "turn_id": f"u{name}"}
    return [(*TURN, ids), ("turn.started", {}, ids), ("model.requested", MODEL, ids)]


@pytest.mark.parametrize(
    "first",
    [
        ("output.spilled", {"output_ref": "o", "budget_bytes": 3, "owner": "tool", "owner_id": "c"}, {}),
        ("routing.candidates.resolved", {"candidate_count": 0, "candidates": []}, {"turn_id": "ta"}),
        ("quota.blocked", {"retryable": False}, {"turn_id": "ta"}),
        ("limit.changed", {}, {}),
        ("history.rollback.completed", {"removed_turn_ids": ["x"]}, {"thread_id": "ta"}),
    ],
)
def test_what_one_session_tells_for_all_is_overheard(first):
    blocked = ("quota.blocked", {"retryable": False}, {"thread_id": "tb", "turn_id": "ub"})
    text = ("process.output", {"stream": "stdout", "text": "long text"}, {"process_id": "p"})
    other = session("b", asks("b")[0], blocked, asks("b")[2], text)
    assert agree(in_turn(session("a", first, first), other)).findings


def test_an_event_that_comes_again_is_overheard_once():
    blocked = ("quota.blocked", {"retryable": False}, {"thread_id": "tb", "turn_id": "ub"})
    one, other = session("a", ("limit.changed", {}, {})), session("b", asks("b")[0], blocked, asks("b")[2])
    agree([*one, *other[:3], one[-1], *other[3:]])
    agree([*one, *other[:3], {**one[-1], "event_id": "new", "sequence": 3}, *other[3:]])


def test_turns_that_were_queued_long_ago_are_let_go_of_at_the_same_lines(monkeypatch):
    monkeypatch.setattr("validator.replay.world.RECENT", 12)

    def queued(name, count):
        told = []
        for number in range(count):
            ids = {"thread_id": f"t{name}", "turn_id": f"u{name}{number}"}
            added = {"operation": "added", "queued_turn_id": ids["turn_id"], "position": 0}
            told += [("turn.submitted", {**TURN[1], "status": "queued"}, ids)]
            told += [("queue.changed", added, {"thread_id": f"t{name}"})]
            told += [("queue.changed", {**added, "operation": "started"}, {"thread_id": f"t{name}"})]
            told += [("turn.started", {}, ids), ("turn.completed", {}, ids)]
        return session(name, *told)

    for events in (in_turn(queued("a", 9), queued("b", 7)), [*queued("a", 3), *queued("b", 5), *queued("c", 4)]):
        assert agree(events).looks["CMD016"]
        assert agree(events, 3)
    again = queued("a", 2)
    again.append({**again[1], "event_id": "again", "sequence": len(again) + 1})
    agree(in_turn(again, queued("b", 1)), expected=False)


def test_what_is_reported_once_per_capture_is_not_judged_apart_when_two_would_report_it():
    def half_told(name):
        work = ("tool.started", {"tool_name": "t"}, {"thread_id": f"t{name}", "tool_call_id": f"c{name}"})
        return session(name, *asks(name), work)

    one = in_turn(half_told("a"), session("b", *asks("b")))
    assert any(found.rule == "IDN004" for found in agree(one).findings)
    agree(in_turn(half_told("a"), half_told("b")), expected=False)


def test_versions_are_named_by_all_or_by_none():
    one, other = session("a", *asks("a")), session("b", *asks("b"))
    named = [{**entry, "schema_version": "0.3"} for entry in one]
    agree(in_turn(one, other))
    agree(in_turn(named, [{**entry, "schema_version": "0.2"} for entry in other]))
    agree(in_turn(named, other), expected=False)
    agree(in_turn([one[0], *named[1:]], [{**entry, "schema_version": "0.3"} for entry in other]), expected=False)


def test_what_is_looked_at_once_for_the_capture_is_counted_once():
    def cut(name):
        ids = {"thread_id": f"t{name}", "turn_id": f"u{name}", "process_id": f"p{name}"}
        short = ("process.output", {"stream": "stdout", "text": "ab", "size_bytes": 9}, ids)
        vendor = ("acme.note", {}, {"thread_id": f"t{name}", "turn_id": f"u{name}"})
        return session(name, *asks(name), short, vendor)

    found = agree(in_turn(cut("a"), cut("b")))
    assert {"REF006", "RTE012"} <= found.looks.keys()


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("story", sorted(path.stem for path in GOLDEN.glob("*.ndjson")))
def test_a_story_beside_others_is_judged_as_by_one(story, count):
    import random

    events, other = events_of(GOLDEN / f"{story}.ndjson"), events_of(GOLDEN / "happy-path.ndjson")
    told = interleaved([told_again(events, "~1"), told_again(events, "~2"), told_again(other, "~3")], random.Random(1))
    raw = written([HEADER, *told])
    found = apart(raw, count)
    assert found is None or repr(found) == repr(together(raw))


@pytest.mark.parametrize(
    "line",
    [
        b'{"cut',
        b"",
        b"[1]",
        b'{"record":"restart","timestamp":"2026-05-08T09:00:00Z"}',
        b'{"record":"header","capture":"1","session_id":"a"}',
        b'{"type":"session.updated","event_id":"n","timestamp":"2026-05-08T09:00:00Z"}',
        b'{"type":"session.updated","event_id":"n","session_id":null}',
        b'{"type":"session.updated","event_id":"n","session_id":""}',
        b'{"type":"session.updated","event_id":"n","session_id":"a\\u0062"}',
        b'{"type":"session.updated","event_id":"n","session_id":"\xff"}',
        b'{"type":"session.updated","event_id":"n","session_id":"a","session_id":"b"}',
        b'{"payload":{"session_id":"a"},"type":"session.updated","event_id":"n","session_id":"b"}',
        b'{"payload":{"type":"x"},"type":"session.updated","event_id":"n","session_id":"a"}',
        b'{"payload":{"type":"x"},"type":"session.updated","event_id":"n","session_id":"b"}',
        b'{"event_id":"n","session_id":"a"}',
        b'{"event_id":"n","session_id":"b"}',
        b'{"type":"session.updated","eventId":"n","session_id":"a","sequence":9}',
        b'{"type":"action.required","event_id":"n","session_id":"a","payload":{}}',
        b'{"type":"model.delta","event_id":"n","session_id":"b","payload":{}}',
        b'{"type":"output.spilled","event_id":"n","session_id":"a",}',
        b'{"type":"thread.started","event_id":"n","session_id":"a","thread_id":"b"}',
        b'{"type":"thread.started","event_id":"n","session_id":"a","thread_id":"turn"}',
        b'{"type":"acme.note","event_id":"b-1","session_id":"a"}',
        b'{"type":"acme.note","event_id":"n","session_id":"a","payload":{"parent_turn_ids":["b"]}}',
    ],
)
def test_what_concerns_all_sessions_is_not_judged_apart(line):
    raw = written(in_turn(session("a"), QUIET))
    assert apart(raw, 2) is not None
    assert apart(raw + line + b"\n", 2) is None


def test_ids_that_sessions_share_by_nature_do_not_join_them():
    shared = {"runtime_id": "rt", "trace_id": "tr", "span_id": "sp"}
    agree([{**entry, **shared} for entry in in_turn(session("a", *asks("a")), session("b", *asks("b")))])


@pytest.mark.parametrize("written_as", [b'"session_id": "', b'"session_id":\t"'])
def test_how_a_session_is_spelt_does_not_matter(written_as):
    raw = written(in_turn(session("a", *asks("a")), session("b", *asks("b"))))
    half = len(raw) // 2
    raw = raw[:half] + raw[half:].replace(b'"session_id":"', written_as)
    assert repr(apart(raw, 2)) == repr(together(raw))


def test_a_last_line_may_be_cut_or_lack_its_line_feed():
    raw = written(in_turn(session("a", *asks("a")), session("b", *asks("b"))))
    for end in (-1, -2, -30):
        assert repr(apart(raw[:end], 2)) == repr(together(raw[:end]))


def test_only_so_many_findings_are_kept_and_they_are_the_first():
    def back(name):
        told = session(name, *[("run.status", {"phase": "working"}, {"turn_id": f"u{name}"})] * 9)
        return [{**entry, "timestamp": f"2026-05-08T09:00:{59 - place:02d}Z"} for place, entry in enumerate(told)]

    events = in_turn(back("a"), back("b"))
    assert agree(events, options=Options(max_findings_per_rule=3)).counts["ORD008"] == 18

    complete = [{**HEADER, "completeness": "complete"}, *in_turn(session("a", *asks("a")), session("b", *asks("b")))]
    assert agree(complete, options=Options(max_findings_per_rule=4)).counts["TRM027"] == 4
    agree(complete, expected=False, options=Options(max_findings_per_rule=3))


def test_other_protocols_and_chosen_lines_are_not_judged_apart():
    raw = written(in_turn(session("a"), QUIET))
    assert apart(raw, 2, Options(lines=frozenset({1}))) is None
    assert apart(raw, 2, Options(protocol="agenthub")) is None
    assert apart(b"", 2) is None


def test_a_rule_that_fails_in_itself_is_not_judged_apart():
    rule = load_rules(PROTOCOL)["ORD004"]
    check = rule.check

    def fails(step, world, context):
        raise ZeroDivisionError

    object.__setattr__(rule, "check", fails)
    try:
        agree(in_turn(session("a"), QUIET), expected=False)
        agree([{**HEADER}, *in_turn(session("a"), QUIET)], expected=False)
    finally:
        object.__setattr__(rule, "check", check)


# Files and processes.


@pytest.fixture
def large(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "LARGE", 1)

    def make(events, end=b""):
        path = tmp_path / "many.ndjson"
        path.write_bytes(written(events) + end)
        return path

    return make


@pytest.mark.parametrize("jobs", [2, 3])
def test_processes_judge_sessions_apart(large, monkeypatch, jobs):
    monkeypatch.setattr(dividing, "in_shares", None)
    events = events_of(GOLDEN / "happy-path.ndjson")
    path = large(in_turn(*(told_again(events, f"~{name}") for name in range(4))))
    whole = judging.judge([str(path)], Options()).reports
    heard = []
    assert judging.judge([str(path)], Options(), jobs, heard.append).reports == whole
    assert sum(heard) == path.stat().st_size


@pytest.mark.parametrize("end", [b'{"cut\n', b'{"type":"acme.note","event_id":"b-1","session_id":"a"}\n'])
def test_what_cannot_be_judged_apart_is_judged_in_another_way(large, end):
    path = large(in_turn(session("a", *asks("a")), session("b", *asks("b"))), end)
    assert is_promising(str(path))
    whole = judging.judge([str(path)], Options()).reports
    heard = []
    assert judging.judge([str(path)], Options(), 2, heard.append).reports == whole
    assert sum(heard) == path.stat().st_size


def test_who_is_left_in_the_middle_ends_without_a_word(large, monkeypatch):
    monkeypatch.setattr(dividing, "work_for_a_parent", lambda stop: monkeypatch.setattr(stopping, "_stop", stop))
    path = large(in_turn(session("a", *asks("a")), session("b", *asks("b"))))
    (parent, other), (spare, _) = multiprocessing.Pipe(), multiprocessing.Pipe()
    stop, work = threading.Event(), dividing._judge_sessions
    arguments = (work, str(path), Options(), (1, 2), stop, spare, other)
    judge = threading.Thread(target=dividing._join, args=arguments, daemon=True)
    judge.start()
    assert parent.poll(60)
    parent.close()  # with what was sent unread, so that the other end is reset
    judge.join(60)
    assert stop.is_set()


def test_a_file_is_looked_at_before_it_is_divided(large, tmp_path):
    one, other = session("a", *asks("a")), session("b", *asks("b"))
    assert is_promising(str(large([HEADER, *one, *other])))
    assert not is_promising(str(large([*one, *one, *one, *other])))
    assert not is_promising(str(large([*one, {"record": "restart"}, *other])))
    assert not is_promising(str(large([])))
    joint = {**other[-1], "payload": {"output_ref": "out-1"}}
    assert is_promising(str(large([*one, *other[:-1], joint])))
    assert not is_promising(str(large([*one, {**one[-1], "payload": {"output_ref": "out-1"}}, *other[:-1], joint])))
    deep = b'{"session_id":"c","x":' + b"[" * 900 + b"]" * 900 + b"}\n"
    assert is_promising(str(large([*one, *other], b'{"cut\n[]\n' + deep)))
    cut = tmp_path / "cut.ndjson.gz"
    cut.write_bytes(gzip.compress(written(one))[:-20])
    assert not is_promising(str(cut))
    assert json.loads(large([HEADER]).read_text()) == HEADER


# The parts.


def test_much_is_kept_as_digests(monkeypatch):
    monkeypatch.setattr("validator.apart._UNSORTED", 3)
    agree(in_turn(session("a", *asks("a")), session("b", *asks("b"))))
    agree(in_turn(session("a", *asks("a")), session("b", *asks("a"))), expected=False)


def test_a_judge_stops_when_another_has_found_that_it_is_in_vain():
    reader = Reader("x", Options(), 0, 2, lambda: True)
    with pytest.raises(InseparableError):
        reader.feed(b"{}\n")


@pytest.mark.parametrize("sign", [b'"\xff"', b'"\\u0061"', b'""', b"7"])
def test_a_session_whose_name_the_bytes_do_not_tell_is_not_judged_apart(sign):
    reader = Reader("x", Options(), 0, 2)
    with pytest.raises(InseparableError):
        reader.feed(written(session("a")) + b'{"type":"acme.note","session_id":' + sign + b"}\n")


def test_subjects_without_a_place_and_a_loss_do_not_go_together():
    def seal(lost, placeless):
        return Seal(b"", b"", (lost, False), {}, False, placeless)

    core = load_protocol(PROTOCOL)
    assert judges_agree([seal(None, True), seal(None, False)], core)
    assert judges_agree([seal(7, False), seal(None, False)], core)
    assert not judges_agree([seal(None, True), seal(7, False)], core)


def test_a_finding_that_two_judges_make_at_one_place_is_made_by_one_judge_of_all():
    found = Finding(1, "this", "that", rule="TRM001")
    verdicts = [Verdict(Part(findings=[found]), [1], 1, {}, [], True) for _ in range(2)]
    with pytest.raises(InseparableError):
        merged(verdicts, 100)


def test_a_session_that_was_given_up_takes_no_room(monkeypatch):
    monkeypatch.setattr("validator.replay.readmodels.agent_runtime.recall.TAKEN", 1)
    world = World(load_protocol(PROTOCOL), [Replay])
    replay = world.ledger(Replay)
    for name in ("a", "b", "a", None, "b"):
        replay.pass_by(name)
    assert (replay.is_gone("a"), replay.is_gone("b")) == (True, True)
