"""Files as people have them: every way of being broken has a name, an exit code, and no traceback."""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import zlib

import pytest
import zstandard
from click.testing import CliRunner

from tests.unit.test_cli import process
from validator.capture import sources
from validator.capture.guess import guess
from validator.capture.sources import Inflated, expand, open_capture
from validator.cli.group import cli
from validator.errors import UsageError


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


def test_a_folder_that_a_pattern_names_is_read_like_any_other(written, tmp_path):
    for name in ("a", "none"):
        (tmp_path / name).mkdir()
    written(WHOLE, "a/one.ndjson")
    written(WHOLE, "two.ndjson")
    assert len(judged(tmp_path / "*")[1]) == 2


def test_what_a_folder_holds_and_nobody_can_read_is_not_left_out(written, tmp_path, monkeypatch):
    written(WHOLE)
    (tmp_path / "away.ndjson").symlink_to(tmp_path / "nowhere")
    assert "away.ndjson cannot be read" in process(str(tmp_path)).stderr
    (tmp_path / "away.ndjson").unlink()
    (tmp_path / "sub").mkdir()
    listed = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: refuse(path) if str(path).endswith("sub") else listed(path))
    with pytest.raises(UsageError, match="sub cannot be read: Permission denied"):
        expand((str(tmp_path),))


def refuse(path, *_words, **_more):
    raise PermissionError(13, "Permission denied", str(path))


def test_a_name_that_the_system_refuses_is_bad_usage(monkeypatch):
    for word in ("x" * 5000, "y" * 300):
        done = process(word)
        assert (done.returncode, "internal" in done.stderr) == (2, False)
        assert "cannot be read" in done.stderr
    monkeypatch.setattr(sources, "_status", refuse)
    with pytest.raises(UsageError, match=r"run\.ndjson cannot be read: Permission denied"):
        expand(("sub/run.ndjson",))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("",), "an empty text names no file"),
        (("run.ndjson", "--protocol", ""), "there is no protocol ''"),
        (("run.ndjson", "--canary", ""), "a canary is empty"),
    ],
)
def test_an_empty_text_is_not_taken_for_a_wish_that_was_not_given(written, words, reason):
    path = written(WHOLE)
    done = process(*(str(path) if word == "run.ndjson" else word for word in words))
    assert done.returncode == 2
    assert reason in done.stderr


def test_what_goes_wrong_with_another_file_is_not_blamed_on_the_capture(written):
    with pytest.raises(PermissionError), open_capture(str(written(WHOLE))):
        refuse("profile.yaml")


def test_a_file_that_stops_giving_bytes_is_named(written, monkeypatch):
    with open_capture(str(written(WHOLE))) as stream:
        assert stream.read(4) == WHOLE[:4]
        monkeypatch.setattr(stream._file, "_file", type("Gone", (), {"read": refuse})())
        with pytest.raises(UsageError, match=r"run\.ndjson cannot be read"):
            stream.read(4)


def test_standard_input_that_is_closed_is_bad_usage(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UsageError, match="standard input is closed"), open_capture("-"):
        pass


def test_whoever_closes_standard_output_gets_the_exit_code(written):
    path = written(WHOLE)
    command = 'exec "$0" -c "from validator.cli import main; main()" "$1" >&-'
    assert subprocess.run(["sh", "-c", command, sys.executable, str(path)]).returncode == 0


@pytest.mark.parametrize(
    ("data", "words", "why"),
    [
        (gzip.compress(WHOLE)[:12], (), "the compressed data is cut; copy or compress it again"),
        (WHOLE, ("--max-line-bytes", 5), "every line is longer than 5 bytes; --max-line-bytes lets"),
        (CREATED, ("--max-depth", 1), "every line nests deeper than 1; --max-depth lets"),
        (WHOLE.decode().encode("utf-16-le"), (), "UTF-16 text"),
        (WHOLE.decode().encode("utf-32"), (), "UTF-32 text"),
        (WHOLE.replace(b"\n", b"\r"), (), "a carriage return alone"),
        (WHOLE.replace(b"\n", b",\n"), (), "a comma after each"),
        (b"\n\n", (), None),
    ],
    ids=["gz", "long", "deep", "utf-16", "utf-32", "cr", "commas", "blank"],
)
def test_what_cannot_be_read_at_all_says_why_and_what_to_do(written, data, words, why):
    done = call(written(data), *words)
    assert done.exit_code == 4
    notes = [note["message"] for note in json.loads(done.stdout)["notes"]]
    assert [why in note for note in notes] == ([True] if why else [])


def test_a_damaged_archive_counts_for_a_statement_up_to_the_damage(written):
    path = written(gzip.compress(LONG)[:-9], "run.ndjson.gz")
    done = CliRunner().invoke(cli, ["certify", str(path)])
    assert done.exit_code in (1, 3)
    assert "the compressed data is cut" in done.stdout


def test_an_object_that_begins_with_a_time_is_no_log():
    assert guess(b'{"timestamp":"2026-05-08T09:00:00Z","type":"other"}\n') is None
    assert "a log" in (guess(b"2026-05-08T09:00:00Z started\n") or "")
