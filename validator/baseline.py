"""Baselines that bite both ways: what is not in them fails, and so does what they hold and no capture shows any more.

An entry accepts so many findings of one fingerprint over all captures of a run. Dates are compared with the day the
caller names; the judge itself knows no clock.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from validator import resources
from validator.datafile import json_pointer, places_in, read_json
from validator.errors import BaselineError, DefinitionError
from validator.protocol.schemas import describe, leaves, load_store
from validator.records import dataclass, replace
from validator.rules import Finding
from validator.run import Accepted, Note

SCHEMA = "baseline/1/baseline.schema.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """So many findings of one kind are accepted, for a reason and perhaps until a day."""

    fingerprint: str
    rule: str
    count: int
    reason: str
    requirement: str = ""
    expires: str = ""
    line: int | None = None

    def expired(self, as_of: str) -> bool:
        return bool(self.expires) and as_of > self.expires


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of one file by fingerprint."""

    path: Path
    entries: dict[str, Entry]


def load(path: Path) -> Baseline:
    """A baseline; a missing or malformed one is an error, never "no baseline"."""
    try:
        data = read_json(path)
        errors = load_store(resources.folder("schemas")).validator(SCHEMA).iter_errors(data)
        found = [leaf for error in errors for leaf in leaves(error)]
    except DefinitionError as error:
        hint = "write one with: runtime-validate baseline write"
        raise BaselineError(error.reason, source=path.name, place=error.place, hint=hint) from error
    except OSError as error:
        raise BaselineError(f"it cannot be read: {error.strerror}", source=path.name) from error
    for error in sorted(found, key=lambda leaf: [str(part) for part in leaf.absolute_path]):
        raise _refused(path, list(error.absolute_path), describe(error))
    entries: dict[str, Entry] = {}
    places = places_in(path)
    for index, item in enumerate(data["entries"]):
        _check(path, index, item, entries)
        entries[item["fingerprint"]] = Entry(**item, line=places.line_of(["entries", index]))
    return Baseline(path, entries)


def _check(path: Path, index: int, item: dict[str, Any], entries: dict[str, Entry]) -> None:
    if item["fingerprint"] in entries:
        raise _refused(path, ["entries", index], f"{item['fingerprint']} has an entry already")
    try:
        datetime.date.fromisoformat(item.get("expires", "2000-01-01"))
    except ValueError as error:
        raise _refused(path, ["entries", index, "expires"], "is no day of the calendar") from error


def _refused(path: Path, pointer: list[str | int], reason: str) -> BaselineError:
    line = places_in(path).line_of(pointer)
    place = f"line {line} ({json_pointer(pointer)})" if line else json_pointer(pointer) or None
    return BaselineError(reason, source=path.name, place=place)


class Ledger:
    """A baseline at work: accepts findings while an entry has some left, and then says how the entries fared."""

    def __init__(self, baseline: Baseline, as_of: str):
        self._baseline = baseline
        self._as_of = as_of
        self.met: dict[str, int] = {}

    def decide(self, found: Finding) -> Accepted | None:
        entry = self._baseline.entries.get(found.fingerprint)
        if entry is None:
            return None
        self.met[entry.fingerprint] = self.met.get(entry.fingerprint, 0) + 1
        if entry.expired(self._as_of) or self.met[entry.fingerprint] > entry.count:
            return None
        return Accepted(found, "baseline", entry.reason)

    def notes(self, judged: frozenset[str], looks: dict[str, int], partial: bool) -> Iterator[Note]:
        """What is wrong with the entries themselves; one whose rule was not asked is left alone."""
        for entry in self._baseline.entries.values():
            if entry.rule in judged:
                yield from self._note(entry, looks.get(entry.rule, 0), partial)

    def _note(self, entry: Entry, looks: int, partial: bool) -> Iterator[Note]:
        met = self.met.get(entry.fingerprint, 0)
        name = f"{entry.rule} {entry.fingerprint}"
        place = (self._baseline.path.name, entry.line)
        if met < entry.count and not partial:
            seen = f"{entry.rule} looked at {looks} subjects" if looks else f"{entry.rule} had nothing to look at"
            text = f"{name} accepts {entry.count} and {met} were found ({seen}); run: runtime-validate baseline prune"
            yield Note("stale-entry", text, *place)
        if entry.expired(self._as_of):
            text = f"{name} expired on {entry.expires}; fix the cause or decide again"
            yield Note("expired-entry", text, *place)
        elif met > entry.count:
            yield Note("grown-entry", f"{name} accepts {entry.count} and {met} were found", *place, fails=False)


def collected(findings: Iterable[Finding], reason: str) -> dict[str, Entry]:
    """One entry per fingerprint, with one reason for all."""
    entries: dict[str, Entry] = {}
    for found in findings:
        known = entries.get(found.fingerprint)
        if known is None:
            known = Entry(found.fingerprint, found.rule, 0, reason, found.clause)
        entries[found.fingerprint] = replace(known, count=known.count + 1)
    return entries


def merged(old: dict[str, Entry], new: dict[str, Entry], may_grow: bool) -> dict[str, Entry]:
    """The new entries with the old ones' reasons and dates; more than before only when that is allowed."""
    growth = sum(max(entry.count - (old[name].count if name in old else 0), 0) for name, entry in new.items())
    if growth and not may_grow:
        reason = f"the baseline would grow by {growth} finding{'' if growth == 1 else 's'}"
        raise BaselineError(reason, hint="fix them, or say --allow-growth and give a --reason")
    kept = {name: replace(old[name], count=entry.count) for name, entry in new.items() if name in old}
    return {**new, **kept}


def pruned(baseline: Baseline, met: dict[str, int]) -> dict[str, Entry]:
    """The entries that were met, lowered to how often."""
    return {
        name: replace(entry, count=min(entry.count, met[name]))
        for name, entry in baseline.entries.items()
        if met.get(name)
    }


def dump(entries: dict[str, Entry]) -> str:
    """A baseline as text, in a stable order."""
    ordered = sorted(entries.values(), key=lambda entry: (entry.rule, entry.fingerprint))
    document = {"baseline": "1", "entries": [_as_data(entry) for entry in ordered]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _as_data(entry: Entry) -> dict[str, Any]:
    data = {
        "fingerprint": entry.fingerprint,
        "rule": entry.rule,
        "requirement": entry.requirement,
        "count": entry.count,
        "reason": entry.reason,
        "expires": entry.expires,
    }
    return {key: value for key, value in data.items() if value != ""}
