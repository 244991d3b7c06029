"""What was redacted in one place stands in plain text in another: the same key of the same subject.

Why: a redaction that holds in one event only hides nothing; whoever wants the value reads the other one.
Trips: tool.started with a redacted argument, then a snapshot of the call with that argument in plain text.
Near miss: the argument is redacted in both.
Fix: Redact before events, snapshots and answers are made from the value, so that none of them ever holds it.
"""

from functools import lru_cache

from validator.protocol.glance import glance
from validator.protocol.honest import is_honest
from validator.redact import is_marker, masked_pointer
from validator.rules import finding, rule, seen
from validator.rules._recent import Recent, Waiting
from validator.rules.redaction._leaks import Leaks
from validator.rules.redaction._traits import payload_of

_STREAMED = ("delta", "output", "progress", "input")
"""Events that repeat a key with ever new content; arguments do so when they come in pieces."""
_OWNERS = {
    "tool": "tool_call_id",
    "process": "process_id",
    "hook": "hook_run_id",
    "model": "model_request_id",
    "artifact": "artifact_id",
    "evidence": "evidence_id",
}
_NO_TEXT = ("_id", "_ids", "_ref", "_refs", "status", "type")
_PLAIN_KEPT = 50_000
_STEPS_KEPT = 10_000
_TOLD = ("snapshot", "result")
"""What of a record is told about subjects."""


class Redactions:
    """Per subject and key: where it was hidden, where it stood in plain text, and what the line at hand contradicts.

    Most subjects have nothing to hide. Until something of a subject is hidden, all that is kept of its lines is which
    keys held text; lines of one layout share that.
    """

    forgets = ("_hidden", "_fields", "_plain", "_touched", "_waiting")
    heeds_last = False

    def __init__(self, world):
        self._world, self._protocol = world, world.protocol
        self._depth = _depths(world.protocol)
        self._hidden = {}
        self._fields = {}
        self._plain = Recent(_PLAIN_KEPT)
        self._touched = {}
        """Subjects of which something was hidden."""
        self._waiting = Waiting(_STEPS_KEPT)
        """The lines of all others, each with the keys under which text of the subject stands."""
        self._known = {}
        self._asking = _mark(world.protocol)
        self._slack, self._excess = _STEPS_KEPT, 0
        """How far what was recalled is from being forgotten, and what waits of steps with more than two subjects."""
        self.looked = False
        self.clashes = []

    def apply(self, step):
        """Compares the keys of a line with what is known about their subjects, and remembers them."""
        self.looked = False
        if self.clashes:
            self.clashes = []
        if step.kind in {"command", "header"} or _is_streamed(step.type or ""):
            return
        if step.kind != "event" and not any(name in step.line for name in _TOLD):
            return
        if step.type == "tool.args" and "delta" in payload_of(step):
            return
        if step.type == "output.redacted":
            self._declare(step)
        if self._world.ledger(Leaks).marked(step):
            values = list(self._values(step))
            for subject in dict.fromkeys([subject for subject, *_ in values]):
                self._recall(subject, step.number)
            self._compare(step, values)
            return
        places = self._places(step)
        self.looked = any(places.values())
        if self._touched and not self._touched.keys().isdisjoint(places):
            self._learn(step, places)
        elif self.looked:
            self._excess += max(0, len(places) - 2)
            for subject, told in places.items():
                self._waiting.add(subject, (step.number, told))

    def tell(self):
        return self._slack, self._excess, self._plain.kept

    def hear(self, told, first):
        """What was recalled waited in any case when so many lines cannot hold enough others to displace it."""
        sure = min(slack for slack, _, _ in told) > sum(excess for _, excess, _ in told)
        return sure and sum(kept for _, _, kept in told) <= _PLAIN_KEPT

    def _recall(self, subject, now):
        """Remembers what stood in plain text on the lines of a subject that waited."""
        for number, told in self._waiting.take(subject):
            self._slack = min(self._slack, _STEPS_KEPT - 2 * (now - number + 1))
            for keys in told:
                self._plain.keep((*subject, keys), number)

    def _learn(self, step, places):
        """Remembers what stands in plain text on a line that hides nothing, and compares it where that may clash."""
        for subject in places:
            self._recall(subject, step.number)
        for subject, told in places.items():
            if told and (subject in self._fields or any((*subject, keys) in self._hidden for keys in told)):
                self._compare(step, self._values(step))
                return
        for subject, told in places.items():
            for keys in told:
                self._plain.keep((*subject, keys), step.number)

    def _places(self, step):
        """Every subject of a line to the keys under which text of it stands."""
        if step.kind == "event":
            _, texts, layout = glance(step.line)
            try:
                told = layout.answers[self._asking]
            except KeyError:
                told = layout.answers[self._asking] = self._told(step.line.get("payload"))
            if told is not None and all(texts):
                return dict.fromkeys(self._subjects(step), told)
        found = {}
        for subject, keys, _, value in self._values(step):
            told = found.setdefault(subject, [])
            if value and isinstance(value, str):
                told.append(keys)
        return {subject: _shared(tuple(told)) for subject, told in found.items()}

    def _told(self, payload):
        """The keys of all texts of a payload; None when an object in it is a subject of its own.

        It follows from the layout: which names hold text, and which objects are honest, is all that is asked.
        """
        found = []
        return tuple(found) if self._gather(payload, (), found) else None

    def _gather(self, value, keys, found, inside=False):
        """Finds the keys of all texts below a place; False when a value is inside of another subject."""
        if isinstance(value, list):
            pairs = enumerate(value)
        elif isinstance(value, dict) and not is_honest(value):
            if self._own(value):
                inside, keys = True, ()
            pairs = value.items()
        elif _last(keys).endswith(_NO_TEXT):
            return True
        else:
            if isinstance(value, str):
                found.append(keys)
            return not inside
        return all(self._gather(sub, (*keys, key), found, inside) for key, sub in pairs)

    def _compare(self, step, values):
        for subject, keys, segments, value in values:
            hidden = is_marker(value)
            if not hidden and not (isinstance(value, str) and value):
                continue
            place = (*subject, keys)
            self.looked = True
            if hidden:
                self._clash(self._plain.get(place), subject, segments, "plain elsewhere")
                self._hidden.setdefault(place, step.number)
                self._touched[subject] = None
                continue
            named = self._fields.get(subject, {})
            self._clash(
                self._hidden.get(place) or named.get(_last(keys)) or named.get(keys), subject, segments, "plain"
            )
            self._plain.keep(place, step.number)

    def _clash(self, line, subject, segments, how):
        if line is not None:
            self.clashes.append((line, subject, segments, how))

    def _declare(self, step):
        """Remembers the fields that an event says were hidden, for the output and for what produced it."""
        payload = payload_of(step)
        names = payload.get("redacted_fields")
        names = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        owner = next((name for word, name in _OWNERS.items() if payload.get("owner") == word), None)
        subjects = [("output_ref", payload.get("output_ref")), (owner, payload.get("owner_id"))]
        for subject in subjects:
            if all(isinstance(part, str) for part in subject):
                self._touched[subject] = None
                for name in names:
                    keys = tuple(part for part in name.replace("/", ".").split(".") if part and part != "payload")
                    self._fields.setdefault(subject, {})[keys if len(keys) > 1 else _last(keys)] = step.number

    def _values(self, step):
        if step.kind == "event":
            payload = step.line.get("payload")
            for subject in self._subjects(step):
                yield from self._below(payload, subject, (), ("payload",))
            return
        for name in _TOLD:
            yield from self._below(step.line.get(name), None, (), (name,))

    def _subjects(self, step):
        """What an event is about: the identity its family is known by, and the output it speaks of."""
        found, scope = [], step.scope
        for name in self._identities(self._protocol.family_of.get(step.type, "")):
            value = scope.get(name)
            if value is not None:
                found.append((name, value))
                break
        payload = step.line.get("payload")
        output = payload.get("output_ref") if isinstance(payload, dict) else None
        if isinstance(output, str):
            found.append(("output_ref", output))
        return found

    def _identities(self, family):
        """The identities that a family of events carries, the finest first."""
        known = self._known.get(family)
        if known is None:
            carried = self._protocol.families.get(family, {}).get("carries", {})
            names = (*carried.get("must", ()), *carried.get("any", ()))
            known = self._known[family] = sorted(names, key=lambda name: -self._depth.get(name, 0))
        return known

    def _below(self, value, subject, keys, segments):
        """Every value below a place, with the subject it belongs to and its keys from there."""
        if isinstance(value, list):
            for index, sub in enumerate(value):
                yield from self._below(sub, subject, (*keys, index), (*segments, index))
        elif isinstance(value, dict) and not is_honest(value):
            own = self._own(value)
            if own:
                subject, keys = own, ()
            for key, sub in value.items():
                yield from self._below(sub, subject, (*keys, key), (*segments, key))
        elif subject and not _last(keys).endswith(_NO_TEXT):
            yield subject, keys, segments, value

    def _own(self, value):
        """The finest identity that an object carries."""
        names = [name for name in self._depth if name in value] if value.keys() & self._depth.keys() else ()
        name = max((name for name in names if isinstance(value[name], str)), key=self._depth.__getitem__, default=None)
        return (name, value[name]) if name else None


@lru_cache(maxsize=16)
def _mark(protocol):
    """What the keys that hold text are remembered by."""
    return object()


@lru_cache(maxsize=1024)
def _is_streamed(kind):
    return kind.rsplit(".", 1)[-1] in _STREAMED


@lru_cache(maxsize=1024)
def _shared(told):
    """The same keys as one object: a snapshot tells the same of all its subjects, and they wait for long."""
    return told


def _last(keys):
    """The key that a value stands under, be it in a list or not."""
    if keys and isinstance(keys[-1], str):
        return keys[-1]
    return next((key for key in reversed(keys) if isinstance(key, str)), "")


@lru_cache(maxsize=16)
def _depths(protocol):
    """How far below the runtime every identity of a protocol lies."""
    return {name: _depth(name, protocol.identities) for name in protocol.identities}


def _depth(name, identities, seen_names=()):
    """How far below the runtime an identity lies."""
    parents = [parent for parent in identities[name]["belongs_to"] if parent in identities and parent not in seen_names]
    return 1 + max((_depth(parent, identities, (*seen_names, name)) for parent in parents), default=0)


def unclashed(step, world, context):
    """The key of a line that contradicts nothing: whether it was looked at."""
    ledger = world.ledger(Redactions)
    return None if ledger.clashes else ledger.looked


@rule(
    "RED007",
    "redacted-here-plain-there",
    clauses={"agent-runtime": "RED-18"},
    on=("*", "record:snapshot", "record:result"),
    needs=(Leaks, Redactions),
    quiet=unclashed,
)
def check(step, world, context):
    ledger = world.ledger(Redactions)
    if ledger.looked:
        yield seen()
    for line, subject, segments, how in ledger.clashes:
        pointer = masked_pointer(segments, context.canaries)
        expected = "redacted everywhere" if how == "plain" else "redacted from the beginning"
        actual = "plain text, redacted elsewhere" if how == "plain" else "redacted here, plain text elsewhere"
        entity = (subject[0].removesuffix("_id"), subject[1])
        yield finding(step, expected, actual, pointer=pointer, entity=entity, witness=(line,), key=how)
