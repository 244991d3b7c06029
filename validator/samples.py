"""A look at a few places of a file, to see whether its sessions may be judged apart.

What is seen there decides in which way a capture is judged, and never what the report says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from validator.capture.encode import unpack
from validator.capture.sources import open_capture
from validator.errors import CaptureError
from validator.names import names

SESSIONS = {"snake_case": b'"session_id":', "camelCase": b'"sessionId":'}
"""What stands before the name of a session, by casing."""
_SAMPLES, _SAMPLE = 64, 8192
_SHARE = 0.6
"""Of what a capture holds, the most that may belong to one session for it to be worth while."""


def is_promising(path: str) -> bool:
    """True when a few places show several sessions, of which none is most of the file, no records and no joint ids."""
    try:
        lines = [line for part in _parts(path) for line in part.split(b"\n")[:-1]]
    except CaptureError:  # the report says so
        return False
    if any(b'"record":' in line for line in lines[1:]):
        return False
    mark = b"|".join(SESSIONS.values())
    found = [match[1] for line in lines if (match := re.search(rb'(?:%b)\s*("[^"]*")' % mark, line))]
    return bool(found) and max(map(found.count, set(found))) <= _SHARE * len(found) and not _share_names(lines)


def _parts(path: str) -> list[bytes]:
    """What stands at the beginning and, where the file can be read from anywhere, at other places of it."""
    head = b""
    with open_capture(path) as stream:
        while len(head) < _SAMPLE and (data := stream.read(_SAMPLE)):
            head += data
    parts = [head]
    if head[:1] == b"{":
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            if file.seek(0) == 0 and file.read(1) == b"{":
                step = max(_SAMPLE, size // _SAMPLES)
                for place in range(step, size, step):
                    file.seek(place)
                    parts.append(file.read(_SAMPLE).partition(b"\n")[2])
    return parts


def _share_names(lines: Iterable[bytes]) -> bool:
    """True when two sessions name the same thing, as far as names are spelt as in the tables."""
    owners: dict[str, str] = {}
    for line in lines:
        try:
            event = unpack(line)
            session = event.get("session_id") if isinstance(event, dict) else None
            if isinstance(session, str) and any(owners.setdefault(name, session) != session for name in names(event)):
                return True
        except (ValueError, RecursionError):  # what cannot be read is told by whoever judges it
            continue
    return False
