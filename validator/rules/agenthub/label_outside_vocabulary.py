"""A run view uses another word for its state than the vocabulary, or says of a state that is over that it is not.

Why: people read the word and not the identifier; two words for one state are two states to them.
Trips: a view whose state is NeedsApproval and whose label is "Blocked".  Near miss: the label is "Needs approval".
Fix: Take the label from the vocabulary table, and `terminal` from the kind of the state.
"""

from validator.rules import finding, rule, seen


@rule("AHB029", "label-outside-vocabulary", clauses={"agenthub": "AH-181"}, on="record:snapshot")
def check(step, world, context):
    view = step.line.get("snapshot")
    rows = {row["id"]: row for row in world.protocol.tables["vocabulary"]["rows"] if row["values"]["group"] == "state"}
    row = rows.get(str(view.get("state"))) if step.type == "run_view" and isinstance(view, dict) else None
    if row is None:
        return
    yield seen()
    labels = {text["label"] for text in row["text"].values()}
    if isinstance(view.get("stateLabel"), str) and view["stateLabel"] not in labels:
        yield _fault(step, view, "stateLabel", f"the label of {row['id']}", "another word")
    over = row["values"]["kind"] == "terminal"
    if isinstance(view.get("terminal"), bool) and view["terminal"] != over:
        yield _fault(step, view, "terminal", f"{str(over).lower()} for {row['id']}", str(not over).lower())


def _fault(step, view, name, expected, actual):
    entity = ("run", str(view.get("runId")))
    return finding(step, expected, actual, pointer=f"/snapshot/{name}", entity=entity, state=view["state"], key=name)
