"""write_process_stdin, terminate_process."""

from __future__ import annotations

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
    written = request["input"]
    reference = state.keep(state.new_id("stdin://input"), written)
    state.edit("blob", reference).data["close"] = bool(request.get("close"))
    yield about(process, "process.input", {"input_ref": reference, "size_bytes": len(written.encode())})
    return {"process_id": process.id, "process": entries.process(process)}


def terminate_process(state: State, request: Request) -> Decision:
    process = state.need("process", request["process_id"])
    if process.state in ENDED:
        raise NoOp(process_id=process.id, process=entries.process(process))
    yield about(process, "process.terminated", {"reason": request["reason"], "terminated_by": "user", "signal": "TERM"})
    return {"process_id": process.id, "process": entries.process(process)}
