"""A stream as it is written: what the ledger remembers of it, and what it refuses to put on it.

A store would take more than this. What is refused is what a reader would stumble over later: a result nobody asked
for, a step inside a step, the bytes of a file, a word about supersession. The shape of an event is checked before.
"""

from __future__ import annotations

from typing import Any

from reference_runtime.errors import CommandRejected
from reference_runtime.facts.record import Record
from reference_runtime.lifecycles.agent_threads.pieces import tail
from reference_runtime.lifecycles.book import Page

Payload = dict[str, Any]


def stream_of(run: str) -> str:
    """The name of a run's stream (AT-12)."""
    return f"run:{run}"


def follow(page: Page, run: Record, stored: dict[str, Any]) -> None:
    """Takes in an event that was just put on a stream, or refuses it and everything that was decided with it."""
    kind, payload = stored["event"]["kind"], stored["event"].get("payload")
    run.data |= {"lastSeq": stored["seq"], "tail": tail(run.data["tail"], stored["event"])}
    if kind in _KINDS:
        _KINDS[kind](page, run, payload)
    elif "supersede" in kind.lower():
        raise _refused("supersession_announced", "Supersession is told by records and never on a stream (AT-81).")


def closed(run: Record) -> None:
    """Refuses to commit a stream with loose ends."""
    if run.data["pending"]:
        raise _refused("calls_pending", "A tool call has no result yet (AT-35).", category="wrong_state")
    if run.data["step"] is not None:
        raise _refused("step_open", "A step has not finished yet (AT-28).", category="wrong_state")


def _step_started(page: Page, run: Record, payload: Payload) -> None:
    if run.data["step"] is not None:
        raise _refused("step_open", "The step before has not finished yet (AT-28).")
    run.data["step"] = _index(payload)


def _step_finished(page: Page, run: Record, payload: Payload) -> None:
    if run.data["step"] != _index(payload):
        raise _refused("another_step", "No step with this stepIndex is open (AT-29).")
    run.data["step"] = None


def _index(payload: Payload) -> Any:
    if "stepIndex" not in payload:
        raise _refused("step_without_index", "A step has a stepIndex (AT-29).")
    return payload["stepIndex"]


def _error(page: Page, run: Record, payload: Payload) -> None:
    message = payload.get("message")
    if message is None or (isinstance(message, str) and ("\n" in message or not message.strip())):
        raise _refused("error_without_sentence", "An error says in one sentence what went wrong (AT-30, AT-113).")


def _file(page: Page, run: Record, payload: Payload) -> None:
    if payload["url"][:5].lower() == "data:":
        raise _refused("file_carries_bytes", "A file is referred to and not carried (AT-33).")


def _tool_call(page: Page, run: Record, payload: Payload) -> None:
    call = f"{run.id}|{payload['toolCallId']}"
    if page.get("call", call):
        raise _refused("call_id_reused", "The stream has a call with this toolCallId (AT-16).")
    page.edit("call", call)
    run.data["pending"].append(payload["toolCallId"])


def _tool_result(page: Page, run: Record, payload: Payload) -> None:
    if payload["toolCallId"] not in run.data["pending"]:
        raise _refused("result_without_call", "No call with this toolCallId waits for a result (AT-34).")
    run.data["pending"].remove(payload["toolCallId"])


_KINDS = {
    "step-started": _step_started,
    "step-finished": _step_finished,
    "error": _error,
    "file": _file,
    "tool-call": _tool_call,
    "tool-result": _tool_result,
}


def _refused(code: str, sentence: str, category: str = "invalid_request") -> CommandRejected:
    return CommandRejected(code, sentence, category=category)
