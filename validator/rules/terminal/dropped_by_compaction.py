"""A compaction names what it kept, and something that has to be kept is not on the list.

Why: a question, an incident or a deliverable that falls out of the context is forgotten while it still matters.
Trips: an action is pending and preserved_action_ids is empty.  Near miss: the list names the pending action.
Fix: Keep every unresolved action, active incident, artifact and evidence link of the thread, and list exactly those.
"""

from validator.rules import finding, rule, seen
from validator.rules.terminal._work import OpenWork, lines, told, unsure, words

LINKED = frozenset({"runtime.warning", "runtime.error", "artifact.changed", "evidence.changed"})
REFS = ("pack_ref", "trace_ref", "replay_ref", "review_ref")


class Links:
    """Active incidents, artifacts and evidence by the thread they were told in."""

    forgets = ("incidents", "artifacts", "evidence", "_turns")
    heeds_last = False

    def __init__(self, world):
        self.incidents = {}
        self.artifacts = {}
        self.evidence = {}
        self._turns = {}

    def apply(self, step):
        scope = step.scope
        turn, thread = scope.get("turn_id"), scope.get("thread_id")
        if turn is not None and thread is not None:
            self._turns[turn] = thread
        if step.type not in LINKED:
            return
        thread = thread or self._turns.get(turn)
        if step.type in ("runtime.warning", "runtime.error"):
            self._incident(step, thread)
        elif thread is None:
            return
        elif step.type == "artifact.changed" and "artifact_id" in scope:
            if told(step, "change") == "deleted":
                self.artifacts.get(thread, {}).pop(scope["artifact_id"], None)
            else:
                self.artifacts.setdefault(thread, {}).setdefault(scope["artifact_id"], step.number)
        elif step.type == "evidence.changed" and "evidence_id" in scope:
            refs = [ref for name in REFS if isinstance(ref := told(step, name), str)]
            _, known = self.evidence.setdefault(thread, {}).setdefault(scope["evidence_id"], (step.number, set()))
            known.update(refs)

    def _incident(self, step, thread):
        incident = told(step, "incident_id")
        if not isinstance(incident, str):
            return
        if told(step, "cleared") is True:
            for group in self.incidents.values():
                group.pop(incident, None)
        elif thread is not None:
            self.incidents.setdefault(thread, {}).setdefault(incident, step.number)


@rule(
    "TRM023",
    "dropped-by-compaction",
    clauses={"agent-runtime": ("CTX-8", "CTX-9", "CTX-10", "CTX-11")},
    on="context.compaction.completed",
    needs=(Links, OpenWork),
)
def check(step, world, context):
    thread = step.scope.get("thread_id")
    if thread is None:
        return
    history = lines(world.subjects("compaction").get(thread))
    yield from _actions(step, world, thread, history)
    links = world.ledger(Links)
    for clause, name, kept in (
        ("CTX-9", "preserved_incident_ids", links.incidents.get(thread, {})),
        ("CTX-10", "preserved_artifact_ids", links.artifacts.get(thread, {})),
    ):
        if isinstance(told(step, name), list) and kept:
            yield seen(clause)
            listed = {*words(step, name)}
            missing = next((line for key, line in kept.items() if key not in listed), None)
            if missing is not None:
                yield _dropped(step, clause, name, thread, (*history, missing))
    refs = {*words(step, "preserved_evidence_refs")}
    if isinstance(told(step, "preserved_evidence_refs"), list):
        for key, (line, known) in links.evidence.get(thread, {}).items():
            yield seen("CTX-10")
            if known and key not in refs and known.isdisjoint(refs):
                yield _dropped(step, "CTX-10", "preserved_evidence_refs", thread, (*history, line))
                return


def _actions(step, world, thread, history):
    if not isinstance(told(step, "preserved_action_ids"), list):
        return
    kept = words(step, "preserved_action_ids")
    pending = {action.key: action for action in world.ledger(OpenWork).of("action", "thread_id", thread)}
    yield seen("CTX-8", "CTX-11")
    listed = {*kept}
    for key, action in pending.items():
        if key not in listed:
            yield _dropped(step, "CTX-8", "preserved_action_ids", thread, (*history, *lines(action)))
    for index, key in enumerate(kept):
        action = world.subjects("action").get(key)
        if key in pending or (action is None and unsure(world, step)) or (action is not None and action.doubted):
            continue
        if action is not None and action.state in ("pending", "offered") and "thread_id" not in action.scope:
            continue  # nothing says which thread it belongs to
        yield finding(
            step,
            "only unresolved actions of the thread",
            "an action that is settled" if action is not None else "an action never told",
            clause="CTX-11",
            pointer=f"/payload/preserved_action_ids/{index}",
            entity=("thread", thread),
            witness=(*history, *lines(action)),
        )


def _dropped(step, clause, name, thread, witness):
    return finding(
        step,
        "everything that has to be kept on the list",
        "something is missing",
        clause=clause,
        pointer=f"/payload/{name}",
        entity=("thread", thread),
        witness=witness,
    )
