"""A peer to measure in a process of its own: `python -m tests.bench.alone json|orjson|jsonschema FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def parse(path: Path) -> object:
    with path.open("rb") as stream:
        return sum(1 for line in stream if json.loads(line))


def parse_fast(path: Path) -> object:
    import orjson

    with path.open("rb") as stream:
        return sum(1 for line in stream if orjson.loads(line))


def plain_loop(path: Path) -> object:
    """What most people write first: parse, pick the schema, validate."""
    from validator.protocol.protocol import load_protocol

    protocol = load_protocol("agent-runtime")
    with path.open("rb") as stream:
        events = map(json.loads, stream)
        return sum(protocol.store.validator(protocol.schema_for(event["type"])).is_valid(event) for event in events)


TASKS = {"json": parse, "orjson": parse_fast, "jsonschema": plain_loop}

if __name__ == "__main__":
    print(TASKS[sys.argv[1]](Path(sys.argv[2])))
