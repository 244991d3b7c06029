"""A snapshot line says one sequence and the document in it another.

Why: nobody can tell which events the document reflects, so it can be compared with nothing.
Trips: a snapshot line says sequence 2, and its document has as_of_sequence 1.
Near miss: both say 2.
Fix: Write the sequence of the document on the line, or leave it off the line.
"""

from validator.rules import finding, rule, seen

PLACE = "/snapshot/as_of_sequence"


@rule("SNP012", "two-sequences", clauses={"agent-runtime": "CONF-21"}, on="record:snapshot")
def check(step, world, context):
    body = step.line.get("snapshot")
    outer, inner = step.line.get("sequence"), body.get("as_of_sequence") if isinstance(body, dict) else None
    if not isinstance(outer, int) or not isinstance(inner, int):
        return
    yield seen()
    if outer != inner:
        yield finding(step, str(outer), str(inner), pointer=PLACE, key="as_of_sequence")
