"""A Splunk HTTP Event Collector on this machine that fails in every way a real one does, when it is told to."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = "a-token-of-the-tests"


class Splunk:
    """A collector as a context; `moods` says how it treats the next requests, and then it is well."""

    def __init__(self, *moods: str):
        self.moods = list(moods)
        self.indexed: list[dict] = []
        self.requests: list[tuple[str, str | None, int]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                collector.treat(self)

            def log_message(self, *words: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Splunk:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def treat(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        lines = [json.loads(line) for line in body.splitlines()]
        self.requests.append((request.path, request.headers.get("Authorization"), len(lines)))
        mood = self.moods.pop(0) if self.moods else "well"
        if mood in {"well", "index, then hang up", "index, then say nonsense"}:
            self.indexed += lines
        if mood.endswith("hang up"):
            request.close_connection = True
            return
        status, code, headers = {
            "busy": (503, 9, {}),
            "busy for long": (503, 9, {"Retry-After": "7"}),
            "too many": (429, 9, {}),
            "broken": (500, 8, {}),
            "wrong token": (403, 4, {}),
            "bad data": (400, 6, {}),
            "not queued": (200, 9, {}),
        }.get(mood, (200, 0, {}))
        answer = b"<html>" if "nonsense" in mood else json.dumps({"text": mood, "code": code}).encode()
        request.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(answer))}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(answer)

    def events(self) -> list[dict]:
        """What was indexed, each event once, in the order of its first arrival."""
        return list({line["event"]["event_id"]: line["event"] for line in self.indexed}.values())
