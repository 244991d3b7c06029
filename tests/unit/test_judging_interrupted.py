"""What an interrupted check still tells, in one process and in several."""

import multiprocessing
import os
import signal
import threading
from pathlib import Path

import pytest

from tests.cli.support import BAD, lines
from tests.conformance.test_apart import asks, in_turn, session
from tests.properties.apart import written
from validator import feeding, judging, processes, stopping
from validator.engine import Options, Validator


@pytest.fixture
def many(tmp_path, monkeypatch):
    """A capture of two sessions that is read in many chunks, none of which ends its work."""
    monkeypatch.setattr(processes, "LARGE", 1)
    monkeypatch.setattr(feeding, "CHUNK", 256)
    path = tmp_path / "many.ndjson"
    path.write_bytes(written(in_turn(session("a", *asks("a")), session("b", *asks("b")))))
    return str(path)


def interrupting():
    """Progress that is interrupted when a part of the capture was read."""
    heard = []

    def progress(size):
        heard.append(size)
        if sum(heard) > 1000:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("way", ["one", "apart", "shares"])
def test_what_was_read_is_told_and_what_was_not_is_not_passed(many, monkeypatch, way):
    if way == "shares":
        monkeypatch.setattr("validator.samples.is_promising", lambda path: False)
    judged = judging.judge([many], Options(), 1 if way == "one" else 2, interrupting())
    assert judged.partial
    (report,) = judged.reports
    assert report.verdict == "incomplete"
    assert report.incomplete[0] == "the check was interrupted"
    assert 0 < report.lines < Path(many).read_bytes().count(b"\n")


def test_an_interrupt_within_a_chunk_waits_for_its_end(many, monkeypatch):
    fed, inside = [], []
    feed = Validator.feed

    def noticing(self, data):
        fed.append(len(data))
        if len(fed) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        feed(self, data)
        inside.append(len(data))

    monkeypatch.setattr(Validator, "feed", noticing)
    judged = judging.judge([many], Options())
    assert judged.partial
    assert len(fed) == len(inside) == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_ignores_interrupts_goes_on_ignoring_them(many):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert not judging.judge([many], Options()).partial
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


class Stop:
    """Is set when it was asked often enough."""

    def __init__(self, times):
        self.times = times

    def is_set(self):
        self.times -= 1
        return self.times < 0


@pytest.mark.parametrize(("times", "told"), [(0, False), (3, True)])
def test_a_process_that_is_stopped_tells_what_it_has_read(many, monkeypatch, times, told):
    monkeypatch.setattr(stopping, "_stop", Stop(times))
    result = judging._judge_unless_stopped(many, Options())
    assert (result is not None) == told
    if told:
        assert result[0].incomplete[0] == "the check was interrupted"


def test_a_process_that_waits_for_bytes_is_not_waited_for(tmp_path, monkeypatch):
    """One capture is whole, and of the other no more comes; the interrupt arrives while it is waited for."""
    monkeypatch.setattr(judging, "GRACE", 0.1)
    bad, slow = tmp_path / "bad.ndjson", tmp_path / "slow.ndjson"
    bad.write_bytes(lines(BAD))
    os.mkfifo(slow)
    told, over = threading.Event(), threading.Event()
    judged_a_chunk = multiprocessing.Semaphore(0)
    chunks = feeding.chunks

    def counting(stream):
        for data in chunks(stream):
            yield data
            judged_a_chunk.release()

    def hold():
        with open(slow, "wb") as pipe:
            pipe.write(lines(BAD))
            pipe.flush()
            for _capture in (bad, slow):
                judged_a_chunk.acquire(timeout=60)
            told.wait(60)
            os.kill(os.getpid(), signal.SIGINT)
            over.wait(60)

    monkeypatch.setattr(feeding, "chunks", counting)
    writer = threading.Thread(target=hold, daemon=True)
    writer.start()
    judged = judging.judge([str(bad), str(slow)], Options(), 2, lambda _size: told.set())
    over.set()
    writer.join(60)
    assert judged.partial
    assert [report.file for report in judged.reports] == [str(bad)]
