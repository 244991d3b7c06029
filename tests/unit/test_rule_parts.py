"""Parts of rules that every stream reaches and few can tell apart."""

from tests.conftest import PROTOCOLS
from validator.protocol.protocol import load_protocol
from validator.rules.redaction.redacted_here_plain_there import _depth


def test_what_belongs_to_something_lies_below_it():
    for identities in (load_protocol(name).identities for name in PROTOCOLS):
        for name, entry in identities.items():
            for parent in entry["belongs_to"]:
                assert parent not in identities or _depth(name, identities) > _depth(parent, identities), (name, parent)
