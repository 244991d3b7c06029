"""Which story would show a requirement that nobody has seen: the packaged stream that exercises the rule judging it."""

from __future__ import annotations

from collections.abc import Iterator

from validator import resources
from validator.protocol.protocol import Protocol
from validator.requirements import Requirement
from validator.rulestreams import rule_streams


def stories(protocol: Protocol) -> dict[str, tuple[str, ...]]:
    """Rule id to its near misses in words; each is a short stream that the rule looks at and lets pass."""
    found: dict[str, list[str]] = {}
    folder = resources.fixtures() / protocol.name / protocol.version
    for rule, path, entry in rule_streams(folder, protocol):
        if path.name.startswith("near-"):
            found.setdefault(rule, []).append(f"{rule}/{path.stem}: {entry['description']}")
    return {rule: tuple(texts) for rule, texts in found.items()}


def story_of(requirement: Requirement, known: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """What to capture so that a requirement is judged."""
    if requirement.way == "schema":
        yield f"a capture with {' or '.join(requirement.by)}"
        return
    for rule in requirement.by:
        texts = known.get(rule, ())
        yield from texts[:1] or (f"a capture that {rule} has something to look at in",)
