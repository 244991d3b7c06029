"""Text in pieces: however an answer is cut, no path comes about where the pieces meet."""

import io
import itertools

import hypothesis.strategies as st
import pytest
from hypothesis import given

from reference_runtime.capture import LineCapture
from reference_runtime.contract import Contract
from reference_runtime.lifecycles.agent_threads.host import Host, event
from reference_runtime.lifecycles.agent_threads.ledger import Ledger
from reference_runtime.lifecycles.agent_threads.pieces import MARKER, cleaned, tail
from reference_runtime.log.memory import MemoryStore
from tests.runtime.judging import findings

TEXTS = [
    "It is in /home/alice/notes.txt now.",
    "Look at file:///home/alice/notes.txt for it.",
    "See ~/notes/plan.md or C:\\Users\\bob\\plan.md first.",
    "The log is /tmp/x-1/out and /var/log/app.log too.",
]


def cut(text, places):
    edges = [0, *sorted(place for place in places if place < len(text)), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


@given(st.sampled_from(TEXTS), st.sets(st.integers(1, 50), max_size=16))
def test_the_judge_finds_no_leak_in_the_transcript_of_a_text_cut_anywhere(text, places):
    captured = io.StringIO()
    ledger = Ledger(MemoryStore(), capture=LineCapture(captured, Contract("agent-threads/1")))
    run = Host(ledger, "t").answer(None)
    for piece in cut(text, places):
        ledger.append(run, [event("text-delta", delta=piece)])
    ledger.finalize(run, "committed")
    ledger.transcript("t")
    assert findings(captured.getvalue(), "complete") == []


def said(*pieces):
    """The text that is stored for these pieces."""
    before, kept = "", []
    for piece in pieces:
        stored = cleaned(event("text-delta", delta=piece), before)
        before = tail(before, stored)
        kept.append(stored["payload"]["delta"])
    return kept


def test_only_the_word_that_completes_a_leak_is_lost():
    assert said("in /ho", "me/alice/a.txt today") == ["in /ho", f"{MARKER} today"]
    assert said("in /home/alice/a.txt", " today") == ["in [a.txt]", " today"]


@pytest.mark.parametrize("between", [event("reasoning", text="r"), event("step-started", stepIndex=0)])
def test_a_text_ends_where_a_part_of_the_message_ends(between):
    assert tail("in /ho", between) == ""
    assert tail("in /ho", event("acme-note")) == "in /ho"
    assert tail("in /ho", event("error", message="Slow.")) == "in /ho"


def test_what_is_remembered_of_a_long_text_is_short():
    assert tail("", event("text-delta", delta="word " * 10_000)) == " word word word word "
    assert len(tail("", event("text-delta", delta="x" * 100_000))) <= 4096
