"""The lifecycle of agent-threads: runs, their streams, and the messages they commit to a thread."""

from reference_runtime.lifecycles.agent_threads.ledger import Ledger

__all__ = ["Ledger"]
