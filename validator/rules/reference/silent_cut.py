"""Part of a process's output was dropped, and nothing says so.

Why: a silent cut looks like a complete answer.
Trips: process.output with ten bytes of text for a hundred written, and no more.  Near miss: output.truncated tells it.
Fix: Store the whole behind `output_ref`, or write output.truncated for what was dropped.
"""

from validator.rules import END, Finding, rule, seen
from validator.rules.terminal._work import body, number, told, word


class Cuts:
    """Outputs of which less is there than was written and nothing says so, and processes with a truncation told."""

    hears = ("process.output", "output.truncated")
    forgets_faded = ("told",)
    heeds_last = False

    def __init__(self, world):
        self.short = {}
        """Process to the line and ids of its first such output."""
        self.told = set()
        self.shown = 0

    def tell(self):
        return self.shown

    def hear(self, told, first):
        """That there were such is looked at once, by the first."""
        self.shown = sum(told) if first else 0
        return True

    def apply(self, step):
        process = step.scope.get("process_id")
        if step.type == "process.output" and process is not None:
            payload = body(step)
            text, size = payload.get("text"), number(payload.get("size_bytes"))
            if isinstance(text, str) and size is not None and _is_short(text, size) and not _whole(step):
                self.shown += 1
                if process not in self.told:
                    self.short.setdefault(process, (step.number, step.scope))
        elif step.type == "output.truncated":
            for name in {process, word(step, "owner_id")} - {None}:
                self.told.add(name)
                self.short.pop(name, None)


def _is_short(text, size):
    """True for a text of less bytes than a size; one of as many characters needs not be counted again."""
    return len(text) < size and len(text.encode("utf-8", "surrogatepass")) < size


def _whole(step):
    """Where the whole of an output is, if that is told."""
    return told(step, "output_ref") or step.line.get("output_ref") or step.line.get("refs")


@rule("REF006", "silent-cut", clauses={"agent-runtime": "OUT-3"}, on=("output.truncated", END), needs=(Cuts,))
def check(step, world, context):
    cuts = world.ledger(Cuts)
    if step is not None:
        yield seen()
        return
    if cuts.shown:
        yield seen()
    for process, (line, scope) in cuts.short.items():
        subject = world.subjects("process").get(process)
        if world.lost(scope) is None and not _open(world, process):
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
