"""Reads one capture in chunks and has it judged; what was read is told when somebody interrupts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from validator.capture.sources import open_capture
from validator.engine import Options, Validator
from validator.errors import CaptureError
from validator.report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

CHUNK = 1 << 17
_HEAD = 4096
"""Bytes from which the kind of a file that is no capture is guessed."""
Progress = Callable[[int], None]
Result = tuple[Report, str | None, int]
"""A report, advice about a file in which nothing could be read, and the size of the capture."""


def judge_one(path: str, options: Options) -> Result:
    """Judges one capture in this process."""
    validator = Validator(path, options)
    return ended(validator, *feed(path, validator, None))


def ended(validator: Validator, head: bytes, size: int) -> Result:
    """What a capture amounts to that was read to its end."""
    report = validator.close()
    return report, advice(validator, report, head), size


def feed(path: str, validator: Validator, progress: Progress | None) -> tuple[bytes, int]:
    """Reads a capture to its end; says how it began and how long it was."""
    head, size = b"", 0
    patience = _Patience()
    with open_capture(path) as stream:
        try:
            for data in chunks(stream):
                if size:
                    patience.begin()  # what is over after one chunk is not worth it
                head += data[: _HEAD - len(head)]
                size += len(data)
                validator.feed(data)
                patience.end()
                if progress:
                    progress(len(data))
        except CaptureError as error:
            validator.damaged(error.reason)
        finally:
            patience.leave()
    return head, size


def so_far(validator: Validator) -> list[Report]:
    """The report about what was read of a capture, when there is something to report."""
    report = validator.interrupt()
    return [] if report is None else [report]


class _Patience:
    """Lets interrupts wait until a chunk was judged: who is stopped within a line no longer knows where it stands."""

    def __init__(self) -> None:
        self._busy = self._came = self._installed = False

    def begin(self) -> None:
        if not self._installed:
            self._install()
        self._busy = True

    def end(self) -> None:
        self._busy = False
        if self._came:
            raise KeyboardInterrupt

    def leave(self) -> None:
        if self._installed:
            import signal

            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._installed = False

    def _install(self) -> None:
        import signal

        # Where interrupts are ignored, or somebody else takes them, that is left alone.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            try:
                signal.signal(signal.SIGINT, self._take)
            except ValueError:  # only the main thread may take them
                return
            self._installed = True

    def _take(self, _number: int, _frame: Any) -> None:
        if not self._busy:
            raise KeyboardInterrupt
        self._came = True


def chunks(stream: BinaryIO) -> Iterator[bytes]:
    # read1 hands over what a pipe holds now; read would wait until the chunk is full.
    read = getattr(stream, "read1", stream.read)
    while data := read(CHUNK):
        yield data


def advice(validator: Validator, report: Report, head: bytes) -> str | None:
    """Why nothing could be read, and what to do about it, as far as that can be told."""
    if report.verdict != "unreadable" and (report.protocol is not None or not report.lines):
        return None
    from validator.capture.guess import guess  # most captures are read

    looks_like = guess(head)
    return validator.hindrance or (f"this looks like {looks_like}" if looks_like else None)
