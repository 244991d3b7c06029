"""Commands of which effects may still come, by the events that they write and the subjects that they name."""

from __future__ import annotations

from validator.rules.command._sent import LOOSE, Effect, Sent, told_under, value_of

_MANY = {"queued_turn_id", "action_id"}
"""Names under which an event may tell of several, or of one under another name."""
Spot = tuple[str, str]
ANYWHERE: Spot = ("", "")


class Live:
    """An event that names a subject can only be an effect of commands that name the same, or none."""

    def __init__(self) -> None:
        self.by_event: dict[str, dict[str, dict[str, dict[str, Sent]]]] = {}
        """Event to the name of a subject, its value, and the commands by their ids."""

    def add(self, sent: Sent) -> None:
        name, subject = _spot(sent)
        for event in sent.definition.writes if sent.definition else ():
            self.by_event.setdefault(event, {}).setdefault(name, {}).setdefault(subject, {})[sent.key] = sent

    def drop(self, sent: Sent) -> None:
        name, subject = _spot(sent)
        for event in sent.definition.writes if sent.definition else ():
            names = self.by_event.get(event, {})
            subjects = names.get(name, {})
            subjects.get(subject, {}).pop(sent.key, None)
            for table, key in ((subjects, subject), (names, name), (self.by_event, event)):
                if not table.get(key):
                    table.pop(key, None)

    def of(self, effect: Effect) -> list[Sent]:
        """The commands that an event can be an effect of, in the order they were sent; some of them are not."""
        found: list[Sent] = []
        for name, subjects in self.by_event.get(effect.type, {}).items():
            value = value_of(effect, name) if name else None
            wanted = [subjects.get(value, {})] if isinstance(value, str) else subjects.values()
            found += [sent for table in wanted for sent in table.values()]
        return sorted(found, key=lambda sent: sent.line)


def _spot(sent: Sent) -> Spot:
    """The name and value of the subject that a request names for certain."""
    name = told_under(sent)
    subject = sent.request.get(name)
    if sent.name in LOOSE or name in _MANY or not isinstance(subject, str) or not subject:
        return ANYWHERE
    return name, subject
