"""A history that was loaded or rebuilt in part is told as if it were whole.

Why: a reader who believes to have everything does not ask for the rest, and acts on half of the facts.
Trips: history.reconstructed lists something missing and is not degraded.  Near miss: the same with degraded true.
Fix: Say `degraded: true` where something is missing, give a cursor where there is more, and an honest range.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import body, number, told, words

ONLY_TEXT = {"transcript", "messages", "conversation"}


@rule(
    "UNK009",
    "partial-history-told-as-whole",
    clauses={"agent-runtime": ("HIST-1", "HIST-2", "HIST-6", "HIST-10")},
    on=("history.window.loaded", "history.reconstructed"),
)
def check(step, world, context):
    if step.type == "history.window.loaded":
        payload = body(step)
        if told(step, "has_more") is True:
            yield seen("HIST-1")
            if "cursor" not in payload:
                yield finding(step, "a cursor where there is more", "none", pointer="/payload", clause="HIST-1")
        first, last = number(told(step, "first_sequence")), number(told(step, "last_sequence"))
        if first is not None and last is not None:
            yield seen("HIST-10")
            if first > last:
                expected, pointer = "a first sequence that is not above the last", "/payload/first_sequence"
                yield finding(step, expected, "it is above", pointer=pointer, clause="HIST-10")
        return
    degraded = told(step, "degraded")
    if told(step, "missing"):
        yield seen("HIST-2")
        if degraded is not True:
            expected, actual = "degraded true where something is missing", _said(degraded)
            yield finding(step, expected, actual, pointer="/payload", clause="HIST-2")
            return
    recovered = set(words(step, "recovered"))
    if recovered:
        yield seen("HIST-6")
        if recovered <= ONLY_TEXT and degraded is not True:
            expected, actual = "degraded true where only the transcript came back", _said(degraded)
            yield finding(step, expected, actual, pointer="/payload", clause="HIST-6")


def _said(degraded):
    return "degraded false" if degraded is False else "nothing said"
