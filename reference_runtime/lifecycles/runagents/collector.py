"""A Splunk HTTP Event Collector, spoken to over HTTP.

Only an answer of 200 with the code 0 confirms a batch. Everything else leaves it unconfirmed: `UnconfirmedError` says
that trying again may help, `RefusedError` that somebody has to change something first.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from reference_runtime.errors import ReferenceRuntimeError
from reference_runtime.lifecycles.runagents.export import ndjson

_PATH = "/services/collector/event"
_AGAIN = {408, 425, 429}
_ANSWER = 65536
"""Bytes of an answer that are read."""


class UnconfirmedError(ReferenceRuntimeError):
    """Nobody knows whether a batch arrived; it is sent again."""

    def __init__(self, message: str, wait_seconds: float = 0.0):
        super().__init__(message)
        self.wait_seconds = wait_seconds
        """What the collector asked for, in seconds."""


class RefusedError(ReferenceRuntimeError):
    """The collector does not want a batch as it is: a wrong token, a disabled input, a bad line."""

    def __init__(self, status: int):
        super().__init__(f"the collector refused the batch with {status}")
        self.status = status


class Collector(Protocol):
    """Where batches go."""

    def send(self, batch: Iterable[dict[str, Any]]) -> None:
        """Returns when the batch is confirmed; raises UnconfirmedError or RefusedError."""


@dataclass(frozen=True, slots=True)
class HecCollector:
    """One endpoint and its token, which is never printed."""

    url: str
    token: str
    timeout_seconds: float = 10.0

    def __repr__(self) -> str:
        return f"HecCollector({urlsplit(self.url).hostname})"

    def send(self, batch: Iterable[dict[str, Any]]) -> None:
        headers = {"Authorization": f"Splunk {self.token}", "Content-Type": "application/json"}
        connection = self._connection()
        try:
            connection.request("POST", _PATH, ndjson(batch).encode(), headers)
            answer = connection.getresponse()
            _confirm(answer.status, answer.getheader("Retry-After"), answer.read(_ANSWER))
        except (OSError, http.client.HTTPException) as error:
            raise UnconfirmedError(f"the collector did not answer: {type(error).__name__}") from error
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        place = urlsplit(self.url)
        kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
        return kind(place.hostname or "", place.port, timeout=self.timeout_seconds)


def _confirm(status: int, wait: str | None, body: bytes) -> None:
    if status >= 500 or status in _AGAIN:
        raise UnconfirmedError(f"the collector answered {status}", float(wait) if wait and wait.isdigit() else 0.0)
    if status != 200:
        raise RefusedError(status)
    try:
        code = json.loads(body)["code"]
    except (ValueError, KeyError, TypeError) as error:
        raise UnconfirmedError("the collector's answer confirms nothing") from error
    if code != 0:
        raise UnconfirmedError(f"the collector answered with code {code}")
