"""An answer came back over a channel that no question had crossed, or it contradicts the answer before.

Why: an answer without its question can be attached to anything.
Trips: channel.permission_returned with a bridge_id that was never forwarded on the channel.
Near miss: the question is forwarded, and the answer returns under the same bridge_id.
Fix: Record channel.permission_forwarded first, answer each crossing once, and say where the answer came from.
"""

from validator.rules import finding, rule, seen
from validator.rules.governance._bridges import Bridges
from validator.rules.governance._questions import GRANTS
from validator.rules.governance._said import said, shown, stated


@rule(
    "GOV018",
    "unasked-answer",
    clauses={"agent-runtime": ("CHAN-18", "CHAN-20", "CHAN-22")},
    on="channel.permission_returned",
    needs=(Bridges,),
)
def check(step, world, context):
    yield seen("CHAN-20")
    if stated(step.line, "response_source") is None:
        yield finding(step, "where the answer came from", "no response_source", pointer="/payload", clause="CHAN-20")
    bridges = world.ledger(Bridges)
    key = said(step.line, "bridge_id")
    bridge = bridges.all.get((step.scope.get("channel_id"), key))
    channel = world.subjects("channel").get(step.scope.get("channel_id", ""))
    lines = tuple(channel.history) if channel else ()
    if bridge is None:
        if world.midway(step) or world.unproved(step) is not None:
            return
        yield finding(
            step,
            "channel.permission_forwarded with the same bridge_id on the channel before",
            "no such question crossed",
            pointer="/payload/bridge_id",
            clause="CHAN-18",
            witness=lines,
        )
        return
    yield seen("CHAN-18", "CHAN-22")
    word = said(step.line, "decision")
    if bridge.answered != step.number and (word in GRANTS) != bridge.granted:
        yield finding(
            step,
            f"the decision that came back before: {shown(bridge.answer)}",
            shown(word),
            pointer="/payload/decision",
            clause="CHAN-22",
            witness=(*lines, bridge.line, bridge.answered),
        )
