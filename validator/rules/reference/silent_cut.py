"""Part of a process's output was dropped, and nothing says so.

Why: a silent cut looks like a complete answer.
Trips: process.output with ten bytes of text for a hundred written, and no more.  Near miss: output.truncated tells it.
Fix: Store the whole behind `output_ref`, or write output.truncated for what was dropped.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.terminal._work import number, told, word


class Cuts:
    """Outputs of which less is there than was written, by process, and processes with a truncation on record."""

    hears = ("process.output", "output.truncated")
    forgets_faded = ("short", "told")

    def __init__(self, world):
        self.short = {}
        self.told = set()

    def apply(self, step):
        process = step.scope.get("process_id")
        if step.type == "process.output" and process is not None:
            text, size = told(step, "text"), number(told(step, "size_bytes"))
            whole = told(step, "output_ref") or step.line.get("output_ref") or step.line.get("refs")
            kept = len(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
            if kept is not None and size is not None and kept < size and not whole:
                self.short.setdefault(process, step.number)
        elif step.type == "output.truncated":
            self.told |= {process, word(step, "owner_id")}


@rule("REF006", "silent-cut", clauses={"agent-runtime": "OUT-3"}, on=("output.truncated", END), needs=(Cuts,))
def check(step, world, context):
    cuts = world.ledger(Cuts)
    if step is not None:
        yield seen()
        return
    for process, line in cuts.short.items():
        yield seen()
        if process not in cuts.told and world.unproved(step) is None and not _open(world, process):
            subject = world.subjects("process").get(process)
            yield Finding(
                line,
                "the whole behind a reference, or output.truncated",
                "less text than was written",
                pointer="/payload/text",
                entity=("process", process),
                witness=tuple(subject.history) if subject else (),
            )


def _open(world, process):
    """A truncation may still be told while the process runs."""
    subject = world.subjects("process").get(process)
    return subject is not None and world.protocol.machines["process"].is_open(subject.state)
