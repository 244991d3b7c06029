"""Random acts on a ledger, legal and illegal, with crashes between: the judge finds nothing, both readings agree."""

from tests.runtime.agent_threads.machine import TestLedgerMachine

__all__ = ["TestLedgerMachine"]
