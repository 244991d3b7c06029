"""One thing to measure in a process of its own: `python -m tests.bench.alone json|orjson|jsonschema|verdict FILE`.

Prints how many events there were and the processor time of the work alone, what it needs being imported before.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def parse(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(1 for line in stream if json.loads(line))


def parse_fast(path: Path) -> int:
    import orjson

    with path.open("rb") as stream:
        return sum(1 for line in stream if orjson.loads(line))


def plain_loop(path: Path) -> int:
    """What most people write first: parse, pick the schema, validate."""
    from validator.protocol.protocol import load_protocol

    protocol = load_protocol("agent-runtime")
    with path.open("rb") as stream:
        events = map(json.loads, stream)
        return sum(protocol.store.validator(protocol.schema_for(event["type"])).is_valid(event) for event in events)


def verdict(path: Path) -> int:
    from validator.engine import validate

    with path.open("rb") as stream:
        return validate(stream).events


TASKS = {"json": parse, "orjson": parse_fast, "jsonschema": plain_loop, "verdict": verdict}
IMPORTS = {"orjson": "orjson", "verdict": "validator.engine"}

if __name__ == "__main__":
    name, file = sys.argv[1], Path(sys.argv[2])
    if name in IMPORTS:
        __import__(IMPORTS[name])
    begun = time.process_time()
    events = TASKS[name](file)
    print(json.dumps({"events": events, "seconds": time.process_time() - begun}))
