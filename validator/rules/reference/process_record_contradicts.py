"""What is told of a process contradicts its limits or its own earlier output.

Why: a time limit that fired under another name is searched for in vain, and offsets that stand still overwrite output.
Trips: a process fails at its time limit with another category.  Near miss: the same failure has the category timeout.
Fix: State the category timeout where the time limit ended the process, and let the offsets of a stream grow.
"""

from validator.protocol.honest import known
from validator.rules import finding, rule, seen
from validator.rules.terminal._work import body, lines, number, told


class ProcessLimits:
    """Time limits and output positions of processes."""

    hears = ("process.started", "process.output")
    forgets = ("bounds", "_offsets")

    def __init__(self, world):
        self.bounds = {}
        self._offsets = {}
        self.before = None

    def further(self, step):
        """What is looked at only from the second output of a process and stream on: that its offset has grown."""
        compared = "process_id" in step.scope and number(told(step, "offset")) is not None
        return (("REF012", ("PROC-19",)),) if compared and self.before is None else ()

    def apply(self, step):
        process = step.scope.get("process_id")
        self.before = None
        if process is None:
            return
        if step.type == "process.started":
            limits = told(step, "limits")
            if isinstance(limits, dict):
                self.bounds[process] = number(known(limits.get("timeout_ms")))
        elif step.type == "process.output":
            payload = body(step)
            stream, offset = payload.get("stream"), number(payload.get("offset"))
            if not isinstance(stream, str):
                stream = str(known(stream))
            places = self._offsets.get(process)
            if places is None:
                places = self._offsets[process] = {}
            self.before = places.get(stream)
            if offset is not None:
                places[stream] = (offset, step.number)


def grown(step, world, context):
    """The key of output whose offset lies beyond the one before: whether there are two to compare."""
    if step.type != "process.output":
        return None
    offset, before = number(body(step).get("offset")), world.ledger(ProcessLimits).before
    if offset is None or before is None:
        return False
    return True if offset > before[0] else None


@rule(
    "REF012",
    "process-record-contradicts",
    clauses={"agent-runtime": ("PROC-14", "PROC-19")},
    on=("process.failed", "process.output"),
    needs=(ProcessLimits,),
    quiet=grown,
)
def check(step, world, context):
    process, ledger = step.scope.get("process_id", ""), world.ledger(ProcessLimits)
    about = {"entity": ("process", process), "witness": lines(world.subjects("process").get(process))}
    if step.type == "process.output":
        offset = number(told(step, "offset"))
        if offset is not None and ledger.before is not None:
            yield seen("PROC-19")
            if offset <= ledger.before[0]:
                about["witness"] += (ledger.before[1],)
                expected, actual = "an offset beyond the one before", "one that does not grow"
                yield finding(step, expected, actual, clause="PROC-19", pointer="/payload/offset", **about)
        return
    bound, lasted = ledger.bounds.get(process), number(told(step, "duration_ms"))
    if bound is None or lasted is None or lasted < bound or told(step, "status") == "lost":
        return
    yield seen("PROC-14")
    if told(step, "failure_category") not in (None, "timeout"):
        expected, pointer = "the category timeout", "/payload/failure_category"
        yield finding(step, expected, "another category", clause="PROC-14", pointer=pointer, **about)
