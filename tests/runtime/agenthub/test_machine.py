"""Random acts, legal and illegal, with crashes between them: the judge finds nothing and both readings agree."""

from tests.runtime.agenthub.machine import TestHubMachine

__all__ = ["TestHubMachine"]
