"""A degraded run does not say what evidence is missing.

Why: whoever has to decide whether the result can be used learns only that something is wrong with it.
Trips: run.completed, degraded, with the reason "Degraded".
Near miss: a reason that says which events never reached the adapter.
Fix: Say in degradedReason which evidence is missing and why.
"""

from validator.rules import finding, rule, seen
from validator.rules.agenthub._phrases import REASONS, generic
from validator.rules.agenthub._runs import entity, payload


@rule("AHB009", "vague-degraded-reason", clauses={"agenthub": "AH-50"}, on="run.completed")
def check(step, world, context):
    told, pointer = payload(step), "/payload/degradedReason"
    if told.get("degraded") is not True or "degradedReason" not in told:
        return
    yield seen()
    if generic(told["degradedReason"], REASONS):
        yield finding(
            step, "which evidence is missing, and why", "a generic text", pointer=pointer, entity=entity(step)
        )
