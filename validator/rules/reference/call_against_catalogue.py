"""A call does not fit the catalogue of tools in force for its turn.

Why: the catalogue is what was offered and checked; a call beside it was checked by nobody.
Trips: the catalogue lists read, and write is called.  Near miss: read is called.
Fix: Resolve the catalogue before the first call, list every tool that can be called, and give a call the same flags.
"""

from validator.rules import finding, rule, seen
from validator.rules._catalogues import Catalogues, flag
from validator.rules.terminal._work import told, unsure


def fitting(step, world, context):
    """The key of a call that fits its catalogue, or has none: what of it is looked at."""
    catalogues, name = world.ledger(Catalogues), told(step, "tool_name")
    if step.type != "tool.started":
        return None
    found, own = catalogues.of(step), flag(step.line.get("payload"), "is_read_only")
    if found is None or found.tools is None or not isinstance(name, str):
        return False
    if name not in found.tools or (own and _writes(found.tools[name])):
        return None
    return not unsure(world, step), own is not None


def _writes(tool):
    return flag(tool, "is_read_only") is False or flag(tool, "is_destructive") is True


@rule(
    "REF013",
    "call-against-catalogue",
    clauses={"agent-runtime": ("TOOL-14", "TOOL-29", "TOOL-12")},
    on=("tool.started", "tool.catalog.resolved"),
    needs=(Catalogues,),
    quiet=fitting,
)
def check(step, world, context):
    catalogues = world.ledger(Catalogues)
    if step.type == "tool.catalog.resolved":
        turn = step.scope.get("turn_id")
        first = catalogues.called.get(turn or "")
        if turn is not None:
            yield seen("TOOL-12")
            if first is not None and not _earlier(catalogues, step):
                expected, actual = "the catalogue before the first call of the turn", "it comes after"
                yield finding(step, expected, actual, clause="TOOL-12", entity=("turn", turn), witness=(first,))
                catalogues.called.pop(turn)
        return
    found, name = catalogues.of(step), told(step, "tool_name")
    if found is None or found.tools is None or not isinstance(name, str):
        return
    line, tools = found.line, found.tools
    about = {"entity": ("tool_call", step.scope.get("tool_call_id", "")), "witness": (line,)}
    if not unsure(world, step):
        yield seen("TOOL-14")
    if name not in tools:
        if not unsure(world, step):
            expected, actual = "a tool that the catalogue lists", "one that it does not list"
            yield finding(step, expected, actual, clause="TOOL-14", pointer="/payload/tool_name", **about)
        return
    own = flag(step.line.get("payload"), "is_read_only")
    if own is not None:
        yield seen("TOOL-29")
        if own and _writes(tools[name]):
            expected, actual = "the more cautious word of the catalogue", "a call that claims to read only"
            yield finding(step, expected, actual, clause="TOOL-29", pointer="/payload/is_read_only", **about)


def _earlier(catalogues, step):
    """Another catalogue, of the thread or the session, was in force when the turn called first."""
    scope = {name: value for name, value in step.scope.items() if name != "turn_id"}
    first = catalogues.called[step.scope["turn_id"]]
    places = ((name, scope[name]) for name in ("thread_id", "session_id") if name in scope)
    return any(catalogues.line(place) < first for place in places)
