"""Read models: what a consumer is shown, rebuilt from the lines of a capture."""

from validator.replay.readmodels.agent_runtime import ReadModels
from validator.replay.readmodels.agent_runtime.models import MODELS

__all__ = ["MODELS", "ReadModels"]
