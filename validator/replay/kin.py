"""Finds the subjects that belong together without looking at all of them.

The tables say by which identities subjects are ever looked for: members by the id of their owner, siblings by the
fields they share, and open ones by the subject that they hold up. Only those are indexed, and those that belong
together stand apart by how they stand: a table treats those in one state alike.
"""

from __future__ import annotations

from collections.abc import Mapping

from validator.protocol.machine import Machine
from validator.replay.subject import Subject

Fields = tuple[str, ...]
Place = tuple[str | bool | Fields, ...]
"""A machine, the names of some identities, a standing, and the values of the identities."""
Standing = tuple[str, bool]
"""The state of a subject, and whether a loss has put it in doubt."""
Group = dict[str, Subject]


class Kin:
    """Subjects of a machine by the values of some of their identities."""

    def __init__(self, fields: Mapping[str, set[Fields]]):
        self._fields = {machine: tuple(sorted(wanted)) for machine, wanted in fields.items()}
        self._standings: dict[str, dict[Standing, None]] = {machine: {} for machine in fields}
        """How those of a machine ever stood."""
        self._known: dict[Place, Subject | Group] = {}
        """Most stand alone; these need no group."""

    def enter(self, subject: Subject, before: Standing) -> None:
        """Files a subject under the identities it was seen with, as it stands now and no longer as it stood before."""
        if subject.machine in self._fields:
            now = standing(subject)
            if now != before:
                self.leave(subject, before)
            self._standings[subject.machine][now] = None
            for place in self._places(subject, now):
                known = self._known.setdefault(place, subject)
                if isinstance(known, dict):
                    known[subject.key] = subject
                elif known is not subject:
                    self._known[place] = {known.key: known, subject.key: subject}

    def leave(self, subject: Subject, before: Standing) -> None:
        """Forgets a subject that stood so."""
        for place in self._places(subject, before):
            known = self._known.get(place)
            if isinstance(known, dict):
                known.pop(subject.key, None)
            if not known or known is subject:
                self._known.pop(place, None)

    def of(self, machine: str, fields: Fields, values: Fields) -> list[tuple[Standing, Group]]:
        """Subjects that were seen with these values, by how they stand; they are filed anew when they move."""
        ways = self._standings.get(machine, ())
        every = ((how, self._known.get((machine, fields, *how, *values))) for how in ways)
        return [(how, known if isinstance(known, dict) else {known.key: known}) for how, known in every if known]

    def first(self, machine: str, fields: Fields, values: Fields, how: Standing) -> Subject | None:
        """The first of those that stand so."""
        known = self._known.get((machine, fields, *how, *values))
        return next(iter(known.values())) if isinstance(known, dict) else known

    def _places(self, subject: Subject, how: Standing) -> list[Place]:
        machine, scope = subject.machine, subject.scope
        return [
            (machine, fields, *how, *[scope[name] for name in fields])
            for fields in self._fields.get(machine, ())
            if all(map(scope.__contains__, fields))
        ]


def standing(subject: Subject) -> Standing:
    return subject.state, subject.doubted


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
