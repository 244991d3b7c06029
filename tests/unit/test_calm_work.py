"""Work that nothing on record forbids is judged the same whether its rules are asked about it or not."""

import io
import itertools
import json

import pytest

from validator.engine import Options, validate
from validator.replay.world import World
from validator.rules.terminal._work import OpenWork

IDS = {"session_id": "s", "thread_id": "h", "turn_id": "t"}
WHY = {"decision": "allow", "decision_source": "rule", "decision_reason": "listed", "rule_refs": ["r1"]}
DECISIONS = (
    None,
    WHY,
    {**WHY, "decision": "deny"},
    {**WHY, "decision": "ask"},
    {**WHY, "decision": "sandboxed"},
    {**WHY, "rule_refs": None},
    {**WHY, "decision_reason": None},
    {**WHY, "expires_at": "2026-05-08T09:00:00Z"},
    {**WHY, "mode": "plan"},
    {**WHY, "mode": "auto"},
    {**WHY, "mode": "never", "decision": "ask"},
    {**WHY, "destructive": True, "impact_scope": "all", "rollback_advice": "none"},
)
CATALOGUES = (
    None,
    {"tools": [{"tool_name": "shell", "policy": "allow", "is_destructive": False}]},
    {"tools": [{"tool_name": "shell", "policy": "ask"}]},
    {"tools": [{"tool_name": "shell", "is_destructive": True}]},
    {"tools": [{"tool_name": "shell", "capabilities": ["read"]}], "mode": "bypass"},
    {},
)
HOOKS = (None, "continue", "block", "")
"""What a hook before the use says; nothing yet where it runs on."""
BOUNDARIES = (None, IDS, {})
CALLS = (
    {"tool_name": "shell"},
    {"tool_name": "shell", "is_read_only": True, "is_destructive": False, "is_concurrency_safe": True},
    {"tool_name": "read", "permission_ref": "p1", "safe_args": {}},
    {"tool_name": "shell", "approval_action_id": "a1", "channel_id": "x"},
)


def stream(decision, catalogue, hook, boundary, call, gap):
    """Three calls of a turn, each with a process, that all go the same way."""
    told = [
        ("session.created", {"session_id": "s"}, {}),
        ("turn.submitted", IDS, {"input_ref": "input://1", "source": "user"}),
        ("policy.changed", {"session_id": "s"}, {"mode": "auto", "policy_scope": "session", "changed_by": "u"}),
        ("tool.started", {**IDS, "tool_call_id": "nameless"}, {"is_read_only": False}),
    ]
    if catalogue is not None:
        told.append(("tool.catalog.resolved", IDS, catalogue))
    if boundary is not None:
        told.append(("sandbox.applied", boundary, {"mode": "workspace_write", "cwd": "."}))
    for name in ("c1", "c2", "c3"):
        ids = {**IDS, "tool_call_id": name}
        channel = {"channel_id": call["channel_id"]} if "channel_id" in call else {}
        told.append(("tool.started", {**ids, **channel}, call))
        if decision is not None:
            told.append(("permission.evaluated", ids, decision))
        if hook is not None:
            told.append(("hook.started", {**ids, "hook_run_id": f"k{name}"}, {"hook_point": "pre_tool_use"}))
        if hook:
            told.append(("hook.completed", {**ids, "hook_run_id": f"k{name}"}, {"decision": hook}))
        if gap:
            told.append((None, {}, {}))
        process = {**ids, "process_id": f"p{name}"}
        told += [
            ("tool.progress", ids, {"message": "half"}),
            ("sandbox.violation", ids, {"violation_ref": "v1"}),
            ("tool.progress", ids, {"message": "more"}),
            ("process.started", process, {"cwd": "src", "permission_ref": "p1", "limits": {"stdin": True}}),
            ("process.output", process, {"stream": "stdout", "text": "x", "offset": 0, "size_bytes": 9}),
            ("process.output", process, {"text": "x", "offset": 1, "drained": True}),
            ("process.input", process, {}),
            ("process.completed", process, {"exit_code": 0}),
            ("tool.result", ids, {"preview": "x", "size_bytes": 9, "output_ref": "output://1"}),
            ("tool.result", {**IDS, "tool_call_id": f"other {name}"}, "no payload"),
        ]
    told.append(("turn.completed", IDS, {"usage": {"input_tokens": 3}}))
    lines = [
        json.dumps({"type": kind, "event_id": f"e{number}", "sequence": number, **ids, "payload": payload})
        for number, (kind, ids, payload) in enumerate(told, 1)
        if kind
    ]
    return "\n".join((*lines, json.dumps({"record": "restart"}))).encode() + b"\n"


EVERY = list(itertools.product(DECISIONS, CATALOGUES, HOOKS, BOUNDARIES, CALLS, (False, True)))


def test_what_is_not_asked_about_is_judged_as_if_it_were(monkeypatch):
    found = set()
    for wishes in EVERY[::97]:  # a prime, so that every wish meets many others
        raw, reports = stream(*wishes), []
        for mode in ("off", "on"):
            monkeypatch.setenv("RUNTIME_VALIDATE_FAST", mode)
            reports.append(repr(validate(io.BytesIO(raw), "x", Options(protocol="agent-runtime", expect="prefix"))))
        assert reports[0] == reports[1], wishes
        found.add(reports[0])
    assert len(found) > 40


def test_open_work_is_found_by_the_identities_that_it_is_filed_under(core):
    work = OpenWork(World(core))
    assert list(work.of("turn", "thread_id", "h")) == []
    with pytest.raises(KeyError):
        list(work.of("turn", "session_id", "s"))
