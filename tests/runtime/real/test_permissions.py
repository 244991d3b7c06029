"""Rules, the catalogue and the mode: deny and ask beat any allow, and what is denied never runs."""

import pytest

from reference_runtime.domain.permission import commands, weigh
from reference_runtime.settings import Settings
from tests.runtime.real.floor import read, shell, write

DENY = {"id": "no-rm", "tool": "shell", "match": "rm *", "decision": "deny", "reason": "Nothing is removed."}
ASK = {"id": "ask-git", "tool": "shell", "match": "git *", "decision": "ask"}
ALLOW = {"id": "all", "tool": "shell", "match": "*", "decision": "allow"}
LIST = {"id": "ls", "tool": "shell", "match": "ls*", "decision": "allow"}


REMOVALS = ["rm x", "ls; rm x", "ls && rm x", "ls | rm x", "(rm x)", "echo $(rm x)", 'echo "$(rm x)"', "echo `rm x`"]
REMOVALS += ["A=1 rm x", "ls\nrm x", "rm   -r  x", "git status; rm x"]


def decided(line, *rules, mode="default", tool="shell", hook=""):
    settings = Settings(rules=rules)
    args = {"command": line} if tool == "shell" else {"path": line}
    vote = weigh(settings, settings.tool(tool), args, mode, hook)
    return vote.decision, vote.source


@pytest.mark.parametrize("rules", [(DENY, ALLOW), (ALLOW, DENY), (ALLOW, ASK, DENY), (DENY, ASK)])
@pytest.mark.parametrize("line", REMOVALS)
def test_one_command_that_is_denied_denies_the_line(rules, line):
    assert decided(line, *rules) == ("deny", "rule")


@pytest.mark.parametrize("rules", [(ASK, ALLOW), (ALLOW, ASK)])
def test_a_rule_that_asks_beats_one_that_allows(rules):
    assert decided("git push", *rules) == ("ask", "rule")


@pytest.mark.parametrize("line", ["ls > x", "ls $(date)", "ls `date`", "ls; date", "ls <(date)", "ls ${X}"])
def test_a_pattern_allows_nothing_that_it_does_not_see(line):
    assert decided("ls -l", LIST) == ("allow", "rule")
    assert decided(line, LIST) == ("ask", "rule")


MODES = {
    ("default", "shell"): ("ask", "rule"),
    ("on_request", "shell"): ("ask", "rule"),
    ("never", "shell"): ("deny", "mode"),
    ("plan", "shell"): ("deny", "mode"),
    ("plan", "read_file"): ("allow", "rule"),
    ("untrusted", "read_file"): ("allow", "rule"),
    ("untrusted", "migrate"): ("ask", "mode"),
    ("bypass", "write_file"): ("allow", "mode"),
    ("bypass", "shell"): ("ask", "rule"),
    ("auto", "write_file"): ("allow", "mode"),
    ("bypass", "deploy"): ("deny", "rule"),
}


@pytest.mark.parametrize(("mode", "tool"), MODES, ids=lambda word: word)
def test_a_mode_tightens_and_loosens_only_what_nobody_asked_about(mode, tool):
    assert decided("x", mode=mode, tool=tool) == MODES[mode, tool]


@pytest.mark.parametrize("mode", ["default", "bypass", "auto", "on_failure"])
def test_no_mode_and_no_hook_beats_a_rule_that_denies_or_asks(mode):
    assert decided("rm x", DENY, ALLOW, mode=mode, hook="allow")[0] == "deny"
    assert decided("git push", ASK, ALLOW, mode=mode, hook="allow")[0] == "ask"


def test_a_line_that_cannot_be_read_is_taken_as_a_whole():
    assert commands('echo "open') == ['echo "open']
    assert commands("") == [""]


def test_a_rule_that_denies_leaves_no_trace_and_asks_nobody(floor):
    one = floor(rules=(ALLOW, {**DENY, "match": "touch *"})).run(shell("echo x > x.txt; touch y.txt"))
    assert one.files() == set()
    assert "action.required" not in one.types()
    assert one.said("permission.evaluated")["rule_refs"] == ["rule://no-rm"]
    assert one.judged() == []


def test_a_rule_that_allows_asks_nobody_and_the_command_runs(floor):
    one = floor(rules=(ALLOW,)).run(shell("echo x > x.txt", None))
    assert one.files() == {"x.txt"}
    assert "action.required" not in one.types()
    assert one.judged() == []


@pytest.mark.parametrize("mode", ["never", "plan"])
def test_a_mode_that_denies_leaves_no_trace(floor, mode):
    one = floor(mode=mode).run(shell("echo x > x.txt", None), write("y.txt"))
    assert one.files() == set()
    assert one.said("permission.evaluated")["decision_source"] == "mode"
    assert one.judged() == []


@pytest.mark.parametrize("mode", ["bypass", "auto", "untrusted", "on_request", "on_failure"])
def test_every_mode_leaves_a_record_that_the_judge_accepts(floor, mode):
    one = floor(mode=mode).run(shell("echo x > x.txt"), write("y.txt"))
    assert one.files() == {"x.txt", "y.txt"}
    assert one.judged() == []


def test_a_sandbox_that_is_not_there_is_not_claimed(floor):
    one = floor(rules=({"id": "boxed", "tool": "shell", "decision": "sandboxed"},)).run(shell("echo x > x.txt", None))
    assert one.files() == set()
    assert one.said("permission.evaluated")["decision"] == "unavailable"
    assert one.judged() == []


@pytest.mark.parametrize("use", [read("a.txt"), write("b.txt")], ids=["read", "write"])
def test_a_file_tool_that_is_to_be_confined_is_and_says_how(floor, use):
    one = floor({"files": {"a.txt": "x"}}, rules=({"id": "boxed", "tool": "*_file", "decision": "sandboxed"},)).run(use)
    applied = one.said("sandbox.applied")
    reads = use["tool"] == "read_file"
    assert (applied["mode"], applied["write_roots"]) == (("read_only", []) if reads else ("workspace_write", ["."]))
    assert "tool.result" in one.types()
    assert one.judged() == []


def test_what_a_person_changed_into_something_denied_does_not_run(floor):
    changed = {"decision": "modified", "answer": {"command": "touch made.txt"}}
    one = floor(rules=({**DENY, "match": "touch *"},)).run(shell("true", changed))
    assert one.files() == set()
    assert one.said("tool.failed")["status"] == "denied"
    assert one.judged() == []


def test_a_call_that_the_log_does_not_allow_does_not_run(floor):
    """The plan says run; the facts say that nobody allowed exactly this."""
    one = floor().submit(shell("echo x > x.txt", None))
    one.worker.run()
    one.runtime.handle("respond_action", {"action_id": "action_1", "decision": "approved"})

    def tampered(state):
        plan = state.edit("plan", "turn_a")
        plan.data["ops"][-2]["call"]["args"]["command"] = "echo y > y.txt"
        return
        yield  # a decision is a generator

    one.runtime.report(tampered)
    one.worker.run()
    assert one.files() == set()
    assert one.said("tool.failed")["reason"] == "No decision lets exactly this run."
    assert one.judged() == []


UNFIT = [
    ("shell", {}),
    ("shell", {"command": 7}),
    ("shell", {"command": ["ls"]}),
    ("shell", {"command": "true", "cwd": 3}),
    ("shell", {"command": "true", "timeout_ms": "soon"}),
    ("shell", {"command": "true", "timeout_ms": -1}),
    ("shell", {"command": "true", "max_output_bytes": True}),
    ("shell", {"command": "true\0"}),
    ("read_file", {"path": None}),
    ("write_file", {"path": "a.txt"}),
]
HALF = [("shell", {"command": "echo \ud800"}), ("write_file", {"path": "a.txt", "content": "\ud800"})]


CALLED = [(*one, False) for one in [*UNFIT, *HALF]] + [(*one, True) for one in UNFIT]


@pytest.mark.parametrize(("tool", "args", "changed"), CALLED)
def test_arguments_that_do_not_fit_are_refused_and_work_goes_on(floor, tool, args, changed):
    asked = {"tool": tool, "args": {"command": "true", "path": "b.txt", "content": "x"} if changed else args}
    person = {"decision": "modified", "answer": args} if changed else {"decision": "approved"}
    one = floor(rules=({"id": "ask", "decision": "ask"},)).run({**asked, "person": person}, shell("echo on"))
    assert one.files() == set()
    assert [event["payload"]["preview"] for event in one.events("tool.result")] == ["on\n"]
    assert one.judged() == []
