"""A tool result answers no call of its stream.

Why: the result becomes a message, and nobody can tell what was asked.
Trips: tool-result for call-1 in a stream that never called it.  Near miss: tool-call call-1, then its result.
Fix: Append the call before its result, with the same toolCallId.
"""

from validator.replay.readmodels.agent_threads import Runs
from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import payload, stream_of

ENDED = {"committed", "failed", "cancelled", "superseded"}


class Calls:
    """The calls of each stream whose run is not over, and whether its beginning was seen."""

    heeds_last = False

    def __init__(self, world):
        self.of = {}
        self.whole = {}

    def apply(self, step):
        if step.kind == "run" and word(step.line, "status") in ENDED:
            # What a stream says after the end of its run is refused for that alone.
            self.of.pop(stream_of(step), None)
            self.whole.pop(stream_of(step), None)
            return
        stream, place = stream_of(step), step.place
        if step.kind != "event" or place is None:
            return
        began = place.verdict == "next" or (place.verdict == "first" and place.sequence == 1)
        self.whole[stream] = self.whole.get(stream, True) and began
        if step.type == "tool-call":
            self.of.setdefault(stream, {}).setdefault(word(payload(step), "toolCallId"), step.number)


@rule("ATH009", "result-without-call", clauses={"agent-threads": "AT-34"}, on="tool-result", needs=(Calls, Runs))
def check(step, world, context):
    ledger, stream, call = world.ledger(Calls), stream_of(step), word(payload(step), "toolCallId")
    if call is None or not ledger.whole.get(stream) or world.unproved(step) is not None:
        return
    yield seen()
    if call not in ledger.of.get(stream, {}):
        more = {"pointer": "/event/payload/toolCallId", "entity": ("tool_call", str(call)), "key": "orphan"}
        # Without the events before it the stream would seem to begin elsewhere.
        expected = "the call it answers, earlier in the stream"
        yield finding(step, expected, "no such call", witness=_lines(world, stream), **more)


def _lines(world, stream):
    return world.ledger(Runs).lines.get(stream, ())
