"""The content of a file that is known to be private stands in an event.

Why: a login file or a key file is private by its name; a reference leads there for those who have access.
Trips: a read of .env with its text beside the path.  Near miss: a read of .env.example with its text.
Fix: Leave the content out, and refer to a preview or to the store that keeps the file.
"""

from itertools import repeat

from validator.protocol.regex import compiled
from validator.redact import is_marker, masked_pointer
from validator.rules import finding, rule, seen
from validator.rules.redaction._leaks import TOLD, Leaks, unnamed
from validator.rules.redaction._traits import CONTENT, objects, paths_of

_PRIVATE = (
    r"(?i)(?:^|/)(?:\.env(?:\.(?!example|sample|template|dist)[a-z0-9_-]+)?|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.npmrc|\.pypirc"
    r"|\.git-credentials|\.htpasswd|\.pgpass|\.aws/credentials|\.docker/config\.json|\.kube/config|kubeconfig"
    r"|secrets?\.(?:ya?ml|json|toml)|[^/]+\.(?:pem|key|p12|pfx|jks|kdbx|ppk))$"
)
CLAUSES = {"agent-runtime": "RED-28", "agenthub": "AH-133"}


def _is_private(path):
    return compiled(_PRIVATE).search(path)


@rule("RED014", "private-file-content", clauses=CLAUSES, on=TOLD, needs=(Leaks,), quiet=unnamed)
def check(step, world, context):
    plain = world.ledger(Leaks).traits(step).paths
    if plain is not None:
        yield from repeat(seen(), plain)
        return
    for segments, entry in objects(step.line, ()):
        paths = [entry[key] for key in paths_of(world.protocol, tuple(entry)) if isinstance(entry[key], str)]
        if not paths:
            continue
        yield seen()
        for key in sorted(CONTENT & entry.keys()):
            value = entry[key]
            if isinstance(value, str) and value and not is_marker(value) and any(map(_is_private, paths)):
                pointer = masked_pointer((*segments, key), context.canaries)
                actual = f"the content of a private file, {len(value)} characters"
                yield finding(step, "a reference to the content", actual, pointer=pointer)
