"""Two tool calls of one stream have the same id.

Why: a result is joined to its call by the id; with two calls it answers either.
Trips: tool-call call-1 twice in one stream.  Near miss: tool-call call-1 in two streams.
Fix: Give every call of a stream an id of its own.
"""

from validator.replay.readmodels.words import word
from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import payload, stream_of
from validator.rules.agent_threads.result_without_call import Calls


@rule("ATH014", "tool-call-id-reused", clauses={"agent-threads": "AT-16"}, on="tool-call", needs=(Calls,))
def check(step, world, context):
    call = word(payload(step), "toolCallId")
    line = world.ledger(Calls).of.get(stream_of(step), {}).get(call)
    if line is None or call is None:
        return
    yield seen()
    if line != step.number:
        more = {"pointer": "/event/payload/toolCallId", "entity": ("tool_call", str(call)), "witness": (line,)}
        yield finding(step, "an id of its own", "the id of an earlier call", key="reused", **more)
