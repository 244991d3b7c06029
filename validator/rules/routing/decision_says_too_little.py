"""A routing, cost or limit event leaves out why, how much, or what to do about it.

Why: which model answered and why, and what it cost, is asked after the fact, in a bill or a complaint.
Trips: routing.decided without its reason.  Near miss: routing.decided with source, reason and capability gap.
Fix: Give reasons for exclusions and decisions, a currency for amounts, and say when trying again may help.
"""

from functools import partial

from validator.rules import finding, rule, seen
from validator.rules.terminal._details import carries, wanting
from validator.rules.terminal._work import entries, number, told, tracks

REASONS = {name: (name, f"^/{name}") for name in ("decision_source", "decision_reason", "capability_gap")}
FALLBACK = {
    "from_model": ("from_model", "from_provider"),
    "to_model": ("to_model", "to_provider"),
    "reason": ("reason",),
}
AMOUNTS = ("estimated_total_cost", "actual_total_cost")


@rule(
    "RTE014",
    "decision-says-too-little",
    clauses={"agent-runtime": ("RTE-14", "RTE-7", "RTE-8", "RTE-10", "RTE-16", "LIM-4", "LIM-5", "LIM-11")},
    on=("routing.*", "cost.*", "rate_limit.hit", "quota.*"),
)
def check(step, world, context):
    if step.refusals:
        return
    witness = partial(tracks, world, step)
    if step.type in ("routing.decided", "routing.single_candidate"):
        yield from _decision(step, witness)
    elif step.type == "routing.candidates.resolved":
        yield from _excluded(step)
    elif step.type == "routing.not_possible":
        yield from wanting(step, "RTE-8", {"reason": ("reason", "hard_constraints", "gaps")}, witness)
    elif step.type == "routing.fallback.applied":
        yield from wanting(step, "RTE-10", FALLBACK, witness)
    elif step.type.startswith("cost."):
        yield from _cost(step, witness)
    else:
        wants = {"retryable": ("retryable",)}
        if told(step, "retryable") is True:
            wants["when"] = ("retry_after_ms", "limit_state/resets_at")
        yield from wanting(step, "LIM-11", wants, witness)


def _decision(step, witness):
    if "routing_decision" not in step.line:
        yield from wanting(step, "RTE-14", REASONS, witness)
    asked, chosen = told(step, "requested_model"), told(step, "selected_model")
    if isinstance(asked, str) and isinstance(chosen, str):
        yield seen("RTE-16")
        if asked != chosen and not carries(step, "decision_reason"):
            expected, actual = "why the model that was asked for was not taken", "no decision_reason"
            yield finding(step, expected, actual, clause="RTE-16", pointer="/payload")


def _excluded(step):
    for index, entry in enumerate(entries(step, "excluded")):
        if isinstance(entry, dict):
            yield seen("RTE-7")
            if entry.get("excluded_reason") is None:
                expected, pointer = "why the candidate was ruled out", f"/payload/excluded/{index}"
                yield finding(step, expected, "no reason", clause="RTE-7", pointer=pointer)


def _cost(step, witness):
    if step.type == "cost.recorded" and "cost_state" not in step.line:
        yield from wanting(step, "LIM-4", {"usage": ("usage",), "actual_total_cost": ("actual_total_cost",)}, witness)
    for name in AMOUNTS:
        if number(told(step, name)):
            yield seen("LIM-5")
            if not carries(step, "currency"):
                expected, pointer = "a currency", f"/payload/{name}"
                yield finding(step, expected, "an amount without one", clause="LIM-5", pointer=pointer)
