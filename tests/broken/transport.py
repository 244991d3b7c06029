"""Servers with exactly one fault on the wire.

The runtime behind them is sound; what is wrong is what a client is sent, so what is judged is the client's own view of
the stream, or where the fault is in an answer, what the server wrote down.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_runtime import service
from reference_runtime.transports.http import core, watching
from reference_runtime.transports.http.feed import Feed
from reference_runtime.transports.http.stream import EventStream
from tests.runtime.http.serving import Running, submit
from tests.runtime.http.view import View, messages


class WireFault:
    """What a server does wrong; by itself it does nothing wrong."""

    rule = ""
    channel: str | None = None
    forgets = 0
    """How many events a client has seen and not confirmed when it comes back."""
    live = False
    """The fault is in what is sent as it happens."""
    expect = "prefix"

    def see(self, client: Any, session: str) -> None:
        """What a faulty server remembers."""

    def patch(self, patcher: Any, server: Running, view: View) -> None:
        """What is broken, from the third connection on."""


def view_of(fault: WireFault, patcher: Any, server: Running, session: str) -> View:
    """A client watches turns, leaves, and comes back; the third time it meets the fault."""
    view = View(session, fault.channel and f"{fault.channel}_{session}")
    with server.client() as client:
        for _ in range(2):
            turn(client, server, session)
            view.read(client)
            fault.see(client, session)
        turn(client, server, session)
        fault.patch(patcher, server, view)
        if fault.live:
            watch_live(client, server, view)
        else:
            come_back(client, view, fault.forgets)
        patcher.undo()
    return view


def turn(client: Any, server: Running, session: str) -> None:
    """A turn, and then a word about something else."""
    submit(client, session_id=session, thread_id=session, options={"script": "reply"})
    server.settle()
    said = {"code": "disk_low", "message": "The disk is nearly full."}
    server.at_desk(lambda: server.service.runtime.fact("runtime.warning", {"session_id": session}, said))


def come_back(client: Any, view: View, forgets: int) -> None:
    kept = list(view.events)
    view.events = kept[: len(kept) - forgets]
    view.read(client)


def watch_live(client: Any, server: Running, view: View) -> None:
    """Reads what happens while it happens, up to the end of a turn."""
    with server.client() as other, other.stream("GET", view.path(), headers=view.connect()) as answer:
        for message in messages(answer.iter_lines()):
            view.take(message)
            if message.name == "snapshot":
                submit(client, session_id=view.session, thread_id=view.session, turn_id=f"live_{view.session}")
            if message.data.get("turn_id") == f"live_{view.session}" and message.data["type"] == "turn.completed":
                return


class SkipsEventsOnResume(WireFault):
    """A client that comes back gets what is new, but for the first of it."""

    rule = "ORD014"

    def patch(self, patcher, server, view):
        patcher.setattr(watching, "begin", shifted(watching.begin, 2))


class ReplaysFromElsewhere(WireFault):
    """A client that confirmed less than it saw is not sent again all that it did not confirm."""

    rule = "ORD013"
    forgets = 3

    def patch(self, patcher, server, view):
        patcher.setattr(watching, "begin", shifted(watching.begin, 1))


class SendsAnotherBody(WireFault):
    """An event that is sent again is not the one that was sent before."""

    rule = "ORD003"
    forgets = 2

    def patch(self, patcher, server, view):
        sent = EventStream._event

        async def altered(self, send, event):
            extra = {"message": "As far as I remember."} if event["type"] == "runtime.warning" else {}
            await sent(self, send, {**event, "payload": {**event["payload"], **extra}})

        patcher.setattr(EventStream, "_event", altered)


class ReplaysBeforeTheSnapshot(WireFault):
    """Events that were sent before come first, and the state they led to afterwards."""

    rule = "ORD015"
    forgets = 3

    def patch(self, patcher, server, view):
        opened, caught_up = EventStream._openings, EventStream._catch_up

        async def later(self, send):
            """Not now."""

        async def events_first(self, send):
            await caught_up(self, send)
            await opened(self, send)

        patcher.setattr(EventStream, "_openings", later)
        patcher.setattr(EventStream, "_catch_up", events_first)


class GivesAnOldSnapshot(WireFault):
    """A client that comes back gets the state of a time before it left."""

    rule = "ORD016"
    old: Any = None

    def see(self, client, session):
        asked = f"/sessions/{session}/snapshots/thread_read_model?thread_id={session}"
        self.old = self.old or client.get(asked).json()

    def patch(self, patcher, server, view):
        def outdated(runtime, session, cursor, channel):
            watch = begin(runtime, session, cursor, channel)
            watch.opening = [("thread_read_model", self.old)]
            return watch

        begin = watching.begin
        patcher.setattr(watching, "begin", outdated)


class HidesWhatIsLost(WireFault):
    """A peer that missed too much is not told so."""

    rule = "ORD014"
    channel = "c"
    live = True

    def patch(self, patcher, server, view):
        runtime = server.service.runtime
        patcher.setattr(runtime, "settings", replace(runtime.settings, replay_limit=2))
        sent = EventStream._event

        async def silent(self, send, event):
            self._watch.cursor = event["sequence"]
            if event["type"] != "snapshot.repaired":
                await sent(self, send, event)

        patcher.setattr(EventStream, "_event", silent)


class LosesWhatDoesNotFit(WireFault):
    """An event that finds no room in a queue is dropped, and the stream goes on as if there had been none."""

    rule = "ORD006"
    live = True
    expect = "complete"

    def patch(self, patcher, server, view):
        published = Feed.publish

        def lossy(self, event):
            if event["type"] != "model.delta":
                published(self, event)

        async def careless(self, send, event):
            if event["sequence"] > self._watch.cursor:
                await self._event(send, event)

        patcher.setattr(Feed, "publish", lossy)
        patcher.setattr(EventStream, "_next", careless)


class SendsInNoOrder(WireFault):
    """Of the events that were missed, the last comes before the one before it."""

    rule = "ORD001"

    def patch(self, patcher, server, view):
        async def shuffled(self, watch):
            *events, one, other = await page(self, watch)
            return [*events, other, one]

        page = core.CoreService._page
        patcher.setattr(core.CoreService, "_page", shuffled)


class AnswerFault:
    """A fault in what is answered about acknowledgements; the capture of the server shows it."""

    rule = ""

    def answer(self, acknowledged: int) -> dict[str, Any]:
        raise NotImplementedError


class AcknowledgesBackwards(AnswerFault):
    """What was confirmed goes down again."""

    rule = "ORD017"

    def answer(self, acknowledged):
        return {"last_acknowledged_sequence": acknowledged - 2}


class AcknowledgesWhatWasNeverSent(AnswerFault):
    """More is said to be confirmed than was ever sent."""

    rule = "ORD017"

    def answer(self, acknowledged):
        return {"last_acknowledged_sequence": acknowledged + 1000}


def capture_of(fault: AnswerFault, patcher: Any, server: Running, session: str) -> None:
    """A peer confirms twice; the second answer is the faulty one."""
    view = View(session, f"a_{session}")
    with server.client() as client:
        turn(client, server, session)
        view.read(client)
        for broken in (False, True):
            if broken and fault.rule:
                patcher.setitem(service.DECISIONS, "ack_events", lambda state, request: said(fault, request))
            request = {"channel_id": view.channel, "sequence": view.last}
            assert client.post("/commands/ack_events", json=request).status_code == 200
        patcher.undo()


def said(fault: AnswerFault, request: dict[str, Any]) -> Any:
    return fault.answer(request["sequence"])
    yield  # a decision is a generator


def shifted(begin: Any, steps: int) -> Any:
    """Opens a subscription a few events further on than it should be."""

    def further(runtime: Any, session: str, cursor: int | None, channel: str | None) -> Any:
        watch = begin(runtime, session, cursor, channel)
        watch.cursor += steps
        return watch

    return further
