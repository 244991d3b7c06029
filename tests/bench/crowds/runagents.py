"""Streams of RunAgents in which there is very much of one thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.bench.crowds.written import CREATED, Event, header, snapshot, unknown

_ENDED = "2026-03-02T14:00:02.000Z"


def _logged(sequence: int, kind: str, told: Event | None = None, **more: object) -> Event:
    head = {"event_id": f"e{sequence}", "run_id": "r", "seq": sequence, "type": kind, "timestamp": CREATED}
    return {**head, "actor": "a", **({"data": told} if told else {}), **more}


def views_of_a_long_log(events: int) -> Iterator[Event]:
    """A run of RunAgents whose view is served after every event, without its history."""
    yield header("runagents")
    yield _logged(1, "RUN_CREATED")
    absent = {"honest": "unknown", "reason": "Too long to tell."}
    names = ("agent_id", "user_id", "conversation_id", "initial_message", "created_at", "updated_at", "last_event")
    empty = dict.fromkeys(("ended_at", "ended_by", "reason", "last_error", "blocked_action_id", "pending_consent"))
    told = {"run_id": "r", "status": "RUNNING", **empty, **dict.fromkeys((*names, "events"), absent)}
    for number in range(2, events // 2):
        yield _logged(number, "AGENT_MESSAGE", {"content": "still at it"})
        yield snapshot("run_view", {**told, "action_ids": [], "vocabulary": "api"})


def records_beside_blocked_actions(events: int) -> Iterator[Event]:
    """A run whose record names another action than the one that is blocked, and actions of other runs."""
    yield header("runagents")
    for number in range(events // 2):
        told = {"action_id": f"a{number}", "run_id": f"r{number}", "tool_id": "mail", "status": "BLOCKED"}
        yield snapshot("blocked_action", {**told, "created_at": CREATED, "updated_at": CREATED})
    origin = {"id": "r", "agent_id": "a", "user_id": "u", "created_at": CREATED, "updated_at": _ENDED}
    for _ in range(events // 2):
        yield {"record": "run", **origin, "status": "PAUSED_APPROVAL", "blocked_action_id": "b"}


def _view(**told: object) -> Event:
    """A view that tells little."""
    absent = {"honest": "unknown", "reason": "-"}
    known = ("agent_id", "user_id", "created_at", "updated_at", "last_error", "reason")
    none = ("ended_at", "ended_by", "blocked_action_id", "pending_consent", "conversation_id", "initial_message")
    document = {"run_id": "r", "status": "unknown", **dict.fromkeys(known, absent), **dict.fromkeys(none)}
    lists = {"action_ids": [], "last_event": None, "events": []}
    return snapshot("run_view", {**document, **lists, "vocabulary": "api", **told})


def _entry(sequence: int) -> Event:
    told = {"event_id": f"e{sequence}", "seq": sequence, "type": "AGENT_MESSAGE", "timestamp": CREATED, "actor": "a"}
    return {**told, "action_id": None, "payload_hash": None}


def views_of_one_event(events: int) -> Iterator[Event]:
    """A run of RunAgents whose view is served after every event, with the last event alone."""
    yield header("runagents")
    yield _logged(1, "RUN_CREATED")
    for number in range(2, events // 2):
        yield _logged(number, "AGENT_MESSAGE", {"content": "still at it"})
        yield _view(events=[_entry(number)])


def views_without_events(events: int) -> Iterator[Event]:
    """The same with entries that say nothing."""
    yield header("runagents")
    yield _logged(1, "RUN_CREATED")
    for number in range(2, events // 2):
        yield _logged(number, "AGENT_MESSAGE", {"content": "still at it"})
        yield _view(events=[{**_entry(number), "event_id": unknown("Nobody knows.")}])


def late_events_beside_views(events: int) -> Iterator[Event]:
    """A run whose second half is logged before its first, with a view after every event."""
    yield header("runagents")
    yield _logged(1, "RUN_CREATED")
    for number in range(events // 2, events * 3 // 4):
        yield _logged(number, "AGENT_MESSAGE", {"content": "still at it"})
    for number in range(2, events // 4):
        yield _logged(number, "AGENT_MESSAGE", {"content": "still at it"})
        yield _view()


def errors_beside_views(events: int) -> Iterator[Event]:
    """A run of many errors that nobody describes, with a view after each."""
    yield header("runagents")
    yield _logged(1, "RUN_CREATED")
    for number in range(2, events // 2):
        yield _logged(number, "ERROR")
        yield _view()


def views_of_a_failed_run(events: int) -> Iterator[Event]:
    """A run that failed after a long log, and many views of it."""
    yield header("runagents")
    yield _logged(1, "RUN_CREATED")
    for number in range(2, events // 2):
        yield _logged(number, "AGENT_MESSAGE", {"content": "still at it"})
    yield _logged(events // 2, "FAILED")
    for _ in range(events // 2):
        yield _view()


def _blocked(number: int) -> Event:
    data = {"action_id": f"a{number}", "tool_id": "mail", "capability": "send"}
    return _logged(number, "APPROVAL_REQUIRED", data)


def views_beside_actions(events: int) -> Iterator[Event]:
    """A run with many actions, each decided before the next, and a view after each, without them."""
    yield header("runagents")
    yield _logged(1, "RUN_CREATED")
    for number in range(2, events // 3):
        told = {"action_id": f"a{number}", "run_id": "r", "tool_id": "mail", "status": "REJECTED"}
        yield snapshot("blocked_action", {**told, "created_at": CREATED, "updated_at": CREATED})
        yield _logged(number, "AGENT_MESSAGE", {"content": "still at it"})
        yield _view()


def short_exports(events: int) -> Iterator[Event]:
    """A run with a long log, and an export after each event that holds the last one alone."""
    yield header("runagents")
    yield _logged(1, "RUN_CREATED")
    origin = {"id": "r", "agent_id": "a", "user_id": "u", "created_at": CREATED, "updated_at": _ENDED}
    for number in range(2, events // 2):
        event = _logged(number, "AGENT_MESSAGE", {"content": "still at it"})
        yield event
        run = {**origin, "status": "RUNNING"}
        yield snapshot("audit_export", {"run": run, "actions": [], "approval_requests": [], "events": [event]})


def waiting_actions(events: int) -> Iterator[Event]:
    """Actions of one run that are blocked, none of them decided, while its record names yet another."""
    yield header("runagents")
    yield _logged(1, "RUN_CREATED")
    origin = {"id": "r", "agent_id": "a", "user_id": "u", "created_at": CREATED, "updated_at": _ENDED}
    for number in range(2, events // 2):
        yield _logged(number, "APPROVAL_REQUIRED", {"action_id": f"a{number}", "tool_id": "mail"})
        yield {"record": "run", **origin, "status": "PAUSED_APPROVAL", "blocked_action_id": "b"}


CROWDS: dict[str, Callable[[int], Iterator[Event]]] = {
    "views of a long log": views_of_a_long_log,
    "records beside blocked actions": records_beside_blocked_actions,
    "actions that wait at once": waiting_actions,
    "views of one event of a long log": views_of_one_event,
    "views of a nameless event of a long log": views_without_events,
    "late events beside views": late_events_beside_views,
    "errors beside views": errors_beside_views,
    "views of a failed run": views_of_a_failed_run,
    "views beside actions": views_beside_actions,
    "short exports of a long log": short_exports,
}
"""By what there is much of."""
