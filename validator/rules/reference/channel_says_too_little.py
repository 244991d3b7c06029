"""A channel, a forwarded question or a peer task leaves out what a reader needs to place it.

Why: who is at the other end, and what is known about work there, can be asked for only as long as the peer is there.
Trips: channel.connected without transport, role and capabilities.  Near miss: channel.connected with all three.
Fix: Carry the details that the clause names, or an honest value for what is not known.
"""

from functools import partial

from validator.protocol.honest import is_honest
from validator.rules import finding, rule, seen
from validator.rules.terminal._details import wanting
from validator.rules.terminal._work import body, told

CONNECTED = {name: (name,) for name in ("transport", "peer_role", "capabilities")}
PEER_TASK = {
    "CHAN-30": {"remote_status": ("peer_task/remote_status",)},
    "CHAN-35": {"delivery_mechanism": ("peer_task/delivery_mechanism",)},
}


@rule(
    "REF019",
    "channel-says-too-little",
    clauses={"agent-runtime": ("CHAN-12", "CHAN-13", "CHAN-36", "CHAN-31", *PEER_TASK)},
    on=("channel.connected", "channel.permission_forwarded", "channel.peer_task.*"),
)
def check(step, world, context):
    if step.type == "channel.connected":
        yield from wanting(step, "CHAN-12", CONNECTED)
        yield from _identity(step)
    elif step.type == "channel.permission_forwarded":
        yield from wanting(step, "CHAN-36", {"requesting_peer": ("requesting_peer",)}, partial(_lines, step, world))
    else:
        yield from _peer_task(step, world)


def _identity(step):
    """A peer that speaks a protocol of its own has a name in it."""
    peer, protocol = told(step, "native_peer"), told(step, "native_protocol")
    if protocol is None and peer is None:
        return
    yield seen("CHAN-13")
    if peer is None and not is_honest((step.line.get("payload") or {}).get("native_peer")):
        yield finding(step, "native_peer", "none", pointer="/payload", clause="CHAN-13", key="no native_peer")


def _peer_task(step, world):
    if "peer_task" not in body(step):
        return  # it does not have its shape
    witness = _lines(step, world)
    for clause, wants in PEER_TASK.items():
        yield from wanting(step, clause, wants, lambda: witness)
    # The channel was there, went away, and may be back.
    if len(witness) > 1 and step.type == "channel.peer_task.updated":
        yield from wanting(step, "CHAN-31", {"recovery_state": ("peer_task/recovery_state",)}, lambda: witness)


def _lines(step, world):
    """The lines that brought the channel to where it stands."""
    channel = world.subjects("channel").get(step.scope.get("channel_id", ""))
    return tuple(channel.history) if channel else ()
