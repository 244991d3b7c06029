"""Suppressions of a configuration file: each has a reason, may expire, and is itself a finding when it is not used.

There is no way to suppress anything inside a stream: the party under test cannot silence its judge.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from validator.records import dataclass
from validator.rules import Finding
from validator.run import Accepted, Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Suppression:
    """What a finding must fit to be accepted; what is empty fits all."""

    reason: str
    file: Path
    line: int | None
    rule: str = ""
    requirement: str = ""
    fingerprint: str = ""
    path: str = ""
    expires: str = ""

    def fits(self, found: Finding) -> bool:
        if self.rule and not found.rule.startswith(self.rule):
            return False
        if self.requirement and found.clause != self.requirement:
            return False
        if self.fingerprint and found.fingerprint != self.fingerprint:
            return False
        return self.covers(found.file)

    def covers(self, capture: str) -> bool:
        """True when it speaks about a capture; its pattern is relative to the file that holds it."""
        if not self.path:
            return True
        name = capture if capture == "-" else os.path.relpath(capture, self.file.parent)
        import fnmatch  # most runs are told of none

        return fnmatch.fnmatchcase(type(self.file)(name).as_posix(), self.path)

    def expired(self, as_of: str) -> bool:
        return bool(self.expires) and as_of > self.expires

    @property
    def subject(self) -> str:
        words = (self.rule, self.requirement, self.fingerprint, f"in {self.path}" if self.path else "")
        return " ".join(word for word in words if word)


class Suppressions:
    """All suppressions of a run; they remember which of them were used."""

    def __init__(self, entries: tuple[Suppression, ...], as_of: str):
        self._entries = entries
        self._as_of = as_of
        self._used: set[int] = set()
        self._by_fingerprint: dict[str, list[int]] = {}
        """The numbers of those that name a fingerprint; under the empty one those that name none."""
        for number, entry in enumerate(entries):
            self._by_fingerprint.setdefault(entry.fingerprint, []).append(number)

    def decide(self, found: Finding) -> Accepted | None:
        others = self._by_fingerprint
        for number in sorted([*others.get(found.fingerprint, ()), *others.get("", ())]):
            entry = self._entries[number]
            if entry.fits(found) and not entry.expired(self._as_of):
                self._used.add(number)
                return Accepted(found, "suppression", entry.reason)
        return None

    def notes(self, captures: list[str], judged: frozenset[str], partial: bool) -> Iterator[Note]:
        """What is wrong with the suppressions themselves."""
        for number, entry in enumerate(self._entries):
            file = entry.file.name
            if entry.expired(self._as_of):
                text = f"the suppression of {entry.subject} expired on {entry.expires}; fix the cause or decide again"
                yield Note("expired-suppression", text, file, entry.line)
            elif number not in self._used and not partial and _could_be_used(entry, captures, judged):
                text = f"the suppression of {entry.subject} fits no finding; remove it"
                yield Note("unused-suppression", text, file, entry.line)


def _could_be_used(entry: Suppression, captures: list[str], judged: frozenset[str]) -> bool:
    # A rule that was not asked, or a capture that was not given, says nothing about a suppression.
    rules = not entry.rule or any(rule.startswith(entry.rule) for rule in judged)
    return rules and any(entry.covers(capture) for capture in captures)
