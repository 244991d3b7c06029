"""The read models of agent-threads: messages reduced from streams, transcripts, thread trees and runs.

Two planes meet here. Streams are reduced to messages; run records say which of them count.
"""

from validator.replay.readmodels.agent_threads.reducer import LEFT, Closed, Reducer, content_of, digest_of
from validator.replay.readmodels.agent_threads.runs import KEPT, RunRecord, Runs
from validator.replay.readmodels.agent_threads.threads import Node, Threads

__all__ = [
    "KEPT",
    "LEFT",
    "Closed",
    "Node",
    "Reducer",
    "RunRecord",
    "Runs",
    "Threads",
    "content_of",
    "digest_of",
]
