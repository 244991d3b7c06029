"""Judges agent-runtime event streams against a contract that is written down as data.

The names below are the whole Python interface; everything else may change without notice.
"""

__version__ = "0.1.0.dev0"

_HOMES = {
    "Finding": "validator.rules",
    "Options": "validator.engine",
    "Report": "validator.report",
    "Validator": "validator.engine",
    "assert_conformant": "validator.testing.asserts",
    "load_protocol": "validator.protocol.protocol",
    "validate": "validator.engine",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str):
    # Loading the judge costs a second; `--version` must not pay for it.
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(name)
