"""What the rules of this family remember: commands, their answers, and when a capture came to rest."""

from __future__ import annotations

from validator.jsontext import write
from validator.protocol.digest import blake2b
from validator.replay import world as worlds
from validator.replay.faded import Lines
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.command._live import Live
from validator.rules.command._sent import (
    CREATES,
    DONE,
    SUBJECTS,
    Effect,
    Sent,
    may_be,
    may_create,
    settled,
    value_of,
    waits,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECOVERY = ("history.window.loaded", "history.reconstructed", "snapshot.repaired")


class Commands:
    """Commands by id in the order they were sent, and answers that answer nothing.

    A command that was answered, did what it said and was sent long ago is let go of, except the first of its kind: that
    one shows at the end of the capture that there were such.
    """

    since = ("record:command", "record:result", "record:restart", *RECOVERY)
    forgets = ("let_go", "_used")
    heeds_last = False

    def __init__(self, world: World):
        self._world = world
        self.sent: dict[str, Sent] = {}
        self.last_answer = 0
        self.last_answered = 0
        """The line of the latest command that has an answer."""
        self.restarts: list[int] = []
        self.let_go = Lines()
        """Ids of commands of which nothing more is known."""
        self._used = Lines()
        """Their idempotency keys."""
        self._kinds: dict[tuple[Any, ...], str] = {}
        self._swept = 0
        self._keys: dict[tuple[str, str], tuple[Sent, str]] = {}
        self._chosen: dict[tuple[str, str], Sent] = {}
        """The first command for which an id was chosen."""
        self._live = Live()
        self._recovered = 0
        self.fresh: list[Sent] = []
        """Commands whose first effect the current step is."""
        self.current: Sent | None = None
        """The command that the current line is, or answers for the first time."""

    def event(self, event_id: str) -> tuple[int, str]:
        """The line and type of an event; zero and nothing for one that never came."""
        return self._world.order.find(event_id) or (0, "")

    def apply(self, step: Step) -> None:
        self.current = None
        if self.fresh:
            self.fresh = []
        if step.kind == "event":
            self._event(step)
        elif step.kind == "command":
            self._command(step)
        elif step.kind == "result":
            self._result(step)
        elif step.kind == "restart":
            self.restarts.append(step.number)

    def alike(self, step: Step) -> bool:
        return step.type not in self._live.by_event

    def _command(self, step: Step) -> None:
        key, name, request = (step.line.get(part) for part in ("command_id", "command", "request"))
        if not isinstance(key, str) or not isinstance(name, str) or not isinstance(request, dict):
            return
        if key in self.sent or key in self.let_go:
            return
        if step.number - self._swept >= worlds.RECENT:
            self._sweep(step.number)
        definition = self._world.protocol.commands.get(name)
        field_name, machine = SUBJECTS.get(name, ("", ""))
        named = request.get(field_name)
        subject = self._world.subjects(machine).get(named) if isinstance(named, str) else None
        state, past = (subject.state, tuple(subject.history)) if subject else (None, ())
        order = self._world.order
        sent = Sent(key, step.number, name, request, definition, state, order.highest, order.highest_line, past)
        sent.doubtful = self._world.midway(sent) or self._world.lost(sent) is not None
        sent.recovered = bool(self.restarts) and self._recovered > self.restarts[-1]
        self._idempotency(sent)
        choice = _choice(sent)
        if choice is not None:
            first = self._chosen.setdefault(choice, sent)
            sent.chosen = first if first is not sent else None
        self.sent[key] = self.current = sent
        self._live.add(sent)

    def _idempotency(self, sent: Sent) -> None:
        key = sent.request.get("idempotency_key")
        if not isinstance(key, str):
            return
        sent.again = _used(sent) in self._used
        content = _digest({name: value for name, value in sent.request.items() if name != "idempotency_key"})
        before = self._keys.setdefault((sent.name, key), (sent, content))
        if before[0] is not sent:
            if before[1] == content:
                sent.repeats = before[0]
            else:
                sent.clashes = before[0]

    def _sweep(self, number: int) -> None:
        """Lets go of what was sent long ago and came out as it had to."""
        old, self._swept = number - worlds.RECENT, number
        for sent in [sent for sent in self.sent.values() if sent.line < old and self._is_plain(sent)]:
            kind = (sent.name, sent.outcome, sent.first is None, not sent.listed, sent.state is None)
            if self._kinds.setdefault(kind, sent.key) != sent.key:
                del self.sent[sent.key]
                self._chosen.pop(_choice(sent) or ("", ""), None)
                self._live.drop(sent)
                self.let_go.add(sent.key)
                if "idempotency_key" in sent.request:
                    self._keys.pop((sent.name, str(sent.request["idempotency_key"])), None)
                    self._used.add(_used(sent))

    def _is_plain(self, sent: Sent) -> bool:
        """True when no rule will have anything to say about a command at the end."""
        if sent.definition is None or sent.outcome is None or sent.repeats or sent.clashes or sent.chosen:
            return False
        if sent.outcome not in DONE:
            return not sent.listed and (sent.created is None or self.created_by_another(sent))
        if waits(sent):
            return False
        if sent.first is None and (sent.definition.writes or sent.state is None) and sent.definition.mutates:
            return False
        found = [self.event(key) for key in sent.listed]
        return all(line > sent.line and kind in sent.definition.writes for line, kind in found)

    def created_by_another(self, sent: Sent) -> bool:
        """True when another command that was not refused may have written the event that bears the chosen id."""
        made = sent.created
        name = CREATES[sent.name][0] if made else ""
        return made is not None and any(
            entry is not sent and entry.line < made.line and may_create(entry, made, name)
            for entry in self.sent.values()
        )

    def _result(self, step: Step) -> None:
        self.last_answer = step.number
        sent = self.sent.get(str(step.line.get("command_id")))
        result = step.line.get("result")
        if sent is None or sent.answered is not None or not isinstance(result, dict):
            return
        self.current = sent
        self.last_answered = max(self.last_answered, sent.line)
        sent.answered, sent.result = step.number, result
        outcome = result.get("outcome")
        sent.outcome = outcome if isinstance(outcome, str) else None
        if settled(sent):
            self._live.drop(sent)

    def _event(self, step: Step) -> None:
        if step.type in RECOVERY:
            self._recovered = step.number
        if step.type not in self._live.by_event:
            return
        payload, event_id = step.line.get("payload"), step.line.get("event_id")
        body = payload if isinstance(payload, dict) else {}
        effect = Effect(step.number, step.type or "", event_id, step.scope, body)
        for sent in self._live.of(effect):
            if may_be(sent, effect):
                self._attribute(sent, effect)
            if settled(sent):
                self._live.drop(sent)

    def _attribute(self, sent: Sent, effect: Effect) -> None:
        if sent.first is None:
            sent.first = effect
            self.fresh.append(sent)
        if sent.answered is None:
            sent.told += 1
        name, event = CREATES.get(sent.name, ("", ""))
        chosen = sent.request.get(name)
        if effect.type == event and chosen is not None and value_of(effect, name) == chosen and sent.created is None:
            sent.created = effect


def _used(sent: Sent) -> str:
    return f"{sent.name}\n{sent.request.get('idempotency_key')}"


def _choice(sent: Sent) -> tuple[str, str] | None:
    """The command and the id that its caller chose for what it creates."""
    subject = sent.request.get(CREATES.get(sent.name, ("", ""))[0])
    return (sent.name, subject) if isinstance(subject, str) else None


def _digest(value: Any) -> str:
    return blake2b(write(value).encode(), digest_size=12).hexdigest()


def around(world: World, sent: Sent) -> dict[str, str]:
    """The ids that a command names, and those that its subject was seen with."""
    machine = SUBJECTS.get(sent.name, ("", ""))[1]
    subject = world.subjects(machine).get(sent.subject or "")
    return {**(subject.scope if subject else {}), **sent.scope}


def completeness(world: World, context: Any) -> str | None:
    """What the caller, or else the header, says the capture is."""
    said = context.options.expect or world.header.get("completeness")
    return said if isinstance(said, str) else None


def is_prefix(world: World, context: Any) -> bool:
    return completeness(world, context) == "prefix"


def came_to_rest(world: World, context: Any, sent: Sent, line: int) -> bool:
    """True when what was to follow a line about a command would be in the capture.

    The capture holds the whole run, or a later command was answered; and nothing was lost after the line.
    """
    if is_prefix(world, context) or (world.lost(sent) or 0) > line:
        return False
    if completeness(world, context) == "complete":
        return True
    return world.ledger(Commands).last_answered > line


def went_on(commands: Commands, line: int) -> tuple[int, ...]:
    """A command sent after a line with its answer, which shows that the runtime went on; for a witness."""
    later = (sent for sent in commands.sent.values() if sent.line > line and sent.answered)
    found = next(later, None)
    return (found.line, found.answered) if found and found.answered else ()


def history(world: World, sent: Sent) -> tuple[int, ...]:
    """The lines that moved the subject of a command before it was sent; for a witness."""
    if sent.past:
        return sent.past
    machine = SUBJECTS.get(sent.name, ("", ""))[1]
    subject = world.subjects(machine).get(sent.subject or "")
    return tuple(line for line in subject.history if line < sent.line) if subject else ()
