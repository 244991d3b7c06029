"""Scripted tool calls, with their hooks, permission, sandbox, process and output."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reference_runtime.work.plan import Op, Planner, step

GRANTED = ["approved", "modified", "answered"]
REFUSED = ["denied", "timed_out", "cancelled"]
_DECISIONS = {
    "allowed": "allow",
    "ask": "ask",
    "denied": "deny",
    "sandboxed": "sandboxed",
    "unavailable": "unavailable",
}


@dataclass(slots=True)
class Call:
    """One call on its way into a plan."""

    planner: Planner
    said: dict[str, Any]
    tool: dict[str, Any]
    id: str
    ids: dict[str, Any]
    digest: str
    when: list[Any] | None = None

    def fact(self, event: str, payload: dict[str, Any] | None = None, **ids: Any) -> Op:
        return self.planner.fact(event, payload, self.when, **{**self.ids, **ids})


@step("tool")
def tool(planner: Planner, said: Any) -> Iterator[Op]:
    """One call from its hook to its end."""
    entry = planner.settings.tool(said["name"]) or {"tool_name": said["name"], "policy": "ask"}
    identity = planner.new("call")
    digest = hashlib.sha256(json.dumps([said["name"], said.get("args", {})], sort_keys=True).encode()).hexdigest()
    ids = {"tool_call_id": identity, "step_id": planner.new("step")}
    call = Call(planner, said, entry, identity, ids, f"sha256:{digest}")
    if "hook" in said and (yield from _hook(call, "pre_tool_use", said["hook"])):
        yield _started(call, None)
        yield _failed(call, "denied", "hook", "A hook blocked the call.")
        return
    decision = said.get("decision", _DECISIONS[entry["policy"]])
    yield from _PATHS[decision](call)
    if "post_hook" in said:
        call.when = None
        yield from _hook(call, said["post_hook"].get("point", "post_tool_use"), said["post_hook"])


def _hook(call: Call, point: str, said: dict[str, Any]) -> Iterator[Op]:
    """One hook run; returns True when it stops the call."""
    ids = {"hook_run_id": call.planner.new("hook")}
    begun = {"hook_point": point, "handler_ref": said.get("handler", "hook://guard"), "timeout_ms": 5000}
    yield call.fact("hook.started", {**begun, "preview": call.said["name"]}, **ids)
    if "fail" in said:
        error = {"category": "hook", "message": "The hook crashed.", "retryable": False}
        ended = {"hook_point": point, "error": error, "failure_behavior": said["fail"], "duration_ms": 5}
        yield call.fact("hook.failed", ended, **ids)
        if said["fail"] == "fail_open":
            warning = {"code": "hook_failed_open", "message": "A hook failed; work went on without it."}
            yield call.fact("runtime.warning", warning, **ids)
        return said["fail"] == "fail_closed"
    answer = {"hook_point": point, "decision": "continue", "duration_ms": 3, **said.get("answer", {})}
    yield call.fact("hook.completed", answer, **ids)
    return answer["decision"] in {"block", "deny"}


def _evaluated(call: Call, decision: str, **more: Any) -> Op:
    destructive = bool(call.tool.get("is_destructive"))
    said = {
        "decision": decision,
        "decision_source": "rule",
        "decision_reason": f"The catalogue says {call.tool['policy']}.",
        "rule_refs": ["rule://catalogue"],
        "mode": call.planner.settings.mode,
        "scope": "once",
        "target_kind": "tool",
        "destructive": destructive,
    }
    touched = {"impact_scope": "the workspace", "rollback_advice": "Restore the last commit."} if destructive else {}
    return call.fact("permission.evaluated", {**said, **touched, **call.said.get("permission", {}), **more})


def _started(call: Call, action: str | None) -> Op:
    flags = {name: call.tool.get(name) for name in ("is_read_only", "is_destructive", "is_concurrency_safe")}
    said = {"tool_name": call.said["name"], "safe_args": call.said.get("args", {}), "policy": call.tool["policy"]}
    return call.fact("tool.started", {**said, **flags, "approval_action_id": action, "payload_hash": call.digest})


def _failed(call: Call, status: str, category: str, message: str) -> Op:
    error = {"category": category, "message": message, "retryable": status in {"failed", "timed_out"}}
    error["recovery"] = "Ask for the permission." if status == "denied" else "Try again."
    return call.fact("tool.failed", {"status": status, "error": error, "reason": message})


def _allowed(call: Call) -> Iterator[Op]:
    yield _evaluated(call, call.said.get("decision", "allow"))
    yield _started(call, None)
    yield from _run(call)


def _asked(call: Call) -> Iterator[Op]:
    """Stops for a person: the call waits, and goes on only when it was granted."""
    action = call.planner.new("action")
    yield _evaluated(call, "ask", approval_action_id=action)
    yield _started(call, action)
    request = {
        "approval_action_id": action,
        "target_kind": "tool",
        "mode": call.planner.settings.mode,
        "interactive": True,
    }
    yield call.fact("permission.requested", request)
    question = {
        "action_type": "tool_permission",
        "title": "Run a tool",
        "prompt": f"May {call.said['name']} run?",
        "tool_name": call.said["name"],
        "decisions": ["approved", "denied"],
        "scope": {"reach": "once"},
        "policy": "ask",
        "payload_hash": call.digest,
        "preview": json.dumps(call.said.get("args", {})),
        **call.said.get("question", {}),
    }
    yield call.fact("action.required", question, action_id=action)
    yield from person(action, call.said.get("person"))
    yield {"wait": action}
    call.when = [action, GRANTED]
    yield from _run(call)
    call.when = [action, REFUSED]
    yield _failed(call, "denied", "permission", "The person did not allow it.")


def person(action: str, said: dict[str, Any] | None) -> Iterator[Op]:
    """A scripted person answers, after a while; one that is not scripted has to be played by the caller."""
    if said:
        yield {"delay": said.get("after", 1500)}
        answer = {name: value for name, value in said.items() if name != "after"}
        yield {"command": "respond_action", "request": {"action_id": action, "decided_by": "reviewer", **answer}}


def _denied(call: Call) -> Iterator[Op]:
    yield _evaluated(call, "deny")
    yield _started(call, None)
    yield _failed(call, "denied", "permission", "A rule denies the call.")


def _undecided(call: Call) -> Iterator[Op]:
    yield _evaluated(call, "unavailable")
    yield _started(call, None)
    yield _failed(call, "failed", "permission", "Nobody could decide about the call.")


_PATHS = {"allow": _allowed, "sandboxed": _allowed, "ask": _asked, "deny": _denied, "unavailable": _undecided}


def _run(call: Call) -> Iterator[Op]:
    """What happens once the call may run."""
    if not call.tool.get("is_read_only"):
        yield call.fact("sandbox.applied", _boundary(call))
    for args in call.said.get("late_args", ()):
        yield call.fact("tool.args", {"safe_args": args})
    if "process" in call.said:
        yield from _process(call, call.said["process"])
    for message in call.said.get("progress", ()):
        yield call.fact("tool.progress", {"message": message})
    if "delay" in call.said:
        yield {"delay": call.said["delay"]}
    if "fail" in call.said:
        failure = {"status": "failed", "category": "tool", "message": "The tool gave up.", **call.said["fail"]}
        if failure["category"] == "sandbox":
            yield call.fact("sandbox.violation", {"boundary": "filesystem", "target": "outside"})
        yield _failed(call, failure["status"], failure["category"], failure["message"])
        return
    yield from _result(call)


def _boundary(call: Call) -> dict[str, Any]:
    limits = {"timeout_ms": 60000, "max_output_bytes": 65536, "max_processes": 4, "tty": False, "stdin": True}
    roots = {"cwd": ".", "read_roots": ["."], "write_roots": ["build"]}
    return {"mode": "workspace_write", **roots, "network": "restricted", "process_limits": limits}


def _result(call: Call) -> Iterator[Op]:
    """A result that is small travels in the event; one that is not is stored, and a preview travels."""
    text, budget = call.said.get("result", "ok"), call.planner.settings.output_budget
    if not text:
        yield call.fact("tool.result", {"empty": True, "duration_ms": 5})
        return
    reference = f"output://{call.id}"
    call.planner.state.keep(reference, text)
    if len(text) > budget:
        yield _spilled(call, reference, text, "tool", call.id)
    said = {"output_ref": reference, "preview": text[:budget], "size_bytes": len(text.encode()), "duration_ms": 5}
    yield call.fact("tool.result", said)


def _spilled(call: Call, reference: str, text: str, owner: str, owner_id: str) -> Op:
    stored = {"output_ref": reference, "owner": owner, "owner_id": owner_id, "media_type": "text/plain"}
    stored |= {
        "encoding": "utf-8",
        "size_bytes": len(text.encode()),
        "preview": text[: call.planner.settings.output_budget],
    }
    stored |= {"sha256": hashlib.sha256(text.encode()).hexdigest(), "budget_bytes": call.planner.settings.output_budget}
    return call.fact("output.spilled", stored, output_ref=reference)


def _process(call: Call, said: dict[str, Any]) -> Iterator[Op]:
    """A command that the call runs."""
    ids = {"process_id": said.get("id") or call.planner.new("process")}
    begun = {
        "command": said["command"],
        "subcommands": [said["command"].split()[0]],
        "cwd": ".",
        "cwd_validated": True,
        "network": "restricted",
        "tty": False,
        "destructive": bool(call.tool.get("is_destructive")),
        "justification": "The turn asked for it.",
        "limits": {"timeout_ms": 60000, "stdin": True},
        "retention": said.get("retention"),
        "payload_hash": call.digest,
    }
    yield call.fact("process.started", begun, **ids)
    offset = 0
    for text in said.get("output", ()):
        yield call.fact("process.output", _chunk(call, ids["process_id"], text, offset), **ids)
        if len(text) > call.planner.settings.output_budget:
            yield _spilled(call, f"output://{ids['process_id']}/{offset}", text, "process", ids["process_id"])
        offset += len(text.encode())
    if "delay" in said:
        yield {"delay": said["delay"]}
    if "command_op" in said:
        yield {"command": said["command_op"]["name"], "request": {**said["command_op"]["request"], **ids}}
    if "fail" in said:
        error = {"category": "process", "message": "It was cut off.", "retryable": True, "recovery": "Run it again."}
        yield call.fact("process.failed", {"failure_category": said["fail"], "error": error}, **ids)
    elif said.get("exit") is not None or "exit" not in said:
        yield call.fact("process.completed", {"exit_code": said.get("exit", 0), "duration_ms": 40}, **ids)


def _chunk(call: Call, process: str, text: str, offset: int) -> dict[str, Any]:
    said = {"stream": "stdout", "offset": offset, "size_bytes": len(text.encode())}
    if len(text) <= call.planner.settings.output_budget:
        return {**said, "text": text}
    reference = f"output://{process}/{offset}"
    call.planner.state.keep(reference, text)
    return {**said, "output_ref": reference}


@step("ask")
def ask(planner: Planner, said: Any) -> Iterator[Op]:
    """A question that is no permission; work waits for the answer unless it says that it blocks nothing."""
    action = planner.new("action")
    question = {"action_type": "ask_user", "prompt": "Which one?", "decisions": ["answered"], "policy": "ask"}
    yield planner.fact(
        "action.required", {**question, "scope": {"reach": "turn"}, **said["question"]}, action_id=action
    )
    yield from person(action, said.get("person"))
    if said["question"].get("blocking", True):
        yield {"wait": action}
