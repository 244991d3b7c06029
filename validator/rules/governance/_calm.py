"""When the rules about work and who allowed it have nothing to report."""

from __future__ import annotations

from validator.replay.step import Step
from validator.replay.world import World
from validator.rules._catalogues import RESERVED, Catalogues
from validator.rules.governance._bridges import Bridges
from validator.rules.governance._danger import writes_or_shell
from validator.rules.governance._decisions import AGAINST, TARGETS, Boundaries, Decisions, PolicyModes, target_of
from validator.rules.governance._hooks import Hooks
from validator.rules.governance._questions import Questions
from validator.rules.governance._rewrites import Rewrites
from validator.rules.governance._said import BESIDE, hidden, stated
from validator.rules.governance._work import RUNS, Target, Work, runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RUNS = frozenset(RUNS)
_FED = frozenset({"process.started", "process.input"})
_DENIALS = frozenset({"deny", "denied"})
_STRICT = frozenset({"plan", "untrusted"})
"""Modes that forbid more than a decision says."""


def unopposed(step: Step, world: World, context: Any) -> tuple[Any, ...] | None:
    """The key of a call or process at work that nothing on record forbids: at what its rules look.

    That is: whether hooks looked at it, what permissions it has, and what had to be on record when it ran first.
    """
    ledger = world.ledger
    work, hooks, questions, bridges = ledger(Work), ledger(Hooks), ledger(Questions), ledger(Bridges)
    target, call = work.of(step), step.scope.get("tool_call_id", "")
    if step.refusals or target is None:
        return None
    if step.type == "tool.started":
        named = target.action or call in questions.naming or "" in questions.all
        return None if named or call in ledger(Rewrites).latest else ()
    if step.type not in _RUNS or call in hooks.blocked:
        return None
    running = hooks.before_use.get(call)
    if running is not None and (running or call not in work.calls):
        return None
    if step.type in _FED and (target.key in questions.naming or call in questions.naming or "" in questions.all):
        return None
    if step.type == "tool.result" and _is_reserved(ledger(Catalogues), target):
        return None
    if not runs(step):
        return (running is None,)
    standing = _standing(world, target)
    if standing is None:
        return None
    if target.ran != step.number:
        return running is None, standing
    if target.channel is not None and bridges.about:
        return None
    begun = _begun(step, world, work, target, standing < 0)
    return None if begun is None else (running is None, standing, begun)


def explained(step: Step, world: World, context: Any) -> bool | None:
    """The key of an evaluation that refuses nothing and leaves out nothing: whether a policy set its mode."""
    decisions, policies = world.ledger(Decisions), world.ledger(PolicyModes)
    found, line = decisions.latest, step.line
    if step.type != "permission.evaluated" or found is None or found.line != step.number:
        return None
    if found.word in _DENIALS or found.destructive is True or found.source is None or TARGETS.isdisjoint(line):
        return None
    if (found.source == "rule" and found.rules is None) or stated(line, "decision_reason", BESIDE) is None:
        return None
    if decisions.about[target_of(step) or ""].strict:
        return None
    policy = policies.set.get(step.scope.get("session_id", "")) if found.mode is not None else None
    return False if policy is None else True if policy[0] == found.mode else None


def _is_reserved(catalogues: Catalogues, target: Target) -> bool:
    entry = catalogues.entry(target)
    return entry is not None and str(entry.get("policy")) in RESERVED


def _standing(world: World, target: Target) -> int | None:
    """How many permissions a target has, less than none where it is to run in a box; None where one is against it."""
    permissions, found, boxed = world.subjects("permission"), 0, False
    for key in target.ids:
        permission = permissions.get(key)
        if permission is None:
            continue
        boxed = boxed or permission.state == "sandboxed"
        if not permission.doubted:
            if permission.state in AGAINST:
                return None
            found += 1
    return -1 - found if boxed else found


def _begun(step: Step, world: World, work: Work, target: Target, boxed: bool) -> int | None:
    """What had to be on record when a target ran first: a decision, a boundary; None where it may be missing."""
    decided = False
    about = world.ledger(Decisions).about
    for key in target.ids:
        for entry in about.get(key, ()):
            # Modes, times and what destroys are weighed by the rules themselves.
            if entry.expires is not None or entry.destructive is True or entry.mode in _STRICT:
                return None
            decided = decided or entry.decides
    if target.destructive is True or target.action or not _rests_alone(work, target):
        return None
    catalogues = world.ledger(Catalogues)
    catalogue = catalogues.for_call(target)
    if catalogue is not None:
        entry = (catalogue.tools or {}).get(target.tool or "")
        if catalogue.mode == "bypass" or (entry is not None and entry.get("is_destructive") is True):
            return None
    is_call = target.kind == "tool_call"
    if hidden(world, step) or (is_call and target.process):
        return 0
    judged = not is_call or writes_or_shell(target, catalogues)
    if not judged and not boxed:
        return 0
    if judged and not decided and not world.ledger(Decisions).on_record(target):
        return None
    return 1 + judged if world.ledger(Boundaries).around(target) else None


def _rests_alone(work: Work, target: Target) -> bool:
    """True unless another target may have used up the decision that this one rests on."""
    other = work.first_to_rest_on.get(target.permission_ref) if target.permission_ref else target
    return other is target or (other is not None and other.key in target.ids)
