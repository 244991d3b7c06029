"""A routing event counts other candidates than it lists, or than its own mode speaks of.

Why: whether there was a choice at all is the first question about a decision, and the event gives two answers.
Trips: two candidates are listed and counted as three.  Near miss: two are listed and counted as two.
Fix: Count the list; one candidate is single_candidate, none is no_candidate, more are multi_candidate.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import body, number, told

RIGHT = {
    "no_candidate": lambda count: count == 0,
    "single_candidate": lambda count: count == 1,
    "multi_candidate": lambda count: count > 1,
}


@rule(
    "RTE002",
    "candidates-miscounted",
    clauses={"agent-runtime": ("RTE-5", "RTE-4", "RTE-19", "RTE-3")},
    on=("routing.candidates.resolved", "routing.decided", "routing.single_candidate"),
)
def check(step, world, context):
    count, pointer = number(told(step, "candidate_count")), "/payload/candidate_count"
    if step.type == "routing.candidates.resolved":
        yield from _listed(step, count, pointer)
        return
    if step.type == "routing.single_candidate":
        yield seen("RTE-3")
        if step.line.get("status") in ("failed", "blocked", "error"):
            expected, actual = "a normal path", f"status {step.line['status']}"
            yield finding(step, expected, actual, clause="RTE-3", pointer="/status", key="status")
        if count is not None:
            yield seen("RTE-4")
            if count != 1:
                yield finding(step, "one candidate", f"{count:g}", clause="RTE-4", pointer=pointer)
                return
    mode = told(step, "routing_mode")
    right = RIGHT.get(mode) if isinstance(mode, str) else None
    size = 1 if count is None and step.type == "routing.single_candidate" else count
    if right is not None and size is not None:
        yield seen("RTE-19")
        if not right(size):
            expected, actual = f"as many candidates as {mode} means", f"{size:g}"
            yield finding(step, expected, actual, clause="RTE-19", pointer="/payload/routing_mode", key=mode)


def _listed(step, count, pointer):
    listed = told(step, "candidates")
    if isinstance(listed, list) and count is not None:
        yield seen("RTE-5")
        if count != len(listed):
            yield finding(step, f"{len(listed)} candidates", f"{count:g} counted", clause="RTE-5", pointer=pointer)
            return
    single = known(body(step).get("single_candidate"))
    size = len(listed) if isinstance(listed, list) else count
    if isinstance(single, bool) and size is not None:
        yield seen("RTE-5")
        if single != (size == 1):
            expected, actual = f"a flag that fits {size:g} candidates", f"single_candidate {str(single).lower()}"
            yield finding(step, expected, actual, clause="RTE-5", pointer="/payload/single_candidate", key="flag")
