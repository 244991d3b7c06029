"""A Hypothesis machine that treats the platform as users, operators, agents, clients and a power cut would."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import tempfile
import uuid
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reference_runtime.capture import LineCapture
from reference_runtime.errors import CommandRejected, IllegalMove
from reference_runtime.lifecycles.runagents import stage
from reference_runtime.lifecycles.runagents.history import CONTRACT
from reference_runtime.lifecycles.runagents.policy import Answer, Call, Policy, Rule, Tool
from reference_runtime.lifecycles.runagents.service import RunAgents
from reference_runtime.lifecycles.runagents.settings import Settings
from reference_runtime.lifecycles.runagents.worker import Worker
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.stamping import VirtualClock
from tests.runtime.judging import findings
from tests.runtime.runagents.reading import disagreements

AGENTS = {**stage.AGENTS, "both-agent": [{"call": stage.REFUND}, {"call": stage.INVITE}, {"call": stage.LOOK_UP}]}
PLACES = st.integers(0, 3)
"""Which of the things that are there, counted from the newest."""
KEYS = st.none() | st.sampled_from(["k1", "k2"])
SCOPES = st.sampled_from(["once", "run", "agent_user_ttl"])
TOLD = ["INVOKE_REQUESTED", "USER_MESSAGE", "AGENT_MESSAGE", "TOOL_REQUEST", "TOOL_RESPONSE", "COMPLETED", "FAILED"]
TOLD += ["LLM_CALL", "ERROR", "APPROVED", "TOOL_CALL", "INVOKE_FAILED", "RESUMED"]
REFUSED = (CommandRejected, IllegalMove)


class PlatformMachine(RuleBasedStateMachine):
    """Every rule is one act from outside; the process may be gone between any two, and in the middle of a call."""

    @initialize(vocabulary=st.sampled_from(["api", "operations"]))
    def begin(self, vocabulary):
        self.folder = tempfile.TemporaryDirectory()
        self.text, self.clock = io.StringIO(), VirtualClock()
        self.capture = LineCapture(self.text, CONTRACT, completeness="prefix")
        self.effects: list[str] = []
        self.answers: dict[str, tuple[Any, dict[str, Any]]] = {}
        self.acknowledged: set[str] = set()
        self.cut = False
        numbers = itertools.count(1)
        self.settings = Settings(
            policy=self.policy(), agents=AGENTS, vocabulary=vocabulary, approval_window="2h",
            new_id=lambda: str(uuid.uuid5(uuid.NAMESPACE_URL, str(next(numbers)))),
        )  # fmt: skip
        self.boot()

    def policy(self) -> Policy:
        """The policy of the stories, with doors that count who goes through them, and may fall shut on the process."""

        def door(name: str, **more: Any) -> Tool:
            def perform(call: Call) -> Answer:
                self.effects.append(name)
                if self.cut:
                    raise stage.PowerCut
                return Answer(502, "bad gateway") if name == "bank" else Answer(200)

            return Tool(name, perform, **more)

        consent = {"authorization_url": "https://accounts.example/consent"}
        tools = (door("stripe"), door("shop"), door("bank"), door("calendar", **consent))
        return Policy(tools, (*stage.POLICY.rules, Rule("allow", "calendar", agent_id="foreign-agent")))

    def boot(self) -> None:
        self.platform = RunAgents(
            SqliteStore(Path(self.folder.name) / "store.db"), self.settings, self.clock, self.capture
        )
        self.platform.book.subscribers.append(self.note)
        self.worker = Worker(self.platform)

    def note(self, line: dict[str, Any]) -> None:
        if "event_id" in line:
            self.acknowledged.add(line["event_id"])

    def pick(self, found: list[dict[str, Any]], place: int) -> dict[str, Any] | None:
        return found[-1 - place] if place < len(found) else None

    def ask(self, name: str, key: str | None, asked: Any, act: Any) -> None:
        """Does something that may be refused; a refusal changes nothing, a repetition gives the first answer."""
        before = self.platform.book.store.position()
        answer = None
        with contextlib.suppress(*REFUSED):
            answer = act(key)
        if answer is None:
            assert self.platform.book.store.position() == before, "a refusal took effect"
        if answer is None or key is None:
            return
        first = self.answers.setdefault(f"{name}|{key}", (asked, answer))
        if first[1] is not answer:
            assert first == (asked, answer), "a repetition got another answer"
            assert self.platform.book.store.position() == before, "a repetition took effect"

    @rule(
        agent=st.sampled_from([*sorted(AGENTS), "foreign-agent"]),
        key=KEYS,
        text=st.sampled_from(["Hi", "See /home/ada/x"]),
    )
    def create(self, agent, key, text):
        request = {"agent_id": agent, "user_id": "user_ines", "initial_message": text}
        self.ask("create_run", key, request, lambda key: self.platform.create_run(request, key))

    @rule()
    def work(self):
        with contextlib.suppress(stage.PowerCut):
            self.worker.run()

    @rule(steps=st.integers(1, 4))
    def work_a_little(self, steps):
        for _ in range(steps):
            self.worker.step()

    @rule(place=PLACES, approve=st.booleans(), scope=SCOPES, late=st.booleans(), key=KEYS, pending=st.booleans())
    def decide(self, place, approve, scope, late, key, pending):
        request = self.pick(self.platform.requests("PENDING" if pending else None), place)
        if request is None:
            return
        wish = {"approver_id": "user_marta"} | ({"scope": scope} if approve else {"reason": "No."})
        wish |= {"duration": "10m"} if approve and late else {}
        name = "approve" if approve else "reject"
        act = getattr(self.platform, name)
        self.ask(name, key, [request["id"], wish], lambda key: act(request["id"], wish, key))

    @rule(place=PLACES)
    def approve_another_payload(self, place):
        request = self.pick(self.platform.requests("PENDING"), place)
        if request:
            wish = {"approver_id": "user_marta", "payload_hash": "f" * 64}
            self.ask("approve", None, wish, lambda key: self.platform.approve(request["id"], wish, key))
            assert self.platform.request(request["id"])["status"] == "PENDING"

    @rule(place=PLACES)
    def change_the_payload(self, place):
        request = self.pick(self.platform.requests("PENDING"), place)
        if request:
            changed = {"action_id": request["action_id"], "payload": {"order": "another"}}
            self.platform.keep_checkpoint(request["run_id"], changed)

    @rule(place=PLACES, completed=st.booleans(), key=KEYS)
    def consent(self, place, completed, key):
        if run := self.pick(self.platform.runs(status="PAUSED_CONSENT"), place):
            asked = [run["id"], completed]
            self.ask("consent", None, asked, lambda key: self.platform.settle_consent(run["id"], completed, key))

    @rule(place=PLACES, status=st.sampled_from(["COMPLETED", "FAILED", "RUNNING", "PAUSED_APPROVAL"]))
    def set_status(self, place, status):
        if run := self.pick(self.platform.runs(), place):
            request = {"status": status}
            self.ask("status", None, request, lambda key: self.platform.set_status(run["id"], request, key))

    @rule(place=PLACES, kind=st.sampled_from(TOLD), key=KEYS, raw=st.booleans())
    def tell(self, place, kind, key, raw):
        if run := self.pick(self.platform.runs(), place):
            data = (
                {"tool_id": "shop", "error": "No."}
                if kind in {"FAILED", "ERROR"} or "TOOL" in kind
                else {"content": "x"}
            )
            request = {"type": kind, "data": {**data, **({"body": "x"} if raw else {})}}
            self.ask("tell", key, [run["id"], request], lambda key: self.platform.tell(run["id"], request, key))

    @rule(place=PLACES, called=st.booleans(), same=st.booleans())
    def retry_from_outside(self, place, called, same):
        run = self.pick(self.platform.runs(agent_id="foreign-agent"), place)
        action = self.pick(self.platform.actions(run["id"]), 0) if run else None
        if action:
            data = {"action_id": action["action_id"], "tool_id": "stripe"} | ({} if called else {"status_code": 200})
            told = {"type": "TOOL_CALLED", "payload_hash": action["payload_hash"] if same else "1" * 64, "data": data}
            told = told if called else {"type": "TOOL_RESPONSE", "data": data}
            self.ask("tell", None, told, lambda key: self.platform.tell(run["id"], told, key))

    @rule(place=PLACES, whole=st.booleans(), number=st.integers(0, 1))
    def block(self, place, whole, number):
        if run := self.pick(self.platform.runs(agent_id="foreign-agent"), place):
            asked = {"tool_id": "stripe", "capability": "POST /v1/refunds"}
            asked |= {"payload": {"order": number}} if whole else {"payload_hash": str(number) * 64}
            self.ask("block", None, asked, lambda key: self.platform.block(run["id"], asked, key))

    @rule(place=PLACES, call=st.sampled_from([stage.REFUND, stage.LOOK_UP, stage.INVITE, stage.PAY, stage.ERASE]))
    def call(self, place, call):
        if run := self.pick(self.platform.runs(agent_id="foreign-agent"), place):
            self.ask("call", None, call, lambda key: self.platform.call(run["id"], call))

    @rule(minutes=st.sampled_from([5, 30, 150]))
    def wait(self, minutes):
        self.clock.advance(minutes * 60_000)
        self.worker.sweep()

    @rule(place=PLACES)
    def look(self, place):
        if run := self.pick(self.platform.runs(), place):
            self.platform.run_view(run["id"])
            self.platform.export(run["id"])
            for action in self.platform.actions(run["id"]):
                self.platform.action_view(run["id"], action["action_id"])

    @rule(in_a_call=st.booleans())
    def crash(self, in_a_call):
        """The process is gone; the file is not. What was acknowledged is there when it comes back."""
        if in_a_call:
            self.cut = True
            with contextlib.suppress(stage.PowerCut):
                self.worker.run()
            self.cut = False
        self.platform.book.store.close()
        self.boot()
        self.platform.recover()

    @invariant()
    def every_log_counts_from_one_and_leads_to_its_record(self):
        if not hasattr(self, "platform"):
            return
        page = self.platform.book.page()
        for run in self.platform.runs():
            assert page.state("run", run["id"]) == run["status"], "the record and the log differ"
            events = self.platform.events(run["id"])
            assert [event["seq"] for event in events] == list(range(1, len(events) + 1))

    def teardown(self) -> None:
        if not hasattr(self, "platform"):
            return
        for place in range(4):
            self.look(place)
        text, kept = self.text.getvalue(), list(self.platform.book.read())
        told = [line for line in map(json.loads, text.splitlines()) if "event_id" in line]
        assert [line for line in kept if "event_id" in line] == told, "the capture and the log differ"
        assert self.acknowledged == {line["event_id"] for line in told}, "an acknowledged event is lost"
        self.check_effects(told)
        self.platform.book.store.close()
        self.folder.cleanup()
        assert findings(text) == []
        assert disagreements(text) == []

    def check_effects(self, told: list[dict[str, Any]]) -> None:
        """No action was performed twice, and nothing was performed that the log did not tell first."""
        calls = [event for event in told if event["type"] in {"TOOL_CALLED", "TOOL_CALL", "TOOL_REQUEST"}]
        assert len(self.effects) <= len(calls)
        retried = [event["data"]["action_id"] for event in calls if "action_id" in event["data"]]
        assert len(retried) == len(set(retried)), "an approval of one action served two calls"


TestPlatformMachine = PlatformMachine.TestCase
TestPlatformMachine.settings = hypothesis_settings(stateful_step_count=25)
