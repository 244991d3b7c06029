"""A vendor's event type begins like one of the catalogue.

Why: the next version may give the name another meaning, and until then every reader looks it up in vain.
Trips: an event of type task.frozen.  Near miss: an event of type x-acme.task.frozen.
Fix: Put x- and a vendor's name, or a reversed domain name, in front of the type.
"""

import functools

from validator.protocol.casing import camel
from validator.protocol.protocol import Protocol
from validator.rules import UNLISTED, finding, rule, seen
from validator.rules.framing.type_respelled import respelled


@rule("IDN016", "vendor-type-in-our-name", clauses={"agent-runtime": "ENV-36"}, on=UNLISTED)
def check(step, world, context):
    kind = step.line.get("type")
    if not isinstance(kind, str) or respelled(kind, world.protocol):
        return
    yield seen()
    if kind.split(".")[0] in first_segments(world.protocol):
        yield finding(step, "a name of the vendor's own in front", "a first segment of the catalogue", pointer="/type")


@functools.lru_cache(maxsize=16)
def first_segments(protocol: Protocol) -> frozenset[str]:
    """What types of the catalogue begin with, in both casings."""
    ours = {name.split(".")[0] for name in protocol.events}
    return frozenset(ours | {camel(name) for name in ours})
