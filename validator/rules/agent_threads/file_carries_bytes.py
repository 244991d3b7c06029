"""A file event carries the bytes of the file instead of a reference to it.

Why: every replay of the stream becomes a download.
Trips: a file whose url is a data: address.  Near miss: a file whose url is an address of a store.
Fix: Store the file and give its address.
"""

from validator.rules import finding, rule, seen
from validator.rules.agent_threads._facts import payload


@rule("ATH016", "file-carries-bytes", clauses={"agent-threads": "AT-33"}, on="file")
def check(step, world, context):
    url = payload(step).get("url")
    if not isinstance(url, str):
        return
    yield seen()
    if url[:5].lower() == "data:":
        yield finding(step, "a reference to the file", "its bytes", pointer="/event/payload/url", key="data address")
