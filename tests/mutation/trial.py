"""One planted fault, run in a process of its own: streams of the rules that rest on it first, then its tests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.mutation.checks import Stream
from tests.mutation.planted import name_of, plant, resting_on

MOST_STREAMS, MOST_CAPTURES, MOST_VARIED = 240, 20, 100
"""A fault that so many of them do not notice is left to the tests that are about its module."""


def noticed(root: Path, path: str, source: str, streams: Iterable[Stream], tests: Iterable[str]) -> str | None:
    """What noticed the fault, or None when every check stayed green."""
    concerned = _concerned(name_of(path), root)
    first = _in_order(streams, concerned)
    plant(root, path, source)
    try:
        from tests.mutation.checks import run_tests, told_otherwise, varied_otherwise

        own, captures = [one for one in first if one.rule], [one for one in first if not one.rule]
        return (
            _streams(told_otherwise, own)
            or _streams(varied_otherwise, own[:MOST_VARIED])
            or _streams(told_otherwise, captures)
            or run_tests(tests)
            or _streams(varied_otherwise, [one for one in captures if _is_asked(one, concerned)])
        )
    except BaseException as error:
        return f"{type(error).__name__} while the checks ran"


def _is_asked(capture: Stream, concerned: set[str]) -> bool:
    """True when a rule concerned is asked about the skewed documents behind a golden capture."""
    from tests.conformance import skews

    return any(rule.startswith(skews.judges(capture.protocol.partition("/")[0])) for rule in concerned)


def _streams(check: Callable[[Stream], str | None], streams: Iterable[Stream]) -> str | None:
    for stream in streams:
        reason = check(stream)
        if reason is not None:
            return f"{stream.name} {reason}"
    return None


def _concerned(module: str, root: Path) -> set[str]:
    """The rules that rest on a module."""
    from validator.rules._catalog import load_rules

    near = resting_on(module, root)
    rules = [rule.id for rule in load_rules().values() if rule.check.__module__ in near]
    return set(rules)


def _in_order(streams: Iterable[Stream], concerned: set[str]) -> list[Stream]:
    """Streams of the rules concerned, then golden captures; so many of each, in an order that mixes the rules."""
    mixed = sorted(streams, key=lambda one: hashlib.sha256(one.name.encode()).digest())
    own = [one for one in mixed if one.rule in concerned][:MOST_STREAMS]
    protocols = {one.protocol for one in own}
    return own + [one for one in mixed if not one.rule and one.protocol in protocols][:MOST_CAPTURES]
