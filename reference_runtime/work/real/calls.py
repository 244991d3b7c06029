"""A real tool call on its way: hooks before it, the decision, the question, and the refusals.

A `use` step of a script becomes one operation. Each phase does its part of the work, tells the facts, and puts the
operations that follow in its own place in the plan, all in one transaction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from reference_runtime.domain.permission import Vote, explained, weigh
from reference_runtime.domain.state import Decision, State
from reference_runtime.service import Runtime
from reference_runtime.stamping import Draft, read
from reference_runtime.work.plan import Op, Planner, step
from reference_runtime.work.real.bench import Bench
from reference_runtime.work.real.hooks import Answer, Hook, ask
from reference_runtime.work.real.workspace import OutsideError, names, shown
from reference_runtime.work.tools import GRANTED, REFUSED, person

Phase = Callable[["Call"], None]
PHASES: dict[str, Phase] = {}


def phase(function: Phase) -> Phase:
    """Registers a phase under its own name."""
    PHASES[function.__name__] = function
    return function


@step("use")
def use(planner: Planner, said: Any) -> Iterator[Op]:
    """A call of a real tool: `tool`, `args`, and as in scripted calls a `person` and a `question`."""
    ids = {**planner.ids, "tool_call_id": planner.new("call"), "step_id": planner.new("step")}
    yield {"real": "prepare", "ids": ids, "call": {"args": {}, **said}}


@dataclass(slots=True)
class Call:
    """One call in one phase."""

    bench: Bench
    runtime: Runtime
    op: Op

    @property
    def id(self) -> str:
        return self.op["ids"]["tool_call_id"]

    @property
    def name(self) -> str:
        return self.op["call"]["tool"]

    @property
    def args(self) -> dict[str, Any]:
        return self.op["call"]["args"]

    @property
    def tool(self) -> dict[str, Any]:
        return self.runtime.settings.tool(self.name) or {"tool_name": self.name, "policy": "ask"}

    @property
    def digest(self) -> str:
        """Binds a decision to the very arguments it was taken about."""
        return "sha256:" + hashlib.sha256(json.dumps([self.name, self.args], sort_keys=True).encode()).hexdigest()

    def fact(self, event: str, payload: dict[str, Any] | None = None, **ids: Any) -> Draft:
        return Draft(event, {**self.op["ids"], **ids}, payload or {})

    def next(self, phase: str, **more: Any) -> Op:
        """The operation for a later phase of this call; more is what it has to know."""
        changed = {name: value for name, value in more.items() if name in {"if", "process_id"}}
        kept = {name: value for name, value in self.op.items() if name in {"ids", "process_id"}}
        told = {name: value for name, value in more.items() if name not in changed}
        return {**kept, "real": phase, "call": {**self.op["call"], **told}, **changed}

    def tell(self, drafts: Iterable[Draft] | Callable[[State], Decision], then: list[Op] | None = None) -> None:
        """Tells facts, and with them what comes next; nothing changes in the plan when nothing is said about it."""

        def decision(state: State) -> Decision:
            yield from drafts(state) if callable(drafts) else drafts
            if then is not None:
                plan = state.edit("plan", self.op["ids"]["turn_id"])
                plan.data["ops"][plan.data["at"] : plan.data["at"] + 1] = then

        self.runtime.report(decision)

    def new(self, word: str) -> str:
        """An id that nobody else gets."""
        made: list[str] = []

        def decision(state: State) -> Decision:
            made.append(state.new_id(word))
            return
            yield  # a decision is a generator, also one that writes nothing

        self.runtime.report(decision)
        return made[-1]

    def safe(self, value: Any) -> Any:
        """A value without anything that must not be told."""
        if isinstance(value, str):
            return self.bench.mask(value)[0]
        if isinstance(value, list):
            return [self.safe(entry) for entry in value]
        return {self.safe(key): self.safe(entry) for key, entry in value.items()} if isinstance(value, dict) else value

    def safe_args(self) -> dict[str, Any]:
        """The arguments as everybody may see them: contents and input by their size, paths only from inside."""
        told = dict(self.args)
        for name in {"content", "stdin"} & told.keys():
            told[f"{name}_bytes"] = len(str(told.pop(name)).encode("utf-8", "replace"))
        for name in {"path", "cwd"} & told.keys():
            told[name] = shown_path(str(told[name]))
        return self.safe(told)

    def keep(self, kind: str, text: str) -> str:
        """Stores a text, masked, behind a reference."""
        stored = self.bench.contents.put(self.safe(text))
        return f"{kind}://{self.id}/{stored.sha256}"


def shown_path(path: str) -> Any:
    if path == ".":
        return path
    try:
        return "/".join(names(path))
    except OutsideError:
        return {"honest": "unavailable", "reason": "The path is not inside the workspace."}


@phase
def prepare(call: Call) -> None:
    """Asks the hooks that guard the use; each sees what the one before made of the input."""
    wish = ""
    for hook in call.bench.asked("pre_tool_use", call.name):
        answer, reference = run_hook(call, hook, {"input": call.safe(call.args)})
        if answer.blocks or (answer.failed and stops(call, hook)):
            why = answer.reason or answer.failed
            call.tell([started(call), failed(call, "denied", "hook", f"A hook stopped the call: {call.safe(why)}")], [])
            return
        wish = "ask" if answer.decision == "ask" else wish
        if answer.updated_input is not None:
            call.op = call.next("prepare", args=answer.updated_input, args_ref=reference)
    call.tell([], [call.next("decide", wish=wish)])


def run_hook(call: Call, hook: Hook, given: dict[str, Any]) -> tuple[Answer, str | None]:
    """Lets one hook speak, and tells what it said; also gives the reference of what it changed."""
    ids = {"hook_run_id": call.new("hook")}
    begun = {"hook_point": hook.point, "handler_ref": f"hook://{hook.name}", "timeout_ms": hook.timeout_ms}
    began: list[str] = []

    def start(state: State) -> Decision:
        began.append(state.now)
        yield call.fact("hook.started", {**begun, "preview": call.name}, **ids)

    call.tell(start)
    about = {name: call.op["ids"][name] for name in ("session_id", "thread_id", "turn_id", "tool_call_id")}
    question = {"hook_point": hook.point, **about, "tool_name": call.name, **given}
    with call.bench.workspace.folder(".") as folder:
        answer = ask(hook, question, folder)
    if answer.timed_out:
        call.runtime.clock.advance(hook.timeout_ms)
    changed = answer.updated_output if answer.updated_input is None else json.dumps(answer.updated_input)
    kind = "output" if answer.updated_input is None else "input"
    reference = None if changed is None else call.keep(kind, changed)
    call.tell(lambda state: _hook_end(call, hook, answer, reference, passed(began[0], state), ids))
    return answer, reference


def _hook_end(
    call: Call, hook: Hook, answer: Answer, changed: str | None, took: float, ids: dict[str, str]
) -> Decision:
    said: dict[str, Any] = {"hook_point": hook.point, "duration_ms": took}
    if not answer.failed:
        said |= {"decision": answer.decision, "block_reason": call.safe(answer.reason) if answer.blocks else None}
        said["updated_input_ref"] = changed if answer.updated_input is not None else None
        said["updated_tool_output_ref"] = changed if answer.updated_input is None else None
        said["additional_context_refs"] = [call.keep("context", answer.context)] if answer.context else None
        yield call.fact("hook.completed", said, **ids)
        return
    error = {"category": "hook", "message": answer.failed, "retryable": answer.timed_out}
    behavior = "fail_closed" if stops(call, hook) else "fail_open"
    said |= {"error": error, "failure_behavior": behavior, "timed_out": answer.timed_out or None}
    yield call.fact("hook.failed", said, **ids)
    if behavior == "fail_open":
        warning = {"code": "hook_failed_open", "message": "A hook failed; work went on without it."}
        yield call.fact("runtime.warning", warning, **ids)


def stops(call: Call, hook: Hook) -> bool:
    """A guard that fails stops the call, whatever the host wrote, unless the call only reads (HOOK-7)."""
    guards = hook.point in {"pre_tool_use", "permission_request"} and not call.tool.get("is_read_only")
    return guards or hook.failure != "fail_open"


def passed(since: str, state: State) -> float:
    """Milliseconds between two moments of the runtime's clock."""
    return max(0, round((read(state.now) - read(since)).total_seconds() * 1000))


@phase
def decide(call: Call) -> None:
    """Weighs the voices, and goes on, asks or refuses."""
    vote = vote_on(call)
    if vote.decision == "ask":
        vote = _second_thought(call) or vote
    if vote.decision == "ask":
        _question(call, vote)
    elif vote.decision in {"allow", "sandboxed"}:
        call.tell([evaluated(call, vote), started(call)], [call.next("run")])
    else:
        call.tell([evaluated(call, vote), started(call), *refusal(call, vote)], [])


_WORKSPACE = Vote("deny", "host_policy", "The path is not inside the workspace.", ["rule://workspace"])
_UNCONFINED = Vote("unavailable", "tool_contract", "Commands cannot be confined here.", ["rule://sandbox"])
_UNFIT = Vote("deny", "tool_contract", "The arguments do not fit the tool.", ["rule://arguments"])
_SHAPES: dict[str, dict[str, Any]] = {
    "shell": {"command": str, "cwd": str, "stdin": str, "tty": bool, "interactive": bool},
    "read_file": {"path": str},
    "write_file": {"path": str, "content": str},
}
_NEEDED = {"shell": {"command"}, "read_file": {"path"}, "write_file": {"path", "content"}}
_NUMBERS = {"timeout_ms", "max_output_bytes"}


def _fits(call: Call) -> bool:
    """True for arguments that a tool can do something with; whoever made them may have made anything."""
    shapes, args = _SHAPES.get(call.name, {}), call.args
    numbers = [args[name] for name in _NUMBERS & args.keys()]
    typed = all(isinstance(args[name], shapes[name]) for name in shapes.keys() & args.keys())
    counted = all(isinstance(number, int) and not isinstance(number, bool) and number > 0 for number in numbers)
    return typed and counted and _NEEDED.get(call.name, set()) <= args.keys()


def refusal(call: Call, vote: Vote) -> list[Draft]:
    """How a call ends that is not to run."""
    status, outside = "denied" if vote.decision == "deny" else "failed", vote is _WORKSPACE
    ended = failed(call, status, "sandbox" if outside else "permission", vote.reason)
    return [violation(call), ended] if outside else [ended]


def vote_on(call: Call) -> Vote:
    """What all voices say about the call as it is now: its tool, the workspace, the rules, the mode, its hooks."""
    if not _fits(call):
        return _UNFIT
    try:
        for name in {"path", "cwd"} & call.args.keys():
            if call.args[name] != ".":
                names(call.args[name])
    except OutsideError:
        return _WORKSPACE
    mode, wish = call.runtime.settings.mode, call.op["call"].get("wish", "")
    vote = weigh(call.runtime.settings, call.tool, call.args, mode, wish)
    return _UNCONFINED if vote.decision == "sandboxed" and "command" in call.args else vote


def _second_thought(call: Call) -> Vote | None:
    """Hooks hear of a question before a person does; they can only refuse."""
    for hook in call.bench.asked("permission_request", call.name):
        answer, _ = run_hook(call, hook, {"input": call.safe(call.args)})
        if answer.blocks or (answer.failed and stops(call, hook)):
            return Vote("deny", "hook", call.safe(answer.reason or answer.failed), ["rule://hook"])
    return None


def evaluated(call: Call, vote: Vote, **more: Any) -> Draft:
    said = explained(vote, call.runtime.settings.mode, "tool", call.tool)
    return call.fact("permission.evaluated", {**said, **more})


def started(call: Call, action: str | None = None) -> Draft:
    flags = {name: call.tool.get(name) for name in ("is_read_only", "is_destructive", "is_concurrency_safe")}
    said = {"tool_name": call.name, "safe_args": call.safe_args(), "args_ref": call.op["call"].get("args_ref"), **flags}
    link = {"policy": call.tool["policy"], "approval_action_id": action, "payload_hash": call.digest}
    return call.fact("tool.started", {**said, **link})


def failed(call: Call, status: str, category: str, message: str, **more: Any) -> Draft:
    error = {"category": category, "message": message, "retryable": status in {"failed", "timed_out"}}
    error["recovery"] = "Ask for the permission." if status == "denied" else "Look at the output, then try again."
    return call.fact("tool.failed", {"status": status, "error": error, "reason": message, **more})


def violation(call: Call) -> Draft:
    target = shown(str(call.args.get("path", call.args.get("cwd", ""))))
    return call.fact("sandbox.violation", {"boundary": "filesystem", "target": target})


def _question(call: Call, vote: Vote) -> None:
    """Stops for a person: the call waits, and goes on only when it was granted."""
    action = call.new("action")
    mode = call.runtime.settings.mode
    request = {"approval_action_id": action, "target_kind": "tool", "mode": mode, "interactive": True}
    question = {
        "action_type": "tool_permission",
        "title": "Run a tool",
        "prompt": f"May {call.name} run?",
        "tool_name": call.name,
        "decisions": ["approved", "denied", "modified"],
        "scope": {"reach": "once"},
        "policy": "ask",
        "payload_hash": call.digest,
        "preview": json.dumps(call.safe_args()),
        **call.op["call"].get("question", {}),
    }
    told = [evaluated(call, vote, approval_action_id=action), started(call, action)]
    told += [call.fact("permission.requested", request), call.fact("action.required", question, action_id=action)]
    answered = [*person(action, call.op["call"].get("person")), {"wait": action}]
    granted = call.next("run", action=action, digest=call.digest, **{"if": [action, GRANTED]})
    call.tell(told, [*answered, granted, call.next("refused", **{"if": [action, REFUSED]})])


@phase
def refused(call: Call) -> None:
    """Nothing ran, and nothing will."""
    call.tell([failed(call, "denied", "permission", "The person did not allow it.")], [])
