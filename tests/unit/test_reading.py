"""Files as people have them: every way of being broken has a name, an exit code, and no traceback."""

import gzip
import hashlib
import io
import json
import zlib

import pytest
import zstandard
from click.testing import CliRunner

from tests.unit.test_cli import process
from validator.capture.guess import guess
from validator.capture.sources import Inflated
from validator.cli.group import cli


def event(number, kind, **more):
    base = {"type": kind, "event_id": f"e{number}", "timestamp": f"2026-05-08T09:00:{number:02}Z", "sequence": number}
    return json.dumps({**base, "session_id": "s1", "task_id": "t1", **more}).encode() + b"\n"


CREATED = event(1, "task.created", payload={"objective": "Fix it."})
STARTED = event(2, "task.started")
DONE = event(3, "task.completed")
WHOLE = CREATED + STARTED + DONE


def call(*words, data=None):
    done = CliRunner().invoke(cli, [*map(str, words), "--format", "json"], input=data)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def judged(*words, data=None):
    done = call(*words, data=data)
    return done.exit_code, json.loads(done.stdout)["captures"]


@pytest.fixture
def written(tmp_path):
    def write(data, name="run.ndjson"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize(
    ("data", "code", "rules"),
    [
        (WHOLE, 0, {}),
        (b"", 3, {}),
        (WHOLE.replace(b"\n", b"\r\n"), 0, {"FRM003": 1}),
        (b"\xef\xbb\xbf" + WHOLE, 0, {"FRM002": 1}),
        (CREATED + b"\n \n" + STARTED + DONE, 0, {"FRM004": 2}),
        (WHOLE + DONE[:30], 3, {}),
        (WHOLE + b'{"a":"\xff', 3, {}),
        (CREATED + b'{"a":"\xff"}\n' + STARTED + DONE, 1, {"FRM001": 1}),
        (CREATED + b'{"a":\n' + STARTED + DONE, 1, {"FRM005": 1}),
        (CREATED + b"[1]\n" + STARTED + DONE, 1, {"FRM006": 1}),
        (CREATED + event(2, "task.started")[:-2] + b',"x":1,"x":2}\n' + DONE, 1, {"FRM007": 1}),
        (CREATED + event(2, "task.started")[:-2] + b',"x":NaN}\n' + DONE, 1, {"FRM008": 1}),
        (CREATED + event(2, "task.started")[:-2] + b',"x":-Infinity}\n' + DONE, 1, {"FRM008": 1}),
        (CREATED + event(2, "task.started", x=10**308) + DONE, 0, {"FRM009": 1}),
        (CREATED + event(2, "task.started")[:-2] + b',"x":1' + b"0" * 400 + b"}\n" + DONE, 1, {"FRM008": 1}),
        (CREATED + event(2, "task.started")[:-2] + b',"x":"\\ud800"}\n' + STARTED + DONE, 1, {"FRM010": 1}),
        (CREATED + b'{"a":' * 100_000 + b"\n" + STARTED + DONE, 1, {"FRM011": 1}),
        (CREATED + b'{"a":"' + b"x" * 100_000_000 + b'"}\n' + STARTED + DONE, 1, {"FRM012": 1}),
        (b"\x00\xff\xfe\n\x80", 4, {}),
        (b'"text"\n7\nnull\n', 4, {}),
    ],
    ids=[
        "whole", "empty", "crlf", "bom", "blank", "cut", "cut-character", "no-utf8", "no-json", "no-object", "twice",
        "nan", "infinity", "big", "huge", "surrogate", "deep", "long", "garbage", "scalars",
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_named_and_the_rest_is_judged(written, data, code, rules):
    exit_code, (capture,) = judged(written(data))
    assert exit_code == code
    assert {rule: count for rule, count in capture["finding_counts"].items() if rule.startswith("FRM")} == rules
    if code in (0, 1):
        assert capture["events"] >= 3 - ("FRM010" in rules)


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(WHOLE),
        gzip.compress(CREATED) + gzip.compress(STARTED + DONE),
        zstandard.compress(WHOLE),
        zstandard.compress(CREATED) + zstandard.compress(STARTED + DONE),
    ],
    ids=["gz", "gz-members", "zst", "zst-frames"],
)
def test_compressed_captures_are_read_by_their_bytes(written, packed):
    assert judged(written(packed, "run.ndjson.gz"))[0] == 0
    assert judged("-", data=packed)[0] == 0


LONG = b"".join(event(n, "session.updated", x=hashlib.sha256(bytes([n])).hexdigest()) for n in range(1, 60))
PACKERS = [gzip.compress, zstandard.ZstdCompressor(write_checksum=True).compress]


@pytest.mark.parametrize("pack", PACKERS, ids=["gz", "zst"])
def test_damaged_compression_loses_nothing_before_it_and_is_never_green(written, pack):
    packed = pack(LONG)
    for broken, reason in (
        (packed[: len(packed) // 2], "cut"),
        (packed[:-9], "cut"),
        (packed[: len(packed) // 2] + b"\xff" * 40 + packed[len(packed) // 2 + 40 :], "damaged"),
    ):
        code, (capture,) = judged(written(broken, "run.ndjson.gz"))
        assert code in (1, 3, 4)
        if capture["verdict"] != "unreadable":
            assert any(f"compressed data is {reason}" in why for why in capture["incomplete"]), capture["incomplete"]
    code, _ = judged(written(packed[:12], "run.ndjson.gz"))
    assert code == 4


def test_pieces_of_a_compressed_stream_are_never_larger_than_asked_for():
    packed = zlib.compressobj(wbits=31)
    data = packed.compress(b"x" * 1_000_000) + packed.flush()
    stream = Inflated(io.BytesIO(data), b"", 1 << 14, lambda: zlib.decompressobj(wbits=31))
    sizes = []
    while piece := stream.read(4096):
        sizes.append(len(piece))
    assert (sum(sizes), max(sizes)) == (1_000_000, 4096)


def test_standard_input_folders_and_patterns(written, tmp_path):
    written(WHOLE, "a.ndjson")
    (tmp_path / "sub").mkdir()
    written(gzip.compress(WHOLE), "sub/b.jsonl.gz")
    written(b"not a capture", "notes.txt")
    assert judged("-", data=WHOLE)[0] == 0
    assert [capture["verdict"] for capture in judged(tmp_path)[1]] == ["conformant", "conformant"]
    assert len(judged(tmp_path / "*.ndjson")[1]) == 1
    assert len(judged(tmp_path / "a.ndjson", tmp_path / "a.ndjson")[1]) == 1, "each file once"


def test_what_cannot_be_opened_is_bad_usage_and_says_what_to_do(tmp_path):
    (tmp_path / "empty.ndjson").mkdir()
    for path in ("none.ndjson", "*.nothing", "empty.ndjson", "*.ndjson"):
        done = process(str(tmp_path / path))
        assert done.returncode == 2
        assert "cannot be read" in done.stderr or "hint:" in done.stderr
        assert "Traceback" not in done.stderr


def test_an_object_that_begins_with_a_time_is_no_log():
    assert guess(b'{"timestamp":"2026-05-08T09:00:00Z","type":"other"}\n') is None
    assert "a log" in (guess(b"2026-05-08T09:00:00Z started\n") or "")
