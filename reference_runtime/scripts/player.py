"""Plays a story.

A story is a YAML file: a title, settings, scripts by name, and acts. An act is one of these:

* `command`, `request`, `expect`: a caller sends a command and gets the outcome that is expected (accepted or queued
  if not said);
* `fact`, `ids`, `payload`: somebody who works for the runtime reports a fact;
* `run`, `steps`: the worker goes on until nothing can, or for so many operations;
* `expire`: time passes until the next open question lapses;
* `restart`: the runtime is killed and started again on the same store;
* `reconnect`: a peer comes back and gets what it missed;
* `snapshots`: every read model of a session is served.

A story with a `work` section does real work, in a workspace that is made for it and goes with it: `files` by their
path, `hooks` with the program as text, `environment`, `secrets` and `limits`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from reference_runtime.capture import Capture
from reference_runtime.domain import settle
from reference_runtime.domain.state import Decision, State
from reference_runtime.log.base import Store
from reference_runtime.recovery import recover
from reference_runtime.scripts.coverage import Played
from reference_runtime.service import Runtime
from reference_runtime.settings import Settings
from reference_runtime.stamping import VirtualClock, read
from reference_runtime.work.engine import Worker
from reference_runtime.work.real.bench import Bench
from reference_runtime.work.real.site import Site
from reference_runtime.work.real.workspace import possible

STORIES = Path(__file__).parent / "stories"


class StoryError(AssertionError):
    """A story did not go as it is told."""


def stories() -> list[Path]:
    """Every story, in the order of their names."""
    return sorted(STORIES.glob("*.yaml"))


def load(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def playable(story: dict[str, Any]) -> bool:
    """False for a story that does real work on a machine where none can be done."""
    return "work" not in story or possible()


class Player:
    """Plays one story on stores that the caller opens."""

    def __init__(self, story: dict[str, Any], open_store: Callable[[], Store], capture: Capture | None = None):
        common = load(STORIES.parent / "scripts.yaml")
        self._settings = Settings(**story.get("settings", {}), scripts={**common, **story.get("scripts", {})})
        self._story, self._open, self._capture = story, open_store, capture
        self._clock = VirtualClock()
        self._site = Site(story["work"]) if "work" in story else None
        self.bench: Bench | None = None
        self.played = Played()
        self.runtime = self._boot()

    def _boot(self) -> Runtime:
        runtime = Runtime(self._open(), replace(self._settings), self._clock, self._capture)
        runtime.subscribers.append(lambda event: self.played.events.add(event["type"]))
        runtime.rows = self.played.rows
        if self._site:
            self.bench = self._site.bench().attach(runtime)
        return runtime

    def play(self) -> Played:
        """Lets every act happen."""
        try:
            for number, act in enumerate(self._story["acts"], 1):
                self._act(number, act)
        finally:
            self.runtime.store.close()
            if self._site:
                self.bench.close()
                self._site.remove()
        return self.played

    def _act(self, number: int, act: dict[str, Any]) -> None:
        kind = next(iter(act))
        try:
            getattr(self, f"_{kind}")(act)
        except StoryError as failure:
            raise StoryError(f"act {number} ({kind}): {failure}") from failure

    def _command(self, act: dict[str, Any]) -> None:
        answer = self.runtime.handle(act["command"], act.get("request", {}))
        self.played.commands.add(act["command"])
        expected = act.get("expect", ["accepted", "queued"])
        if answer["outcome"] not in ([expected] if isinstance(expected, str) else expected):
            raise StoryError(f"{act['command']} was answered {answer}")

    def _fact(self, act: dict[str, Any]) -> None:
        beside = {name: act[name] for name in act if name not in {"fact", "ids", "payload"}}
        self.runtime.fact(act["fact"], act["ids"], act.get("payload"), **beside)

    def _run(self, act: dict[str, Any]) -> None:
        self._worker().run()

    def _worker(self) -> Worker:
        return Worker(self.runtime, self.bench)

    def _steps(self, act: dict[str, Any]) -> None:
        worker = self._worker()
        if not all(worker.step() for _ in range(act["steps"])):
            raise StoryError("the worker had nothing left to do")

    def _until(self, act: dict[str, Any]) -> None:
        """Works until an event of a type has been told."""
        worker, seen = self._worker(), []
        self.runtime.subscribers.append(lambda event: seen.append(event["type"]))
        while act["until"] not in seen:
            if not worker.step():
                raise StoryError(f"{act['until']} never came")
        self.runtime.subscribers.pop()

    def _delay(self, act: dict[str, Any]) -> None:
        self._clock.advance(act["delay"])

    def _expire(self, act: dict[str, Any]) -> None:
        lapsing = [one for one in self.runtime.state().find("action", is_open=True) if "expires_at" in one.data]
        first = min(lapsing, key=lambda one: one.data["expires_at"])
        self._clock.not_before(read(first.data["expires_at"]))
        self.runtime.report(lambda state: _lapse(state, first.id))

    def _restart(self, act: dict[str, Any]) -> None:
        self.runtime.store.close()
        if self.bench:
            self._site.kill(self.bench)
        self.runtime = self._boot()
        recover(self.runtime, act["restart"])
        if self.bench:
            self.bench.recover(self.runtime)

    def _reconnect(self, act: dict[str, Any]) -> None:
        channel = self.runtime.state().get("channel", act["reconnect"])
        confirmed = channel.data.get("last_acknowledged_sequence", 0)
        self.runtime.capture.reconnect(channel.id, confirmed, self.runtime.state().now)
        request = {"channel_id": channel.id, "last_acknowledged_sequence": confirmed}
        self._command({"command": "reconnect_channel", "request": request})

    def _snapshots(self, act: dict[str, Any]) -> None:
        list(self.runtime.snapshots(act["snapshots"]))  # each is written into the capture when it is made


def _lapse(state: State, action: str) -> Decision:
    record = state.get("action", action)
    nobody = {"honest": "not_applicable", "reason": "The time ran out."}
    said = {"decision_source": "timeout", "decided_by": nobody, "reason": "Nobody answered in time."}
    yield from settle.action(state, record, "timed_out", said)
