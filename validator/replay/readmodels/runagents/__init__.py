"""The read models of RunAgents: what the lines of a capture prove about a run and about a blocked action.

Both are accumulators: they learn from each step and build a view on demand. A value that no line gives is honestly
unknown; nothing is guessed.
"""

from validator.replay.readmodels.runagents.actions import ActionViews
from validator.replay.readmodels.runagents.runs import RunViews
from validator.replay.readmodels.runagents.words import bare_hash, data_of, later, mixture, unknown, vocabulary_of

__all__ = ["ActionViews", "RunViews", "bare_hash", "data_of", "later", "mixture", "unknown", "vocabulary_of"]
