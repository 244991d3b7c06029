"""Random acts, legal and illegal, with crashes between them and in the middle of calls: the judge finds nothing."""

from tests.runtime.runagents.machine import TestPlatformMachine

__all__ = ["TestPlatformMachine"]
