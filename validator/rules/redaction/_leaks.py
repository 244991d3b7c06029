"""What one line leaks: scanned once, however many rules ask, and the clause that each leak breaks."""

import functools
from collections import OrderedDict

from validator.protocol.glance import glance, remembered
from validator.protocol.honest import is_honest
from validator.redact import clean, is_marker, kind_of, masked_pointer, may_hide, survey, vocabulary
from validator.replay.faded import Lines
from validator.rules import finding, seen

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
PATHS = {"path", "path?"}
ERRORS = {"error", "error_message", "errorMessage", "safeMessage", "failure"}
PROBLEMS = ("runtime.warning", "runtime.error")
"""Events that tell about an error whatever their keys are."""
_ANSWER_WORDS = ("value", "answer", "text", "input", "response", "content")


def payload_of(step):
    """The payload of a line, empty when there is none to read."""
    payload = step.line.get("payload")
    return payload if isinstance(payload, dict) else {}


@functools.lru_cache(maxsize=16)
def _question(protocol):
    """Asks the keys of a document, at whatever depth, what they say it holds: paths, errors, tokens."""
    known = vocabulary(protocol)

    def told(shape):
        keys = {key for keys in shape for key in keys}
        paths = any(known.kinds(key) & PATHS for key in keys)
        found = {"path": paths, "error": keys & ERRORS, "token": keys & {*TOKENS}}
        return frozenset(word for word, there in found.items() if there)

    return told


class Leaks:
    """The survey of the line at hand."""

    hears = ()

    def __init__(self, world):
        self._protocol, self._question = world.protocol, _question(world.protocol)
        self._sieve = vocabulary(world.protocol).sieve
        self._line = self._survey = self._calm = None
        self._marked = False

    def apply(self, step):
        """Learns nothing: a line is surveyed when somebody asks."""

    def _look(self, step):
        """Looks at the texts of a line once; most lines hold none that has to be searched."""
        self._line = line = step.line
        places = self._sieve.calm(line, kind_of(line, self._protocol))
        self._survey = self._calm = None if places is None else clean(places)
        self._marked = places is None and may_hide(glance(line)[1])

    def of(self, step, context):
        if self._line is not step.line:
            self._look(step)
        if self._survey is None or (self._survey is self._calm and context.canaries):
            # A part of an export is read from a place in its line, not from the whole of it.
            raw = context.line.raw if context.line and step.at is None else None
            self._survey = survey(step.line, self._protocol, context.canaries, raw)
        return self._survey

    def names(self, step):
        """What the keys of the line say it holds."""
        return remembered(self._question, glance(step.line)[0])

    def marked(self, step):
        """True when a text of the line, or the reason of an honest statement, may say that something was hidden."""
        if self._line is not step.line:
            self._look(step)
        return self._marked


def unnamed(step, world, context):
    """The key of a line without a path, an error or a token by name; the rules about those have nothing to look at."""
    told = step.type in PROBLEMS or step.type == "error" or world.ledger(Leaks).names(step)
    return None if told else True


def unmarked(step, world, context):
    """The key of a line in which nothing is said to be hidden."""
    return None if world.ledger(Leaks).marked(step) else True


HELD = {"answer", "safe_args", "error"}
"""Keys of a payload that decide which clauses its texts are held to."""


def leakless(step, world, context):
    """The key of a line that leaks nothing: what was looked at depends on its type, its places and these keys."""
    survey = world.ledger(Leaks).of(step, context)
    if survey.leaks:
        return None
    payload = payload_of(step)
    held = None if payload.keys().isdisjoint(HELD) else frozenset(HELD.intersection(payload))
    return step.kind, step.type, survey.places, held, any(context.canaries)


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


TOKENS = ("resume_token", "resume_token_ref")


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
