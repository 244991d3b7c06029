"""What can go wrong, by the step that notices it.

A decision raises `CommandRejected` (the caller asked for something that cannot be), `NoOp` (it is done already) or
`Unavailable` (it cannot be done now). A state table raises `IllegalMove`, which a command turns into a rejection. A
store raises `StoreError`. `ContractBroken` is our own fault: the runtime was about to write what its contract
forbids.
"""

from __future__ import annotations

from typing import Any


class ReferenceRuntimeError(Exception):
    """The root of everything this package raises on purpose."""


class CommandRejected(ReferenceRuntimeError):
    """A command cannot be carried out; nothing was changed."""

    outcome = "rejected"

    def __init__(self, code: str, message: str, *, category: str = "rejected", **answer: Any):
        super().__init__(message)
        self.code, self.category, self.answer = code, category, answer

    def error(self) -> dict[str, Any]:
        """The error as an answer carries it."""
        return {"category": self.category, "code": self.code, "message": str(self), "retryable": False}


class Unavailable(CommandRejected):
    """A command cannot be carried out now; at most a warning says why."""

    outcome = "unavailable"

    def error(self) -> dict[str, Any]:
        return {**super().error(), "retryable": True}


class NoOp(ReferenceRuntimeError):
    """A command finds its work already done."""

    def __init__(self, **answer: Any):
        super().__init__("nothing to do")
        self.answer = answer


class IllegalMove(ReferenceRuntimeError):
    """A state table has no row for an event."""

    def __init__(self, machine: str, subject: str, state: str, driver: str, clause: str):
        self.machine, self.subject, self.state, self.driver, self.clause = machine, subject, state, driver, clause
        super().__init__(f"{driver} is illegal while the {machine.replace('_', ' ')} is {state} ({clause})")


class ContractBroken(ReferenceRuntimeError):
    """The runtime was about to write a document that does not fit its schema."""


class StoreError(ReferenceRuntimeError):
    """The store did not take a change; nothing of it was kept."""

    code = "store_failed"


class StoreFull(StoreError):
    """There is no room for the change."""

    code = "store_full"


class StoreLocked(StoreError):
    """Somebody else holds the store."""

    code = "store_locked"


class PositionConflict(StoreError):
    """The log has grown since the decision was taken."""

    code = "position_conflict"
