"""Faults of a runtime that does real work: what it runs, what it hides, and what it says about both."""

from dataclasses import replace

from reference_runtime import service
from reference_runtime.redaction import Mask
from reference_runtime.stamping import Draft
from reference_runtime.work.real import calls, runs
from tests.broken.runtimes import Fault, do, submit

YES = {"decision": "approved"}
TOKEN = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"


def using(command, person=YES, **args):
    use = {"tool": "shell", "args": {"command": command, **args}, "person": person}
    return {"work": [{"catalog": {}}, {"use": use}]}


def hook(program, point="pre_tool_use", **more):
    return {"hooks": [{"name": "one", "point": point, "program": f"#!/bin/sh\n{program}\n", **more}]}


def runs_anyway(patcher):
    patcher.setattr(runs, "_stands", lambda call: True)


class RunsBeforeTheApproval(Fault):
    """The command runs, and then a person is asked whether it may."""

    rule = "GOV003"
    work, scripts = {}, using("echo early")

    def patch(self, patcher):
        runs_anyway(patcher)
        ask = calls._question

        def hasty(call, vote):
            ids = {**call.op["ids"], "process_id": "process_0"}
            call.tell([calls.evaluated(call, vote, approval_action_id="action_1"), calls.started(call, "action_1")])
            call.tell([call.fact("sandbox.applied", runs._boundary(call))])
            with call.bench.workspace.folder(".") as folder:
                running = call.bench.start(["true"], folder, ids, 64)
            call.tell(lambda state: runs._begun(call, state, running, ids))
            call.bench.forget("process_0")
            call.tell([call.fact("process.completed", {"exit_code": 0}, **ids)])
            patcher.setattr(calls, "evaluated", lambda call, vote, **more: None)
            patcher.setattr(calls, "started", lambda call, action=None: None)
            ask(call, vote)

        patcher.setattr(calls, "_question", hasty)

    def tamper(self, draft, state):
        return [] if draft is None else [draft]


class WritesWhatWasDenied(Fault):
    """The person says no, and the file is written."""

    rule = "STA001"
    work = {}
    use = {"tool": "write_file", "args": {"path": "a.txt", "content": "x"}, "person": {"decision": "denied"}}
    scripts = {"work": [{"catalog": {}}, {"use": use}]}

    def patch(self, patcher):
        runs_anyway(patcher)
        patcher.setattr(calls, "REFUSED", [])
        patcher.setattr(calls, "GRANTED", ["approved", "denied"])


class RunsWhatARuleDenies(Fault):
    """A rule says no, that is told, and the command runs."""

    rule = "GOV003"
    work, scripts = {}, using("echo anyway")
    settings = {"rules": [{"id": "none", "tool": "shell", "decision": "deny"}]}

    def patch(self, patcher):
        runs_anyway(patcher)

        def decide(call):
            told = [calls.evaluated(call, calls.vote_on(call)), calls.started(call)]
            call.tell(told, [call.next("run")])

        patcher.setitem(calls.PHASES, "decide", decide)


class IgnoresTheRewrite(Fault):
    """A hook makes the input safe, and the call goes on with what it had before."""

    rule = "GOV014"
    work = hook("""cat > /dev/null; echo '{"updated_input": {"command": "echo safe"}}'""")
    scripts = using("echo risky")

    def tamper(self, draft, state):
        if draft.type == "tool.started":
            said = {**draft.payload, "args_ref": "input://call_1/as-it-was", "safe_args": {"command": "echo risky"}}
            return [replace(draft, payload=said)]
        return [draft]


class RunsWhatAHookBlocked(Fault):
    """The hook blocks, and the command runs."""

    rule = "GOV020"
    work, scripts = hook("echo Closed. >&2; exit 2"), using("echo anyway")

    def patch(self, patcher):
        patcher.setattr(calls.Answer, "blocks", False)

    def tamper(self, draft, state):
        if draft.type == "hook.completed":
            return [replace(draft, payload={**draft.payload, "block_reason": "Closed."})]
        return [draft]


class LetsAGuardFailOpen(Fault):
    """The guard crashes, and the command runs unguarded."""

    rule = "GOV023"
    work, scripts = hook("exit 1", failure="fail_open"), using("echo unguarded")

    def patch(self, patcher):
        patcher.setattr(calls, "stops", lambda call, hook: False)


class UsesALateAnswer(Fault):
    """The hook answers after its time, and its answer counts."""

    rule = "GOV022"
    work, scripts = hook("cat > /dev/null", timeout_ms=5000), using("echo late")

    def tamper(self, draft, state):
        if draft.type == "hook.completed":
            return [replace(draft, payload={**draft.payload, "duration_ms": 9000})]
        return [draft]


class Unmasked:
    """What a command prints is told as it stands; the command itself is not."""

    def patch(self, patcher):
        patcher.setattr(service, "clean", lambda event: event)
        patcher.setattr(Mask, "__call__", lambda self, text: (text, set()))

    def tamper(self, draft, state):
        quiet = {"command": "echo", "safe_args": {}, "preview": "x", "subcommands": ["echo"]}
        kept = {name: quiet.get(name, value) for name, value in draft.payload.items() if name != "size_bytes"}
        return [replace(draft, payload=kept)]


class LeaksAPathOfItsOutput(Unmasked, Fault):
    """A command prints the path of a home, and everybody gets to see it."""

    rule = "RED002"
    work, scripts = {}, using("echo /home/ada/project")


class LeaksASecretOfItsOutput(Unmasked, Fault):
    """A command prints a token, and everybody gets to see it."""

    rule = "RED003"
    work, scripts = {}, using(f"echo {TOKEN}")


class TellsTooMuchInline(Fault):
    """Output that was stored is told in the event as well, over the budget it states itself."""

    rule = "REF009"
    work, scripts, settings = {}, using("seq 1 100; read x; seq 1 100", stdin="go"), {"output_budget": 20}

    def tamper(self, draft, state):
        yield draft
        if draft.type == "output.spilled":
            ids = {**draft.ids, "process_id": "process_1", "output_ref": None}
            yield Draft(
                "process.output", ids, {"stream": "stderr", "text": "more " * 20, "offset": 0, "size_bytes": 100}
            )


class CutsInSilence(Fault):
    """Output is said to be inline, and most of it is nowhere."""

    rule = "REF006"
    work, scripts, settings = {}, using("seq 1 100"), {"output_budget": 20}

    def tamper(self, draft, state):
        if draft.type in {"output.spilled", "process.completed", "tool.result"}:
            said = {"process.completed": {"exit_code": 0}, "tool.result": {"preview": "1"}}
            return [replace(draft, payload=said[draft.type])] if draft.type in said else []
        if draft.type == "process.output" and "output_ref" in draft.payload:
            said = {name: value for name, value in draft.payload.items() if name != "output_ref"}
            return [replace(draft, payload={**said, "text": "65\n"})]
        return [draft]


class HidesThatTheSandboxRefused(Fault):
    """A path out of the workspace is told as an ordinary failure."""

    rule = "GOV026"
    work = {}
    scripts = {"work": [{"catalog": {}}, {"use": {"tool": "read_file", "args": {"path": "../x"}}}]}

    def tamper(self, draft, state):
        if draft.type == "tool.failed":
            error = {**draft.payload["error"], "category": "tool"}
            return [replace(draft, payload={**draft.payload, "error": error})]
        return [draft]


class CallsALostProcessDone(Fault):
    """After a restart it says that the process in flight has ended well."""

    rule = "UNK002"
    work, scripts = {"limits": {"grace": 0.1}}, using("echo up; sleep 600")
    acts = [submit(), {"until": "process.output"}, {"restart": "kill"}]

    def tamper(self, draft, state):
        if draft.type == "process.failed":
            return [Draft("process.completed", draft.ids, {"exit_code": 0})]
        return [] if draft.type == "process.terminated" else [draft]


class TellsOutputAfterTheEnd(Fault):
    """What was left in a buffer is told as if the process still ran."""

    rule = "TRM001"
    work, scripts = {"limits": {"grace": 0.1}}, using("echo one; echo two; sleep 600")
    acts = [submit(), {"until": "process.output"}, do("interrupt_turn", session_id="s", reason="r"), {"run": True}]

    def tamper(self, draft, state):
        return [replace(draft, payload={name: value for name, value in draft.payload.items() if name != "drained"})]


class CallsATimeoutSomethingElse(Fault):
    """The time limit ends a process, and the failure has another category."""

    rule = "REF012"
    work, scripts = {"limits": {"grace": 0.1}}, using("sleep 600", timeout_ms=100)

    def tamper(self, draft, state):
        if draft.type == "process.failed":
            return [replace(draft, payload={**draft.payload, "failure_category": "transport"})]
        return [draft]


class WorksAtAnAbsolutePath(Fault):
    """A process is told with the folder it works in as the machine knows it."""

    rule = "RED001"
    work, scripts = {}, using("echo here")

    def event(self, event):
        if event["type"] == "process.started":
            return event | {"payload": {**event["payload"], "cwd": "/srv/project"}}
        return event
