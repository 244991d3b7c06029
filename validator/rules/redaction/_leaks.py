"""What one line leaks: scanned once, however many rules ask, and the clause that each leak breaks."""

from collections import OrderedDict

from validator.protocol.glance import glance
from validator.protocol.honest import is_honest
from validator.redact import clean, is_marker, kind_of, masked_pointer, may_hide, survey, vocabulary
from validator.replay.faded import Lines
from validator.rules import finding, seen
from validator.rules.redaction._traits import TOKENS, Traits, payload_of

TOLD = ("*", "record:result", "record:snapshot", "record:run", "record:export")
"""What a runtime writes. Commands are a client's words, and the header declares the canaries."""

AGENTHUB_REVIEW = (
    "run.approval.requested",
    "run.artifact.ready",
    "run.completed",
    "run.diff.ready",
    "run.patch.proposed",
    "run.preview.ready",
)
_MOST = 4096
"""Traits that are kept; a stream may make up as many types as it likes."""
_ANSWER_WORDS = ("value", "answer", "text", "input", "response", "content")


class Leaks:
    """The survey of the line at hand."""

    hears = ()

    def __init__(self, world):
        self._protocol, self._sieve = world.protocol, vocabulary(world.protocol).sieve
        self._known = {}
        """Layout, kind and type of a line to its traits."""
        self._line = self._places = self._survey = self._traits = None
        self._marked = False

    def apply(self, step):
        """Learns nothing: a line is surveyed when somebody asks."""

    def _look(self, step):
        """Looks at the texts of a line once; most lines hold none that has to be searched."""
        self._line = line = step.line
        is_event = step.kind == "event" and "record" not in line
        self._places = self._sieve.calm(line, step.type if is_event else kind_of(line, self._protocol))
        _, texts, layout = glance(line)
        key = (layout, step.kind, step.type)
        self._survey, self._traits = None, self._known.get(key) or self._learn(key, step)
        self._marked = self._places is None and may_hide(texts)

    def _learn(self, key, step):
        if len(self._known) >= _MOST:
            self._known.clear()
        found = self._known[key] = Traits(step, self._protocol)
        return found

    def of(self, step, context):
        if self._line is not step.line:
            self._look(step)
        if self._survey is None:
            if self._places is not None and not context.canaries:
                self._survey = clean(self._places)
            else:
                # A part of an export is read from a place in its line, not from the whole of it.
                raw = context.line.raw if context.line and step.at is None else None
                self._survey = survey(step.line, self._protocol, context.canaries, raw)
        return self._survey

    def traits(self, step):
        """What lines like this one have in common."""
        if self._line is not step.line:
            self._look(step)
        return self._traits

    def marked(self, step):
        """True when a text of the line, or the reason of an honest statement, may say that something was hidden."""
        if self._line is not step.line:
            self._look(step)
        return self._marked


def unnamed(step, world, context):
    """The key of a line in which no error, no token and no content of a file stands: how many objects name a path."""
    return world.ledger(Leaks).traits(step).unnamed


def unmarked(step, world, context):
    """The key of a line in which nothing is said to be hidden."""
    return None if world.ledger(Leaks).marked(step) else True


def leakless(step, world, context):
    """The key of a line that leaks nothing: what decides at what is looked, and the places of its texts."""
    leaks = world.ledger(Leaks)
    survey = leaks.of(step, context)
    return None if survey.leaks else (leaks.traits(step).looks, survey.places, any(context.canaries))


class CredentialActions:
    """Actions that ask for a credential; what they are answered with is never told."""

    hears = ("action.required", "action.resolved")

    def __init__(self, world):
        self._asked = OrderedDict()
        self.line = None
        """Where the action was asked for that the line at hand resolves."""

    def apply(self, step):
        action = step.scope.get("action_id")
        self.line = None
        if step.type == "action.required" and payload_of(step).get("action_type") == "credential":
            self._asked[action] = step.number
        elif step.type == "action.resolved":
            self.line = self._asked.pop(action, None)


class ResumeTokens:
    """The tokens that peers sent to come back, by value, each with its line."""

    hears = ("record:command",)
    forgets = ("sent",)

    def __init__(self, world):
        self.sent = Lines()

    def apply(self, step):
        request = step.line.get("request") if step.kind == "command" else None
        token = request.get("resume_token") if isinstance(request, dict) else None
        if isinstance(token, str):
            self.sent.setdefault(token, step.number)


def resume_tokens(value, segments=()):
    """Every field of a document that holds a resume token or a reference to one, with its place."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, sub in pairs:
        here = (*segments, key)
        if key in TOKENS and isinstance(value, dict):
            yield here, sub
        else:
            yield from resume_tokens(sub, here)


def answers(step, world):
    """The plain values in the answer to a request for a credential, by pointer."""
    answer = payload_of(step).get("answer")
    if not isinstance(answer, dict) or is_honest(answer):
        return
    known = vocabulary(world.protocol)
    for key, value in answer.items():
        told = isinstance(value, str) and value and not is_marker(value) and "://" not in value
        if told and ("secret" in known.kinds(key) or key in _ANSWER_WORDS):
            yield masked_pointer(("payload", "answer", key))


def owned(leak, step, world):
    """True when another rule reports the same fact: a key never carried, a resume token, an answered credential."""
    if "raw_keys" in world.protocol.tables and leak.segments[:1] == ("data",):
        keys = {key for row in world.protocol.tables["raw_keys"]["rows"] for key in row["values"]["keys"]}
        return any(str(part).lower().replace("-", "_") in keys for part in leak.segments)
    if leak.segments and leak.segments[-1] == TOKENS[0] and world.protocol.name == "agent-runtime":
        return leak.kind in {"named", "secret", "url", "entropy"}
    if step.type == "action.resolved" and world.ledger(CredentialActions).line is not None:
        return leak.pointer in answers(step, world)
    return False


def secret_clauses(step, world):
    """The clause that a secret in this line breaks, by the beginning of its pointer; the empty one is the general."""
    name = world.protocol.name
    if name == "agenthub":
        told = ("run.created", "run.message.delta", "run.message.completed")
        return {"": "AH-131" if step.type in told else "AH-130"}
    if name != "agent-runtime":
        return {"": {"runagents": "RA-131", "agent-threads": "AT-111"}[name]}
    found = {"": "RED-9"}
    held = payload_of(step).keys()
    if step.type == "process.started":
        found |= {"/payload/command": "PROC-10", "/payload/subcommands": "PROC-10"}
    elif step.type == "hook.started":
        found["/payload"] = "HOOK-15"
    elif step.type == "process.input":
        found["/payload"] = "RED-26"
    elif step.type == "action.resolved" and "answer" in held:
        found["/payload/answer"] = "RED-14"
    if "safe_args" in held:
        found["/payload/safe_args"] = "RED-24"
    if "error" in held:
        found["/payload/error"] = "RED-29"
    return found


def clause_at(clauses, pointer):
    """The clause of the longest beginning that a pointer has."""
    return clauses[max((start for start in clauses if pointer.startswith(start)), key=len)]


def secrets_told(step, world, context, kind, expected):
    """A finding for every leak of a kind that no other rule owns, under the clause of its place."""
    survey = world.ledger(Leaks).of(step, context)
    clauses = secret_clauses(step, world)
    if survey.places:
        yield seen(*sorted(set(clauses.values())))
    for leak in survey.leaks:
        if leak.kind == kind and not owned(leak, step, world):
            clause = clause_at(clauses, leak.pointer)
            yield finding(step, expected, leak.text, pointer=leak.pointer, clause=clause, key=leak.row)
