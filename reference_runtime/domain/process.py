"""write_process_stdin, terminate_process."""

from __future__ import annotations

from typing import Any

from reference_runtime.domain.state import ENDED, Decision, Request, State, about
from reference_runtime.errors import CommandRejected, NoOp, Unavailable
from reference_runtime.projections import entries


def write_process_stdin(state: State, request: Request) -> Decision:
    """Writes to a process that runs; what was written stays behind a reference (RED-26)."""
    process = state.need("process", request["process_id"])
    if process.state == "lost":
        said = {"code": "process_lost", "message": "Input came for a process that may be gone."}
        yield about(process, "runtime.warning", said)
        raise Unavailable("process_lost", "Nothing proves that the process lives.", category="lost")
    if (process.data.get("limits") or {}).get("stdin") is False:
        raise CommandRejected("no_stdin", "The process cannot be written to.", category="policy")
    if state.get("closed_input", process.id):
        raise CommandRejected("stdin_closed", "The input of the process was ended.", category="wrong_state")
    said = hand_over(state, process.id, request["input"], close=bool(request.get("close")))
    yield about(process, "process.input", said)
    return {"process_id": process.id, "process": entries.process(process)}


def hand_over(state: State, process: str, text: str, *, close: bool) -> dict[str, Any]:
    """Keeps what is written to a process, and whether it is the last; gives what `process.input` tells of it."""
    reference = state.keep(state.new_id("stdin://input"), text)
    if close:
        state.edit("blob", reference).data["close"] = True
        state.edit("closed_input", process)
    return {"input_ref": reference, "size_bytes": len(text.encode("utf-8", "replace"))}


def terminate_process(state: State, request: Request) -> Decision:
    process = state.need("process", request["process_id"])
    if process.state in ENDED:
        raise NoOp(process_id=process.id, process=entries.process(process))
    yield about(process, "process.terminated", {"reason": request["reason"], "terminated_by": "user", "signal": "TERM"})
    return {"process_id": process.id, "process": entries.process(process)}
