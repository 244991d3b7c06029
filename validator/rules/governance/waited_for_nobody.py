"""A runtime that cannot ask a person asked one, or let the question pass.

Why: an unattended run that waits for a person waits for ever, and one that skips the question runs what nobody allowed.
Trips: permission.requested with interactive false.  Near miss: in mode never the call is denied with source mode.
Fix: Where nobody can be asked, deny by permission.evaluated with decision_source mode.
"""

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules import finding, rule, seen
from validator.rules.governance._calm import explained
from validator.rules.governance._decisions import Decisions, target_of
from validator.rules.governance._said import permits, said, shown

HOSTS = {"host_policy", "rule", "hook", "classifier", "tool_contract"}


class Modes:
    """The permission mode that a policy or a catalogue set, by turn, thread or session."""

    hears = ("policy.changed", "tool.catalog.resolved")
    forgets = ("in_force",)

    def __init__(self, world: World):
        self.in_force: dict[str, tuple[str, int]] = {}

    def apply(self, step: Step) -> None:
        if step.type not in {"policy.changed", "tool.catalog.resolved"} or step.kind != "event":
            return
        mode = said(step.line, "mode")
        names = ("turn_id", "thread_id", "session_id") if step.type == "tool.catalog.resolved" else ("session_id",)
        key = next((step.scope[name] for name in names if name in step.scope), "")
        if isinstance(mode, str):
            self.in_force[key] = (mode, step.number)

    def at(self, step: Step) -> tuple[str, int] | None:
        keys = [step.scope[name] for name in ("turn_id", "thread_id", "session_id") if name in step.scope]
        found = [self.in_force[key] for key in (*keys, "") if key in self.in_force]
        return max(found, key=lambda entry: entry[1]) if found else None


@rule(
    "GOV008",
    "waited-for-nobody",
    clauses={"agent-runtime": ("PERM-14", "PERM-15")},
    on=("permission.*", "action.required"),
    needs=(Modes, Decisions),
    quiet=explained,
)
def check(step, world, context):
    if step.type == "action.required":
        yield from _required(step, world)
    elif step.type == "permission.requested":
        mode, line = _mode(step, world)
        interactive = said(step.line, "interactive")
        if (mode is None and interactive is None) or permits(step.line, "decision_source") in HOSTS:
            return
        yield seen("PERM-14")
        if mode == "never" or interactive is False:
            yield _asked(step, line)
    else:
        yield from _decided(step, world)


def _mode(step, world):
    own = permits(step.line, "mode")
    if own is not None:
        return own, ()
    found = world.ledger(Modes).at(step)
    return (found[0], (found[1],)) if found else (None, ())


def _required(step, world):
    decisions = world.ledger(Decisions)
    targets = {step.scope.get("tool_call_id"), step.scope.get("process_id")} - {None}
    about = [entry for key in sorted(targets) for entry in decisions.about.get(key, ())]
    mode, line = _mode(step, world)
    if (not about and mode is None) or said(step.line, "blocking") is False:
        return
    if any(entry.event == "permission.requested" and entry.interactive is not True for entry in about):
        return  # the request was judged, or its answer comes from a host
    yield seen("PERM-14")
    modes = {entry.mode for entry in about} - {None}
    if "never" in modes or (not modes and mode == "never"):
        yield _asked(step, (*line, *(entry.line for entry in about)))


def _decided(step, world):
    about = world.ledger(Decisions).about.get(target_of(step) or "")
    asked = about.barred if about else None
    if asked is None or asked.line == step.number or permits(step.line, "decision") in {"ask", "unavailable"}:
        return
    word, source = permits(step.line, "decision"), permits(step.line, "decision_source")
    yield seen("PERM-15")
    if step.refusals or (word in {"deny", "denied", "timed_out", "cancelled"} and source in {"mode", None}):
        return
    if word in {"deny", "denied"} and step.type == "permission.evaluated":
        return  # another source that denies says so itself
    yield finding(
        step,
        "denied, with the mode as the source",
        f"{shown(word)} from {source if source in HOSTS | {'human', 'mode'} else 'another source'}",
        clause="PERM-15",
        pointer="/payload/decision",
        witness=about.lines(),
        key=shown(word),
    )


def _asked(step, witness):
    return finding(
        step,
        "nobody is asked where nobody can be asked",
        f"{step.type} without a person to answer",
        clause="PERM-14",
        witness=tuple(witness),
    )
