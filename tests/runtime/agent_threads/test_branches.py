"""Branches: what a walk does where a thread parts, where a parent is missing, and where parents form a circle."""

import json

import pytest

from reference_runtime.errors import CommandRejected
from reference_runtime.lifecycles.agent_threads.branches import Branches, Placed
from validator import resources

GOLDEN = resources.fixtures() / "agent-threads" / "1" / "golden"


def thread(*told):
    """Messages as (id, parent, status of the run)."""
    return Branches([Placed({"id": name, "parentMessageId": up, "role": "user"}, "r", how) for name, up, how in told])


def walked(branches, branch="active"):
    return [message["id"] for message in branches.messages(branch)]


PARTED = [("q", None, "committed"), ("a", "q", "superseded"), ("b", "q", "committed"), ("c", "q", "superseded")]


def test_the_active_branch_follows_the_last_committed_child_and_not_the_last():
    branches = thread(*PARTED)
    assert walked(branches) == ["q", "b"]
    assert walked(branches, "all") == ["q", "a", "b", "c"]
    assert branches.fork_points() == [{"forkMessageId": "q", "children": ["a", "b", "c"], "activeChildId": "b"}]


def test_the_last_child_is_followed_when_no_run_is_committed():
    assert walked(thread(*PARTED[:2], PARTED[3])) == ["q", "c"]


def test_a_choice_is_followed_where_it_is_a_child_and_the_active_child_elsewhere():
    assert walked(thread(*PARTED), {"selections": {"q": "a"}}) == ["q", "a"]
    assert walked(thread(*PARTED), {"selections": {"q": "nobody", "b": "c"}}) == ["q", "b"]


@pytest.mark.parametrize(
    "branch", ["newest", None, {}, {"selections": ["a"]}, {"selections": {"q": 1}}, {"selections": {"q": None}}]
)
def test_what_is_no_choice_is_refused(branch):
    with pytest.raises(CommandRejected):
        thread(*PARTED).messages(branch)


def test_a_message_without_its_parent_is_a_root_and_roots_are_no_fork():
    branches = thread(("a", None, "committed"), ("b", "gone", "committed"), ("c", "gone", "committed"))
    assert walked(branches) == ["a", "b", "c"]
    assert branches.fork_points() == []


def test_a_walk_ends_where_parents_form_a_circle():
    assert walked(thread(("a", "b", "committed"), ("b", "a", "committed"), ("c", None, "committed"))) == ["c"]


def served():
    """Every golden capture whose models name all messages of a thread: its tree and its transcripts."""
    for path in sorted(GOLDEN.glob("*.readmodel.json")):
        models = json.loads(path.read_text())["models"]
        for tree in models.get("thread_tree", []):
            nodes = tree["nodes"] if isinstance(tree["forkPoints"], list) else ()
            if nodes and all(isinstance(node["messageId"], str) for node in nodes):
                yield pytest.param(tree, models.get("transcript", []), id=path.name.partition(".")[0])


@pytest.mark.parametrize(("tree", "transcripts"), list(served()))
def test_the_golden_trees_part_and_are_walked_as_expected(tree, transcripts):
    branches = Branches(
        [Placed({"id": node["messageId"], **node}, node["runId"], node["runStatus"]) for node in tree["nodes"]]
    )
    assert (branches.nodes(), branches.fork_points()) == (tree["nodes"], tree["forkPoints"])
    for transcript in transcripts:
        assert walked(branches, transcript["branch"]) == [message["id"] for message in transcript["messages"]]
