"""What happens once a call may run: a file is read or written, or a command runs, is followed, and ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_runtime.domain.permission import commands
from reference_runtime.domain.process import hand_over
from reference_runtime.domain.state import ENDED, Decision, State
from reference_runtime.stamping import Draft
from reference_runtime.work.real.bench import Running
from reference_runtime.work.real.calls import (
    Call,
    evaluated,
    failed,
    passed,
    phase,
    refusal,
    run_hook,
    shown_path,
    stops,
    violation,
    vote_on,
)
from reference_runtime.work.real.output import Line, Progress, Spill, Unit
from reference_runtime.work.real.processes import Limits, word
from reference_runtime.work.real.workspace import OutsideError

_LARGEST_FILE = 1 << 20
_OPEN = {"honest": "not_applicable", "reason": "A command is not confined."}


@phase
def run(call: Call) -> None:
    """Runs what was decided about, and only that."""
    if not _stands(call):
        call.tell([failed(call, "denied", "permission", "No decision lets exactly this run.")], [])
        return
    if not _changed(call):
        return
    tool = {"shell": _shell, "read_file": _read_file, "write_file": _write_file}.get(call.name)
    if tool is None:
        call.tell([failed(call, "failed", "tool", "There is no such tool here.")], [])
        return
    if not call.tool.get("is_read_only") or call.runtime.state().state("permission", call.id) == "sandboxed":
        call.tell([call.fact("sandbox.applied", _boundary(call))])
    try:
        tool(call)
    except OutsideError as refusal:
        call.tell([violation(call), failed(call, "failed", "sandbox", str(refusal))], [])
    except (OSError, ValueError) as error:
        call.tell([failed(call, "failed", "tool", _plainly(error))], [])


def _stands(call: Call) -> bool:
    """True when the log allows the call, and a person who was asked was asked about these very arguments."""
    state = call.runtime.state()
    allowed = state.state("permission", call.id) in {"allowed", "sandboxed"}
    asked = call.op["call"].get("digest")
    return allowed and state.state("tool_call", call.id) == "started" and asked in {None, call.digest}


def _changed(call: Call) -> bool:
    """Takes over what a person changed; a rule that denies the change wins over the person's yes."""
    action = call.op["call"].get("action")
    state = call.runtime.state()
    if not action or state.state("action", action) != "modified":
        return True
    reference = f"input://{action}/modified"
    changed = call.runtime.content(reference)
    call.op = call.next("run", args=changed if isinstance(changed, dict) else {}, digest=None)
    call.tell([call.fact("tool.args", {"safe_args": call.safe_args(), "args_ref": reference})])
    vote = vote_on(call)
    if vote.decision == "deny":
        call.tell([evaluated(call, vote), *refusal(call, vote)], [])
        return False
    for hook in call.bench.asked("pre_tool_use", call.name):
        answer, _ = run_hook(call, hook, {"input": call.safe(call.args)})
        if answer.blocks or answer.updated_input is not None or (answer.failed and stops(call, hook)):
            call.tell([failed(call, "denied", "hook", "A hook does not let pass what the person made of it.")], [])
            return False
    return True


def _boundary(call: Call) -> dict[str, Any]:
    """The boundary that is really there: files are confined to their roots, commands to nothing."""
    if call.name != "shell":
        workspace, reads = call.bench.workspace, bool(call.tool.get("is_read_only"))
        roots = {"read_roots": list(workspace.read_roots), "write_roots": [] if reads else list(workspace.write_roots)}
        told = {"mode": "read_only" if reads else "workspace_write", "cwd": ".", **roots, "network": "restricted"}
        return {**told, "process_limits": {"max_processes": 0}}
    roots = {"cwd": shown_path(call.args.get("cwd", ".")), "read_roots": _OPEN, "write_roots": _OPEN}
    return {"mode": "danger_full_access", **roots, "network": "enabled", "process_limits": _told_limits(call)}


def _limits(call: Call) -> Limits:
    """The host's limits; a call may ask for less and never gets more."""
    most = call.bench.limits
    timeout = min(most.timeout, call.args.get("timeout_ms", most.timeout * 1000) / 1000)
    return Limits(timeout, min(most.output, call.args.get("max_output_bytes", most.output)), most.grace)


def _told_limits(call: Call) -> dict[str, Any]:
    limits, given = _limits(call), "stdin" in call.args or bool(call.args.get("interactive"))
    told = {"timeout_ms": round(limits.timeout * 1000), "max_output_bytes": limits.output}
    return {**told, "tty": bool(call.args.get("tty")), "stdin": given}


def _plainly(error: Exception) -> str:
    """Why something could not be done, without the path that the system puts into its message."""
    return f"{error.strerror}." if isinstance(error, OSError) and error.strerror else "The arguments do not fit."


def _read_file(call: Call) -> None:
    data, size = call.bench.workspace.read(call.args["path"], _LARGEST_FILE)
    text, hidden = call.bench.mask(data.decode("utf-8", "replace"))
    told = len(text.encode("utf-8", "replace"))
    result = {"text": text, "hidden": sorted(hidden), "size": size if size > len(data) else told}
    call.op = call.next("finish", result=result)
    finish(call)


def _write_file(call: Call) -> None:
    data = call.args["content"].encode()
    call.bench.workspace.write(call.args["path"], data)
    call.op = call.next("finish", result={"text": f"{len(data)} bytes written."})
    finish(call)


def _shell(call: Call) -> None:
    """Starts a command: it waits at its gate until its start is on record."""
    process_id = call.new("process")
    ids = {**call.op["ids"], "process_id": process_id}
    argv = ["/bin/sh", "-c", call.args["command"]]
    budget, terminal = call.runtime.settings.output_budget, bool(call.args.get("tty"))
    with call.bench.workspace.folder(call.args.get("cwd", ".")) as folder:
        running = call.bench.start(argv, folder, ids, budget, limits=_limits(call), terminal=terminal)
    try:
        call.tell(lambda state: _begun(call, state, running, ids), [call.next("pump", process_id=process_id)])
    except BaseException:
        call.bench.forget(process_id)
        raise
    running.process.begin()
    if "stdin" in call.args:
        call.tell(lambda state: _given(call, state, ids))
    elif not call.args.get("interactive"):
        running.process.close_input()


def _begun(call: Call, state: State, running: Running, ids: dict[str, Any]) -> Decision:
    line = call.safe(call.args["command"])
    running.since = state.now
    said = {
        "command": line,
        "subcommands": [call.safe(part.split()[0]) for part in commands(call.args["command"]) if part.split()],
        "cwd": shown_path(call.args.get("cwd", ".")),
        "cwd_validated": True,
        "network": "enabled",
        "tty": running.process.terminal,
        "destructive": bool(call.tool.get("is_destructive")),
        "justification": "The turn asked for it.",
        "limits": _told_limits(call),
        "payload_hash": call.digest,
    }
    yield call.fact("process.started", said, **ids)
    proof = state.edit("os_process", ids["process_id"])
    group = running.process.group
    proof.data = {"id": group.id, "mark": group.mark, "since": group.since}


def _given(call: Call, state: State, ids: dict[str, Any]) -> Decision:
    """Input that came with the call; the bench hands it over once it is on record."""
    last = not call.args.get("interactive")
    said = hand_over(state, ids["process_id"], call.args["stdin"], close=last)
    yield call.fact("process.input", said, **ids)


@phase
def pump(call: Call) -> None:
    """Tells the next thing that a process did."""
    running = call.bench.live.get(call.op["process_id"])
    if running is None:
        call.tell([], [])  # it is gone, and whoever ended it told so
    elif running.units:
        call.tell(lambda state: units(call, state, running, [running.units[0]]))
        running.units.popleft()
    elif running.flushed:
        if running.timed_out:
            call.runtime.clock.advance(running.process.limits.timeout * 1000)
        result = _outcome(running)
        call.tell(lambda state: _over(call, state, running), [call.next("finish", result=result)])
        call.bench.forget(call.op["process_id"])


def outlived(call: Call, running: Running) -> None:
    """Ends a process whose turn ended without it."""

    def decision(state: State) -> Decision:
        if state.state("process", running.ids["process_id"]) not in ENDED:
            said = {"reason": "Its turn is over.", "terminated_by": "parent_cancelled"}
            yield call.fact("process.terminated", said, **running.ids)

    call.tell(decision)
    running.told_ended = True


def aftermath(call: Call, running: Running) -> None:
    """Tells what was left in a buffer of a process whose turn is over."""

    def decision(state: State) -> Decision:
        yield from units(call, state, running, list(running.units))
        state.edit("os_process", running.ids["process_id"]).open = False

    call.tell(decision)
    call.bench.forget(running.ids["process_id"])


def units(call: Call, state: State, running: Running, told: list[Unit]) -> Iterator[Draft]:
    """The events for what a process wrote; what was read after its end is marked as drained."""
    drained = True if state.state("process", running.ids["process_id"]) in ENDED else None
    for unit in told:
        if isinstance(unit, Line):
            said = {"stream": unit.stream, "text": unit.text, "offset": unit.offset, "drained": drained}
            size = len(unit.text.encode("utf-8", "replace"))
            yield call.fact("process.output", {**said, "size_bytes": size}, **running.ids)
        elif isinstance(unit, Spill):
            yield from _spilled(call, running, unit, drained)
        elif isinstance(unit, Progress) and not drained:
            yield call.fact("tool.progress", {"message": f"{unit.size} bytes of output were stored so far."})


def _spilled(call: Call, running: Running, unit: Spill, drained: bool | None) -> Iterator[Draft]:
    process = running.ids["process_id"]
    reference = f"output://{process}/{unit.stream}/{unit.stored.sha256}"
    running.refs += [] if reference in running.refs else [reference]
    said = {
        "stream": unit.stream,
        "output_ref": reference,
        "offset": unit.offset,
        "size_bytes": unit.size - unit.offset,
    }
    yield call.fact("process.output", {**said, "drained": drained}, **running.ids)
    about = {"output_ref": reference, "owner": "process", "owner_id": process}
    yield from _kept(call, about, unit)


def _kept(call: Call, about: dict[str, Any], unit: Spill) -> Iterator[Draft]:
    """What is to be known about stored output: where it is, what was cut, what was hidden."""
    reference, kept, size = about["output_ref"], unit.stored, unit.size
    bytes_ = {"media_type": "text/plain", "encoding": "utf-8", "size_bytes": size, "sha256": kept.sha256}
    budget = call.runtime.settings.output_budget
    yield call.fact(
        "output.spilled", about | bytes_ | {"preview": unit.preview, "budget_bytes": budget}, output_ref=reference
    )
    if kept.size < size:
        cut = {"truncation": "tail", "kept_bytes": kept.size}
        yield call.fact("output.truncated", about | bytes_ | cut, output_ref=reference)
    if unit.hidden:
        told = {
            "redaction": "mask",
            "redacted_fields": list(unit.hidden),
            "reason": "It had the shape of what is not told.",
        }
        yield call.fact("output.redacted", about | told, output_ref=reference)


def _outcome(running: Running) -> dict[str, Any]:
    """What the call makes of the process: what it wrote, where the whole of it is, and how it ended."""
    written = [name for name, output in running.outputs.items() if output.size]
    main = written[0] if written else next(iter(running.outputs))
    output, refs = running.outputs[main], [one for one in running.refs if f"/{main}/" in one]
    ended = "timed_out" if running.timed_out else "cancelled" if running.told_ended else None
    told = {"text": output.preview if refs else output.head, "size": output.size, "refs": refs}
    return {**told, "ended": ended, "code": running.process.code}


def _over(call: Call, state: State, running: Running) -> Decision:
    state.edit("os_process", running.ids["process_id"]).open = False
    if state.state("process", running.ids["process_id"]) in ENDED:
        return
    took = {"duration_ms": passed(running.since, state)}
    if running.timed_out:
        error = {"category": "timeout", "message": "It took too long and was ended.", "retryable": True}
        error["recovery"] = "Give it more time, or less to do."
        yield call.fact("process.failed", {"failure_category": "timeout", "error": error, **took}, **running.ids)
        return
    refs = {"output_refs": running.refs} if running.refs else {}
    yield call.fact("process.completed", {"exit_code": running.process.code, **refs, **took}, **running.ids)


@phase
def finish(call: Call) -> None:
    """Lets the hooks that come after the use speak, and ends the call."""
    result = call.op["call"]["result"]
    wrong = _wrong(result)
    point = "post_tool_failure" if wrong else "post_tool_use"
    budget, changed = call.runtime.settings.output_budget, None
    for hook in call.bench.asked(point, call.name):
        given = {"input": call.safe(call.args), "output": result["text"], "status": wrong[0] if wrong else "succeeded"}
        answer, reference = run_hook(call, hook, given)
        if not wrong and (answer.blocks or (answer.failed and stops(call, hook))):
            wrong = "failed", "hook", f"A hook withheld the result: {call.safe(answer.reason or answer.failed)}"
        if answer.updated_output is not None and not wrong:
            raw = next(iter(result.get("refs", ())), None) or call.keep("output", result["text"])
            result, changed = {**result, "text": call.safe(answer.updated_output), "raw": raw}, reference
    if wrong:
        call.tell([failed(call, *wrong)], [])
        return
    call.tell(lambda state: _result(call, result, changed, budget), [])


def _wrong(result: dict[str, Any]) -> tuple[str, str, str] | None:
    """Status, category and sentence of a failure, or None."""
    if result.get("ended") == "timed_out":
        return "timed_out", "timeout", "The command took too long and was ended."
    if result.get("ended") == "cancelled":
        return "cancelled", "cancelled", "The command was ended."
    if result.get("code"):
        return "failed", "process", word(result["code"])
    return None


def _result(call: Call, result: dict[str, Any], changed: str | None, budget: int) -> Iterator[Draft]:
    """A result that is small travels in the event; of one that is not, a preview and a reference do."""
    text, whole = result["text"], changed or next(iter(result.get("refs", ())), None)
    if not text and not whole:
        yield call.fact("tool.result", {"empty": True})
        return
    size = None if changed else result.get("size", len(text.encode("utf-8", "replace")))
    if not whole and (len(text) > budget or size > len(text.encode("utf-8", "replace"))):
        kept = call.bench.contents.put(text)
        whole = f"output://{call.id}/{kept.sha256}"
        about = {"output_ref": whole, "owner": "tool", "owner_id": call.id}
        yield from _kept(call, about, Spill("", 0, kept, size, text[:budget], tuple(result.get("hidden", ()))))
    said = {"output_ref": whole, "raw_output_ref": result.get("raw"), "preview": text[:budget], "size_bytes": size}
    yield call.fact("tool.result", said)
