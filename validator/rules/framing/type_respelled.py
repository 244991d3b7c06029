"""An event type of the catalogue is written in the other casing.

Why: the binding renames properties; a type that is renamed too is a type that nobody knows.
Trips: an event of type task.cancelRequested.  Near miss: task.cancel_requested in an event with camelCase properties.
Fix: Rename properties only, and leave types, statuses and other words as the catalogue spells them.
"""

import functools

from validator.protocol.casing import camel
from validator.rules import UNLISTED, finding, rule, seen


@rule("FRM016", "type-respelled", clauses={"agent-runtime": "ENV-41"}, on=(UNLISTED, "*_*"))
def check(step, world, context):
    kind = step.line.get("type")
    if not isinstance(kind, str):
        return
    meant = respelled(kind, world.protocol)
    if meant:
        yield finding(step, meant, "the same in the other casing", pointer="/type", key=meant)
    elif "_" in kind and "eventId" in context.line.document:
        yield seen()


def respelled(kind, protocol):
    """The type of the catalogue that a word is when it is put into the other casing, if it is one."""
    if kind in protocol.events:
        return None
    return in_camel_case(protocol).get(kind)


@functools.lru_cache(maxsize=16)
def in_camel_case(protocol):
    """The types of the catalogue that look otherwise in the other casing, by how they look there."""
    return {camel(name): name for name in protocol.events if "_" in name}
