"""A Hypothesis machine that treats AgentHub as people, Edges, adapters and a power cut would."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from reference_runtime.capture import LineCapture
from reference_runtime.contract import Contract
from reference_runtime.errors import CommandRejected, IllegalMove
from reference_runtime.lifecycles.agenthub import applying
from reference_runtime.lifecycles.agenthub.acts import Action
from reference_runtime.lifecycles.agenthub.places import Habits
from reference_runtime.lifecycles.agenthub.stage import JON, MIRA, PHASES, Stage
from reference_runtime.log.sqlite import SqliteStore
from tests.runtime.agenthub.readings import disagreements
from tests.runtime.judging import findings

RUNS = st.sampled_from(["run_1", "run_2", "run_3", "run_4"])
APPROVALS = st.sampled_from([f"apr_{number}" for number in range(1, 7)])
KEYS = st.none() | st.sampled_from(["k1", "k2", "k3"])
PATHS = st.sampled_from(["docs/faq.md", "docs/none.md", "src/main.py", "../x.md", "/etc/passwd", "docs/../../x", ""])
TEXTS = st.sampled_from(["Why?\n", "New.\n", "Because.\n"])
TOOLS = st.sampled_from(
    ["read_file", "write_file", "shell", "fetch_url", "git_push", "deploy", "get_secret", "check_links", "summon"]
)
SILENT = st.sets(st.sampled_from(["planned", "accepted", "preparing"]))
REPORTS: list[tuple[str, dict[str, Any]]] = [
    ("run.message.delta", {"messageId": "m", "text": "Hi"}),
    ("run.message.completed", {"messageId": "m", "text": "See /home/mira/notes.md"}),
    ("run.message.delta", {"messageId": 7, "text": "Hi"}),
    ("run.artifact.ready", {"artifactId": "a", "kind": "report", "path": "docs/report.md"}),
    ("run.artifact.ready", {"artifactId": "a", "kind": "report", "path": "../report.md"}),
    ("run.artifact.ready", {"artifactId": "a", "kind": "patch", "applyStatus": "applied"}),
    ("run.diff.ready", {"base": "main", "target": "p/1", "path": "docs/faq.md", "changeSummary": "One word"}),
    ("run.completed", {"finalResponse": "Done."}),
]


class HubMachine(RuleBasedStateMachine):
    """Every rule is one act from outside; crashes come between any two of them."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.text = io.StringIO()
        capture = LineCapture(self.text, Contract("agenthub/1"), completeness="prefix")
        self.stage = Stage(lambda: SqliteStore(Path(self.folder.name) / "store.db"), capture)
        self.answers: dict[str, tuple[tuple[Any, ...], Any]] = {}
        self.acknowledged: set[str] = set()
        self.stage.run("The first")

    @property
    def store(self) -> Any:
        return self.stage.hub.book.store

    def send(self, command: str, *words: Any, key: str | None = None) -> None:
        """Sends a command, and checks what holds for every answer and every refusal."""
        before, said = self.store.position(), (command, *words)
        known = self.answers.get(key) if key else None
        answer, refusal = self.asked(command, words, key)
        if answer is None:
            assert self.store.position() == before, (said, refusal)
            assert known is None or getattr(refusal, "code", "") == "key_reused"
        elif known:
            assert known == (said, answer), "a key was answered differently"
            assert self.store.position() == before, "a repetition took effect"
        elif key:
            self.answers[key] = (said, answer)
        self.acknowledged |= set(answer["events"]) if answer else set()

    def asked(self, command: str, words: tuple[Any, ...], key: str | None) -> tuple[Any, Exception | None]:
        try:
            return getattr(self.stage.hub, command)(*words, key=key), None
        except (CommandRejected, IllegalMove) as refusal:
            return None, refusal

    @rule(phase=st.sampled_from(PHASES), gate=st.sampled_from(["allow", "ask", "deny"]), access=st.booleans())
    def ask_for_a_run(self, phase, gate, access):
        if len(self.stage.hub.runs()) < 6:
            wish = {"gates": {"network": gate}, "access": "read_write" if access else "read_only"}
            with_trouble = self.stage.adapter.trouble or not self.stage.edge.online
            self.stage.run("Another", "Created" if with_trouble else phase, **wish)

    @rule(run=RUNS, step=st.sampled_from(["plan", "accept", "prepare", "start", "launch", "again"]), key=KEYS)
    def step(self, run, step, key):
        if step != "again" or len(self.stage.hub.runs()) < 6:
            self.send(step, run, key=key)

    @rule(trouble=st.none() | st.sampled_from(["cli_missing", "not_logged_in"]), online=st.booleans())
    def change_the_edge(self, trouble, online):
        self.stage.adapter.trouble, self.stage.edge.online = trouble, online

    @rule(run=RUNS, report=st.sampled_from(REPORTS), key=KEYS)
    def report(self, run, report, key):
        self.send("report", run, *report, key=key)

    @rule(run=RUNS, tool=TOOLS, path=PATHS, needed=st.booleans(), fails=st.booleans(), key=KEYS)
    def act(self, run, tool, path, needed, fails, key):
        arguments = {
            "read_file": {"path": path},
            "write_file": {"path": path, "text": "Changed.\n"},
            "shell": {"command": "make docs"},
            "get_secret": {"name": "billing-key"},
        }.get(tool, {"destination": "example.org"})
        self.send("act", run, Action(tool, arguments, needed=needed, fails=fails), key=key)

    @rule(run=RUNS, path=PATHS, text=TEXTS, key=KEYS)
    def propose(self, run, path, text, key):
        self.send("propose", run, {path: text, "docs/new.md": text}, "Change two pages", key=key)

    @rule(approval=APPROVALS, decision=st.sampled_from(["approved", "approved", "rejected", "cancelled"]), key=KEYS)
    def decide(self, approval, decision, key):
        self.send("decide", approval, decision, JON, None, key=key)

    @rule(approval=APPROVALS)
    def remind(self, approval):
        self.send("remind", approval)

    @rule(approval=APPROVALS, key=KEYS)
    def apply(self, approval, key):
        self.send("apply", approval, key=key)

    @rule(path=st.sampled_from(["docs/faq.md", "docs/new.md"]), text=TEXTS)
    def edit(self, path, text):
        """Somebody else changes a file."""
        self.stage.files.write(path, text.encode())

    @rule(run=RUNS, key=KEYS)
    def cancel(self, run, key):
        self.send("cancel", run, MIRA, "user_requested", None, key=key)

    @rule(run=RUNS, key=KEYS)
    def complete(self, run, key):
        self.send("complete", run, "Done.", None, key=key)

    @rule(minutes=st.sampled_from([1, 6, 11]))
    def wait(self, minutes):
        self.stage.clock.advance(minutes * 60_000)
        self.stage.hub.tick()

    @rule(run=RUNS)
    def look(self, run):
        if run in self.stage.hub.runs():
            self.stage.hub.view(run)

    @rule(silent=SILENT, rejection=st.sampled_from(["cancelled", "failed", "nothing"]))
    def change_habits(self, silent, rejection):
        self.stage.hub.habits = Habits(frozenset(silent), rejection)

    @rule(approval=APPROVALS, done=st.booleans())
    def crash_while_applying(self, approval, done):
        """The process dies after it said what it would do, before or after it did it."""
        record = self.store.load("approval", approval)
        try:
            self.stage.hub.book.take(lambda page: applying.begin(page, page.need("approval", approval)))
        except (CommandRejected, IllegalMove):
            return
        if done:
            applying.carry_out(record, self.stage.files)
        self.crash()

    @rule()
    def crash(self):
        """The process is gone; the store and the files are not. What was acknowledged is there when it comes back."""
        self.stage.restart()
        for key, (said, answer) in self.answers.items():
            command, *words = said
            assert getattr(self.stage.hub, command)(*words, key=key) == answer

    def teardown(self) -> None:
        if not hasattr(self, "stage"):
            return
        for run in self.stage.hub.runs():
            self.stage.hub.view(run)
        text, kept = self.text.getvalue(), list(self.store.read())
        self.stage.hub.book.store.close()
        self.folder.cleanup()
        told = [line for line in map(json.loads, text.splitlines()) if "record" not in line]
        assert told == kept
        assert self.acknowledged <= {event["id"] for event in kept}, "an acknowledged event is lost"
        assert findings(text) == [], findings(text)
        assert disagreements(text) == []


TestHubMachine = HubMachine.TestCase
TestHubMachine.settings = hypothesis_settings(stateful_step_count=40)
