"""Finds the subjects that belong together without looking at all of them.

The tables say by which identities subjects are ever looked for: members by the id of their owner, siblings by the
fields they share, and open ones by the subject that they hold up. Only those are indexed.
"""

from __future__ import annotations

from collections.abc import Mapping

from validator.protocol.machine import Machine
from validator.replay.subject import Subject

Fields = tuple[str, ...]
Place = tuple[str, Fields, Fields]


class Kin:
    """Subjects of a machine by the values of some of their identities."""

    def __init__(self, fields: Mapping[str, set[Fields]]):
        self._fields = {machine: tuple(sorted(wanted)) for machine, wanted in fields.items()}
        self._known: dict[Place, dict[str, Subject]] = {}

    def enter(self, subject: Subject) -> None:
        """Files a subject under the identities it was seen with."""
        if subject.machine in self._fields:
            for place in self._places(subject):
                self._known.setdefault(place, {})[subject.key] = subject

    def leave(self, subject: Subject) -> None:
        for place in self._places(subject):
            filed = self._known.get(place)
            if filed is not None and filed.pop(subject.key, None) is not None and not filed:
                del self._known[place]

    def of(self, machine: str, fields: Fields, values: Fields) -> list[Subject]:
        """Subjects that were seen with these values; they may move while the caller goes through them."""
        return list(self._known.get((machine, fields, values), {}).values())

    def _places(self, subject: Subject) -> list[Place]:
        machine, scope = subject.machine, subject.scope
        return [
            (machine, fields, tuple([scope[name] for name in fields]))
            for fields in self._fields.get(machine, ())
            if all(map(scope.__contains__, fields))
        ]


def related_by(machines: Mapping[str, Machine]) -> dict[str, set[Fields]]:
    """The identities by which members and siblings are looked for, by machine."""
    found: dict[str, set[Fields]] = {}
    for machine in machines.values():
        for row in machine.rows:
            if row.relation == "member":
                owner = machines[row.driver.name]
                found.setdefault(machine.name, set()).update({(",".join(key),) for key in owner.subject})
            elif row.relation != "owner":
                found.setdefault(machine.name, set()).add(tuple(row.relation))
    return found


def counted_by(machines: Mapping[str, Machine]) -> dict[str, set[Fields]]:
    """The identities by which open subjects are counted, by machine."""
    found: dict[str, set[Fields]] = {}
    for machine in machines.values():
        paths = (path for row in machine.rows for path, _ in (*row.when, *row.unless))
        for path in paths:
            if path.startswith("open."):
                found.setdefault(path.split(".")[1], set()).add((machine.subject[0][0],))
    return found
