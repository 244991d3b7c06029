"""Hooks are real programs: they rewrite, block, ask, fail and take too long, and all of it is told."""

import json

import pytest

from tests.runtime.real.floor import alive, read, shell, write

ANSWER = "#!/bin/sh\ncat > /dev/null\necho '{}'\n"


def hook(program, point="pre_tool_use", **more):
    return {"name": "one", "point": point, "program": program, **more}


def answers(**said):
    return ANSWER.format(json.dumps(said))


def test_what_a_hook_made_of_the_input_is_what_really_runs(floor):
    safer = answers(updated_input={"command": "echo safe > safe.txt"})
    one = floor({"hooks": [hook(safer)]}).run(shell("echo risky > risky.txt"))
    assert one.files() == {"safe.txt"}
    reference = one.said("hook.completed")["updated_input_ref"]
    assert one.said("tool.started")["args_ref"] == reference
    assert json.loads(one.runtime.content(reference)) == {"command": "echo safe > safe.txt"}
    assert one.said("process.started")["command"] == "echo safe > safe.txt"
    assert one.said("action.required")["payload_hash"] == one.said("process.started")["payload_hash"]
    assert one.judged() == []


def test_the_second_hook_sees_what_the_first_made_of_it(floor):
    first = hook(answers(updated_input={"command": "echo second > two.txt"}))
    looks = "#!/bin/sh\nif grep -q second; then echo 'Seen.' >&2; exit 2; fi\n"
    one = floor({"hooks": [first, {**hook(looks), "name": "two"}]}).run(shell("echo first > one.txt"))
    assert one.files() == set()
    assert one.said("hook.completed")["block_reason"] == "Seen."
    assert one.judged() == []


BLOCKS = {
    "a block": answers(decision="block", reason="Closed today."),
    "a deny": answers(decision="deny", reason="Closed today."),
    "exit code two": "#!/bin/sh\necho 'Closed today.' >&2\nexit 2\n",
}


@pytest.mark.parametrize("program", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("use", [shell("echo x > x.txt"), write("x.txt")], ids=["shell", "write"])
def test_a_hook_that_blocks_leaves_no_trace_and_says_why(floor, program, use):
    one = floor({"hooks": [hook(program)]}).run(use)
    assert one.files() == set()
    assert "action.required" not in one.types()
    assert "Closed today." in one.said("tool.failed")["reason"]
    assert one.said("hook.completed")["block_reason"] == "Closed today."
    assert one.judged() == []


def test_a_hook_can_ask_for_a_person_and_cannot_overrule_one(floor):
    rules = [{"id": "all", "tool": "shell", "decision": "allow"}]
    one = floor({"hooks": [hook(answers(decision="ask"))]}, rules=rules).submit(shell("echo x > x.txt", None))
    one.worker.run()
    assert one.files() == set()
    assert one.said("permission.evaluated")["decision_source"] == "hook"
    one.runtime.handle("respond_action", {"action_id": "action_1", "decision": "denied"})
    one.worker.run()
    assert one.files() == set()
    assert one.judged() == []


@pytest.mark.parametrize("decision", ["allow", "continue"])
def test_a_hook_that_allows_does_not_spare_the_question(floor, decision):
    one = floor({"hooks": [hook(answers(decision=decision))]}).submit(shell("echo x > x.txt", None))
    one.worker.run()
    assert one.files() == set()
    assert one.runtime.state().state("tool_call", "call_1") == "waiting_permission"
    assert one.judged() == []


FAILURES = {
    "crash": "#!/bin/sh\nexit 1\n",
    "signal": "#!/bin/sh\nkill -9 $$\n",
    "no JSON": "#!/bin/sh\ncat > /dev/null\necho 'fine by me'\n",
    "no object": "#!/bin/sh\ncat > /dev/null\necho '[]'\n",
    "unknown word": answers(decision="perhaps"),
    "wrong shape": answers(updated_input="echo x"),
    "no such program": "#!/nowhere/at-all\n",
    "too much": "#!/bin/sh\nyes\n",
    "too long": "#!/bin/sh\nsleep 600\n",
}


@pytest.mark.parametrize("failure", ["fail_open", "fail_closed"])
@pytest.mark.parametrize("program", FAILURES.values(), ids=FAILURES)
def test_a_guard_that_fails_stops_a_call_that_writes_whatever_the_host_wrote(floor, program, failure):
    broken = hook(program, failure=failure, timeout_ms=300)
    one = floor({"hooks": [broken]}).run(write("x.txt"))
    assert one.files() == set()
    assert one.said("hook.failed")["failure_behavior"] == "fail_closed"
    assert one.said("tool.failed")["status"] == "denied"
    assert one.judged() == []


def test_a_guard_that_fails_open_lets_a_reading_call_pass_and_warns(floor):
    broken = hook("#!/bin/sh\nexit 1\n", failure="fail_open")
    one = floor({"hooks": [broken], "files": {"a.txt": "text"}}).run(read("a.txt"))
    assert one.said("tool.result")["preview"] == "text"
    assert one.said("runtime.warning")["code"] == "hook_failed_open"
    assert one.events("runtime.warning")[0]["tool_call_id"] == "call_1"
    assert one.judged() == []


def test_a_hook_over_its_time_is_ended_with_everybody_it_started_and_its_answer_is_not_used(floor):
    slow = '#!/bin/sh\nsleep 600 &\necho $! > pid.txt\nwait\necho \'{"decision": "allow"}\'\n'
    one = floor({"hooks": [hook(slow, timeout_ms=3000)]}).run(write("x.txt"))
    assert not alive(int((one.site.workspace / "pid.txt").read_text()))
    assert one.said("hook.failed")["timed_out"] is True
    assert one.files() == {"pid.txt"}
    assert one.judged() == []


def test_a_hook_is_given_nothing_that_must_not_be_told(floor, tmp_path):
    keeps = "#!/bin/sh\ncat > given.json\nenv > environment.txt\n"
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    one = floor({"hooks": [hook(keeps)], "environment": {"API_TOKEN": "q8W-x2Y_z7Vb41"}})
    one.run(shell(f"echo {secret} q8W-x2Y_z7Vb41 {one.site.workspace}/x /home/ada/notes.md"))
    given = (one.site.workspace / "given.json").read_text()
    assert json.loads(given)["input"] == {"command": "echo [redacted] [redacted] x [notes.md]"}
    assert json.loads(given)["hook_point"] == "pre_tool_use"
    assert "API_TOKEN" not in (one.site.workspace / "environment.txt").read_text()
    for hidden in (secret, "q8W", str(tmp_path), "ada"):
        assert hidden not in given
        assert hidden not in one.text.getvalue()
    assert one.judged() == []


def test_a_hook_after_the_use_changes_the_result_and_the_result_does_not_hide_it(floor):
    shorter = hook(answers(updated_output="Short."), point="post_tool_use")
    one = floor({"hooks": [shorter], "files": {"a.txt": "A long story."}}).run(read("a.txt"))
    result = one.said("tool.result")
    assert result["preview"] == "Short."
    assert result["output_ref"] == one.said("hook.completed")["updated_tool_output_ref"]
    assert one.runtime.content(result["output_ref"]) == "Short."
    assert one.runtime.content(result["raw_output_ref"]) == "A long story."
    assert one.judged() == []


def test_a_hook_after_a_failure_is_told_of_it(floor):
    keeps = hook("#!/bin/sh\ncat > given.json\n", point="post_tool_failure")
    one = floor({"hooks": [keeps]}).run(shell("echo why; exit 4"))
    given = json.loads((one.site.workspace / "given.json").read_text())
    assert (given["status"], given["output"]) == ("failed", "why\n")
    assert one.types().index("hook.completed") < one.types().index("tool.failed")
    assert one.judged() == []


@pytest.mark.parametrize(
    "program", [answers(decision="deny", reason="No."), "#!/bin/sh\nexit 9\n"], ids=["deny", "crash"]
)
def test_a_hook_hears_of_a_question_before_a_person_and_can_refuse_it(floor, program):
    one = floor({"hooks": [hook(program, point="permission_request")]}).run(shell("echo x > x.txt"))
    assert one.files() == set()
    assert "action.required" not in one.types()
    assert one.said("permission.evaluated")["decision_source"] == "hook"
    assert one.judged() == []


@pytest.mark.parametrize("decision", [{"decision": "block", "reason": "No."}, {"updated_input": {"command": "true"}}])
def test_what_a_person_changed_has_to_pass_the_hooks_again(floor, decision):
    guard = f"#!/bin/sh\nif grep -q other; then echo '{json.dumps(decision)}'; fi\n"
    changed = {"decision": "modified", "answer": {"command": "echo other > other.txt"}}
    one = floor({"hooks": [hook(guard)]}).run(shell("echo one > one.txt", changed))
    assert one.files() == set()
    assert one.said("tool.failed")["error"]["category"] == "hook"
    assert one.judged() == []


WITHHOLDS = {"a block": answers(decision="block", reason="Not for you."), "a crash": "#!/bin/sh\nexit 1\n"}


@pytest.mark.parametrize("program", WITHHOLDS.values(), ids=WITHHOLDS)
def test_a_hook_after_the_use_can_withhold_the_result(floor, program):
    one = floor({"hooks": [hook(program, point="post_tool_use")], "files": {"a.txt": "text"}}).run(read("a.txt"))
    assert "tool.result" not in one.types()
    assert one.said("tool.failed")["error"]["category"] == "hook"
    assert one.judged() == []


def test_a_hook_after_the_use_that_may_fail_is_passed_over_with_a_warning(floor):
    broken = hook("#!/bin/sh\nexit 1\n", point="post_tool_use", failure="fail_open")
    one = floor({"hooks": [broken], "files": {"a.txt": "text"}}).run(read("a.txt"))
    assert one.said("tool.result")["preview"] == "text"
    assert "runtime.warning" in one.types()
    assert one.judged() == []


def test_a_result_that_a_hook_emptied_still_says_that_it_was_changed(floor):
    one = floor({"hooks": [hook(answers(updated_output=""), point="post_tool_use")], "files": {"a.txt": "text"}})
    one.run(read("a.txt"))
    result = one.said("tool.result")
    assert result["output_ref"] == one.said("hook.completed")["updated_tool_output_ref"]
    assert one.runtime.content(result["output_ref"]) == ""
    assert one.runtime.content(result["raw_output_ref"]) == "text"
    assert one.judged() == []


def test_a_hook_that_may_fail_about_a_question_about_reading_lets_the_question_stand(floor):
    broken = hook("#!/bin/sh\nexit 1\n", point="permission_request", failure="fail_open")
    rules = ({"id": "ask", "tool": "read_file", "decision": "ask"},)
    one = floor({"hooks": [broken], "files": {"a.txt": "text"}}, rules=rules)
    one.run({**read("a.txt"), "person": {"decision": "approved"}})
    assert one.said("tool.result")["preview"] == "text"
    assert one.judged() == []
