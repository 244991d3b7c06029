"""Read models: what a consumer is shown, rebuilt from the lines of a capture."""

from __future__ import annotations

from importlib import import_module

__all__ = ["MODELS", "ReadModels"]
_HOMES = {"MODELS": "models", "ReadModels": "ledger"}


def __getattr__(name: str) -> object:
    # Most captures hold no snapshot, and what rebuilds the models of the core is a fifth of all code.
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f"validator.replay.readmodels.agent_runtime.{_HOMES[name]}"), name)
