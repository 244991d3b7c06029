"""What the keys of a line, the kinds of its values and its type tell by themselves; worked out once for lines alike."""

import functools

from validator.protocol.glance import glance
from validator.redact import vocabulary

PATHS = {"path", "path?"}
ERRORS = {"error", "error_message", "errorMessage", "safeMessage", "failure"}
PROBLEMS = ("runtime.warning", "runtime.error")
"""Events that tell about an error whatever their keys are."""
TOKENS = ("resume_token", "resume_token_ref")
CONTENT = {"body", "content", "contents", "data", "fileContent", "file_content", "raw", "rawContent", "text"}
"""Keys under which the content of a file stands beside its path."""
HELD = {"answer", "safe_args", "error"}
"""Keys of a payload that decide which clauses its texts are held to."""


def payload_of(step):
    """The payload of a line, empty when there is none to read."""
    payload = step.line.get("payload")
    return payload if isinstance(payload, dict) else {}


class Traits:
    """What lines of one layout, kind and type have in common."""

    __slots__ = ("looks", "names", "paths", "unnamed")

    def __init__(self, step, protocol):
        objects = glance(step.line)[0].keys
        keys = set().union(*objects)
        paths = any(paths_of(protocol, keys) for keys in objects)
        told = {"path": paths, "error": keys & ERRORS, "token": keys & {*TOKENS}}
        self.names = frozenset(word for word, there in told.items() if there)
        """What the keys say the line holds: paths, errors, tokens."""
        self.paths = _beside_nothing(step.line, protocol) if told["path"] else 0
        """How many objects name a path; None where one has content beside it."""
        searched = step.type in PROBLEMS or step.type == "error" or not self.names <= {"path"}
        self.unnamed = None if searched else self.paths
        """The key of a line in which no error, no token and no content of a file stands."""
        self.looks = (step.kind, step.type, frozenset(HELD.intersection(payload_of(step))))
        """What decides, beside the places of its texts, which clauses the line is held to."""


@functools.lru_cache(maxsize=4096)
def paths_of(protocol, keys):
    """Of some keys, those that name a path."""
    known = vocabulary(protocol)
    return tuple([key for key in keys if not PATHS.isdisjoint(known.kinds(key))])


def objects(value, segments):
    """Every object of a document with its place."""
    if isinstance(value, dict):
        yield segments, value
        for key, sub in value.items():
            yield from objects(sub, (*segments, key))
    elif isinstance(value, list):
        for index, sub in enumerate(value):
            yield from objects(sub, (*segments, index))


def _beside_nothing(line, protocol):
    told = [entry for _, entry in objects(line, ()) if _names_path(entry, protocol)]
    return len(told) if all(CONTENT.isdisjoint(entry) for entry in told) else None


def _names_path(entry, protocol):
    return any(isinstance(entry[key], str) for key in paths_of(protocol, tuple(entry)))
