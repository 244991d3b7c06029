"""A vendor's event type begins like one of the catalogue.

Why: the next version may give the name another meaning, and until then every reader looks it up in vain.
Trips: an event of type task.frozen.  Near miss: an event of type x-acme.task.frozen.
Fix: Put x- and a vendor's name, or a reversed domain name, in front of the type.
"""

from validator.protocol.casing import camel
from validator.rules import UNLISTED, finding, rule, seen
from validator.rules.framing.type_respelled import respelled


@rule("IDN016", "vendor-type-in-our-name", clauses={"agent-runtime": "ENV-36"}, on=UNLISTED)
def check(step, world, context):
    kind = step.line.get("type")
    if not isinstance(kind, str) or respelled(kind, world.protocol):
        return
    yield seen()
    ours = {name.split(".")[0] for name in world.protocol.events}
    first = kind.split(".")[0]
    if first in ours | {camel(name) for name in ours}:
        yield finding(step, "a name of the vendor's own in front", "a first segment of the catalogue", pointer="/type")
