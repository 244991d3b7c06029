"""One planted fault, run in a process of its own: cheap tests first, the whole suite only when nothing noticed yet."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import os
import sys
from pathlib import Path

SUITE = (
    "tests/unit",
    *(
        f"tests/conformance/test_{name}.py"
        for name in (
            "readmodels",
            "readmodels_agent_threads",
            "readmodels_agenthub",
            "readmodels_runagents",
            "fixtures",
            "exports",
            "replay",
            "machines",
            "snapshot_law",
        )
    ),
)
"""What is asked when no rule stream shows a fault: the tests of the three packages."""


class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from changed source instead of its file."""

    def __init__(self, root: Path, path: str, source: str):
        self.file = root / path
        parts = Path(path).with_suffix("").parts
        self.package = parts[-1] == "__init__"
        self.module = ".".join(parts[:-1] if self.package else parts)
        self.source = source

    def find_spec(self, name, path=None, target=None):
        if name != self.module:
            return None
        places = [str(self.file.parent)] if self.package else None
        return importlib.util.spec_from_file_location(name, self.file, loader=self, submodule_search_locations=places)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(compile(self.source, self.file, "exec"), module.__dict__)  # the point of this class


def noticed(root: Path, path: str, source: str, whole: bool = True) -> str | None:
    """What noticed the fault, or None when every test stayed green."""
    assert not any(name == "validator" or name.startswith("validator.") for name in sys.modules)
    planted = Planted(root, path, source)
    sys.meta_path.insert(0, planted)
    try:
        return _streams(planted.module) or (_suite() if whole else None)
    except BaseException as error:
        return f"{type(error).__name__} while the streams ran"


def _streams(module: str) -> str | None:
    """Rule streams of the rules that use the module first, then all others and the golden captures."""
    from validator import resources
    from validator.protocol.protocol import available, load_protocol
    from validator.rules._catalog import load_rules
    from validator.rulestreams import check_stream, rule_streams

    rules = load_rules().values()
    concerned = {rule.id for rule in rules if _uses(rule, module)}
    for ids in (concerned, {rule.id for rule in rules} - concerned):
        for protocol in map(load_protocol, available()):
            for rule, stream, entry in rule_streams(resources.fixtures() / protocol.id, protocol, ids):
                for failure in check_stream(protocol, rule, stream, entry):
                    return f"{failure.fixture}: {failure.reason}"
    return None


def _uses(rule, module: str) -> bool:
    home = sys.modules[rule.check.__module__]
    if home.__name__ == module:
        return True
    return any(getattr(value, "__module__", None) == module for value in vars(home).values())


def _suite() -> str | None:
    import pytest

    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - the process ends here
    code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *SUITE])
    return f"the test suite (exit {int(code)})" if code else None
