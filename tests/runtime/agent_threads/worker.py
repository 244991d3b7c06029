"""A process with a ledger of its own, to be killed: `python -m tests.runtime.agent_threads.worker STORE [MOMENT]`.

It answers at one fork again and again, and tells each act on a line once it is acknowledged; where another process is
faster too often, it leaves the run where it is and begins the next. With a moment it stops in the middle of the second
commit there: before the first row of the transaction, or before its end.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

from reference_runtime.errors import StoreError
from reference_runtime.lifecycles.agent_threads.host import Host
from reference_runtime.lifecycles.agent_threads.ledger import Ledger
from reference_runtime.log.base import Change
from reference_runtime.log.sqlite import SqliteStore


class Stopping(SqliteStore):
    """A store that stands still inside a transaction which supersedes a run, until somebody kills it."""

    moment: str | None = None

    def _write(self, change: Change) -> None:
        if any(line.get("status") == "superseded" for line in change.events):
            self._stop("before")
            super()._write(change)
            self._stop("after")
        else:
            super()._write(change)

    def _stop(self, moment: str) -> None:
        if moment == self.moment:
            tell("stopped", moment=moment)
            sys.stdin.read()


def tell(act: str, **facts: Any) -> None:
    print(json.dumps({"act": act, **facts}), flush=True)


def main(path: str, moment: str | None = None) -> None:
    store = Stopping(path)
    store.moment = moment
    ledger = Ledger(store)
    host = Host(ledger, "t")
    question = next((node["messageId"] for node in ledger.tree("t")["nodes"]), None)
    question = question or host.exchange("Again?", "No.")[0]
    while True:
        with contextlib.suppress(StoreError):
            answer(host, question)


def answer(host: Host, question: str) -> None:
    run = host.answer(question)
    tell("started", run=run)
    host.says(run, "Yes, ", "again.")
    tell("said", run=run, head=host.ledger.head(run))
    tell("committed", run=run, superseded=host.commits(run))


if __name__ == "__main__":
    main(*sys.argv[1:])
