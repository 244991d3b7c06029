"""With the fast path forced on, forced off and left to itself, every report is the same byte for byte."""

import os
import subprocess
import sys

import pytest

CODE = """
import hashlib, sys
from validator import resources
from validator.engine import Options, validate

paths = sorted(resources.fixtures().glob("*/*/golden/*.ndjson"))
paths += sorted(resources.fixtures().glob("*/*/rules/*/*.ndjson"))[int(sys.argv[1]) :: 9]
for path in paths:
    with path.open("rb") as stream:
        report = validate(stream, path.name, Options())
    print(path.name, hashlib.sha256(repr(report).encode()).hexdigest())
"""


def digests(mode, turn):
    environment = {**os.environ, "RUNTIME_VALIDATE_FAST": mode}
    command = [sys.executable, "-c", CODE, str(turn)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("mode", "turn"), [("auto", 0), ("on", 4)])
def test_every_report_is_the_same_as_without_the_fast_path(mode, turn):
    slow = digests("off", turn)
    assert len(slow.splitlines()) > 100
    assert digests(mode, turn) == slow
