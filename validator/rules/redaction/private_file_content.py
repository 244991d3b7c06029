"""The content of a file that is known to be private stands in an event.

Why: a login file or a key file is private by its name; a reference leads there for those who have access.
Trips: a read of .env with its text beside the path.  Near miss: a read of .env.example with its text.
Fix: Leave the content out, and refer to a preview or to the store that keeps the file.
"""

import re
from functools import lru_cache
from itertools import repeat

from validator.protocol.glance import glance
from validator.redact import is_marker, masked_pointer, vocabulary
from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import PATHS, TOLD, Leaks, unnamed

_PRIVATE = (
    r"(?i)(?:^|/)(?:\.env(?:\.(?!example|sample|template|dist)[a-z0-9_-]+)?|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.npmrc|\.pypirc"
    r"|\.git-credentials|\.htpasswd|\.pgpass|\.aws/credentials|\.docker/config\.json|\.kube/config|kubeconfig"
    r"|secrets?\.(?:ya?ml|json|toml)|[^/]+\.(?:pem|key|p12|pfx|jks|kdbx|ppk))$"
)
_CONTENT = {"body", "content", "contents", "data", "fileContent", "file_content", "raw", "rawContent", "text"}
CLAUSES = {"agent-runtime": "RED-28", "agenthub": "AH-133"}


def _is_private(path):
    return re.search(_PRIVATE, path)


@rule("RED014", "private-file-content", clauses=CLAUSES, on=TOLD, needs=(Leaks,), quiet=unnamed)
def check(step, world, context):
    if "path" not in world.ledger(Leaks).names(step):
        return
    plain = _plain(step.line, world.protocol)
    if plain is not None:
        yield from repeat(seen(), plain)
        return
    for segments, entry in _objects(step.line, ()):
        paths = [entry[key] for key in _paths(world.protocol, tuple(entry)) if isinstance(entry[key], str)]
        if not paths:
            continue
        yield seen()
        for key in sorted(_CONTENT & entry.keys()):
            value = entry[key]
            if isinstance(value, str) and value and not is_marker(value) and any(map(_is_private, paths)):
                pointer = masked_pointer((*segments, key), context.canaries)
                actual = f"the content of a private file, {len(value)} characters"
                yield finding(step, "a reference to the content", actual, pointer=pointer)


def _plain(line, protocol):
    """How many objects of a line name a path; None where one has content beside it. Its layout tells."""
    answers, mark = glance(line)[2].answers, ("RED014", protocol)
    if mark not in answers:
        told = [entry for _, entry in _objects(line, ()) if _names_path(entry, protocol)]
        answers[mark] = len(told) if all(_CONTENT.isdisjoint(entry) for entry in told) else None
    return answers[mark]


def _names_path(entry, protocol):
    return any(isinstance(entry[key], str) for key in _paths(protocol, tuple(entry)))


@lru_cache(maxsize=4096)
def _paths(protocol, keys):
    """Of the keys of an object, those that name a path."""
    known = vocabulary(protocol)
    return tuple(key for key in keys if known.kinds(key) & PATHS)


def _objects(value, segments):
    """Every object of a document with its place."""
    if isinstance(value, dict):
        yield segments, value
        for key, sub in value.items():
            yield from _objects(sub, (*segments, key))
    elif isinstance(value, list):
        for index, sub in enumerate(value):
            yield from _objects(sub, (*segments, index))
