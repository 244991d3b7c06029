"""Random acts, legal and illegal, with crashes between them: the judge finds nothing and both readings agree."""

from tests.runtime.machine import TestRuntimeMachine

__all__ = ["TestRuntimeMachine"]
