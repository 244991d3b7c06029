"""What the runs of a thread say together is as if it were counted anew each time."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validator.protocol.protocol import load_protocol
from validator.replay import world as worlds
from validator.replay.readmodels.agent_threads import KEPT, Runs
from validator.replay.world import World

STATUSES = ("created", "streaming", "committed", "failed", "superseded")
RECORDS = st.builds(
    lambda run, status, thread, fork, count: {
        "record": "run",
        "runId": run,
        "threadId": thread,
        "streamId": f"run:{run}",
        "status": status,
        "forkFromMessageId": fork,
        "messageCount": count,
        "finishedAt": None,
    },
    st.sampled_from("abc"),
    st.sampled_from(STATUSES),
    st.sampled_from("ttu"),
    st.sampled_from([None, "m", "n"]),
    st.sampled_from([None, 0, 1, 2]),
)
KINDS = {
    "user-message": {"content": "x"},
    "text-delta": {"delta": "y"},
    "step-finished": {"stepIndex": 0, "finishReason": "stop", "usage": {}},
}
LINES = st.lists(
    RECORDS
    | st.tuples(st.sampled_from("abc"), st.sampled_from(sorted(KINDS)))
    | st.sampled_from(["ask", "ask", "wait", "lose"]),
    max_size=30,
)


def counted_anew(runs, world, thread):
    """Everything that a conversation keeps, from the runs themselves."""
    names = runs.of_thread(thread)
    kept = [run for run in names if world.state("run", run) in KEPT]
    streams = {run: runs.reducer(run) for run in names}
    held = {run: stream for run, stream in streams.items() if stream and stream.whole}
    said = {run: [*(told := stream.said_since(0))[0], *([told[1]] if told[1] else [])] for run, stream in held.items()}
    contents = {run: [content for content, *_ in said[run]] for run in held}
    counts = [runs.last[run][0].get("messageCount") for run in kept]
    answers = {
        runs.last[run][0].word("forkFromMessageId"): contents[run][0]
        for run in kept
        if run in held and contents[run] and world.state("run", run) == "committed"
    }
    unsaid = {}
    for run in names:
        for content in contents.get(run, ()) if run not in kept else ():
            unsaid.setdefault(content, run)
    ours = [contents[run] for run in kept if run in held]
    return {
        "kept": len(kept),
        "silent": sum(run not in held for run in kept),
        "counted": sum(count or 0 for count in counts),
        "counting": {run for run, count in zip(kept, counts, strict=True) if count != 0},
        "total": sum(map(len, ours)),
        "often": Counter(content for found in ours for content in found),
        "pairs": Counter(pair for found in ours for pair in pairwise(found)),
        "last": Counter(found[-1] for found in ours if found),
        "forks": Counter(runs.last[run][0].word("forkFromMessageId") for run in names),
        "answers": [answers.get(fork) for fork in ("m", "n")],
        "unsaid": unsaid,
        "miscounted": sum(count != 1 for count in counts),
    }


def kept_of(conversation, unsaid):
    names = ("kept", "silent", "counted", "counting", "total", "often", "pairs", "last", "forks")
    return {
        **{name: getattr(conversation, name) for name in names},
        "answers": [conversation.answer(fork) for fork in ("m", "n")],
        "unsaid": {content: conversation.unsaid(content) for content in unsaid},
        "miscounted": conversation.miscounted(dict.fromkeys("abc", 1)),
    }


@given(LINES)
def test_a_conversation_is_what_its_runs_say(lines):
    world = World(load_protocol("agent-threads"), (Runs,))
    runs, sequences = world.ledger(Runs), Counter()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(worlds, "RECENT", 8)
        for number, line in enumerate([*lines, "ask"], start=1):
            if line == "ask":
                for thread in "tu":
                    found = counted_anew(runs, world, thread)
                    assert kept_of(runs.conversation(thread), found["unsaid"]) == found
            elif line == "lose":
                sequences["a"] += 1
            elif isinstance(line, dict):
                world.apply(line, number)
            elif line != "wait":
                run, kind = line
                sequences[run] += 1
                event = {"kind": kind, "payload": KINDS[kind]}
                told = {"seq": sequences[run], "timestamp": "", "streamId": f"run:{run}", "event": event}
                world.apply(told, number)


def test_nothing_is_kept_of_what_is_no_thread():
    runs = World(load_protocol("agent-threads"), (Runs,)).ledger(Runs)
    nobody = runs.conversation(None)
    assert (nobody.kept, nobody.unsaid(1), nobody.answer(None)) == (0, None, None)
