"""The judge: lines in, a report out.

A pure function of bytes. `validate` reads a whole stream; `Validator` is the same machine fed by hand, line by line or
in chunks of any size, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterable

from validator.capture.detect import protocol_of
from validator.capture.ndjson import Line, Splitter
from validator.context import Options, check_options, line_numbers
from validator.errors import CaptureError
from validator.outcomes import Extent
from validator.protocol.protocol import load_protocol
from validator.report import Report
from validator.rules import Finding
from validator.session import Session
from validator.sharing import Part, Share, add, part_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

__all__ = ["Options", "Validator", "check_options", "line_numbers", "validate"]

_CHUNK = 1 << 16
FEW = 256
"""Lines up to which streamed text takes the long way: to prepare the short one takes longer than it saves there."""
_CUT = {"not-json", "not-utf8"}
"""What a last line without its line feed may suffer from because it was cut."""


class Validator:
    """Judges one capture; `feed` it bytes, then `close` it for the report."""

    def __init__(self, file: str = "-", options: Options | None = None, share: Share | None = None):
        self.options = options or Options()
        self.file, self._share = file, share
        self._splitter = Splitter(self.options.limits)
        self._waiting: list[Line] = []
        self._session: Session | None = None
        self._protocol = None if self.options.protocol is None else load_protocol(self.options.protocol)
        self._lines = self._readable = self._left_out = 0
        self._cut = self._interrupted = False
        self._damage = ""
        self._beyond: set[str] = set()
        """What is wrong with the lines that could not be read."""

    def feed(self, data: bytes | str) -> None:
        """Takes bytes, or one line of text without its line feed."""
        raw = data.encode("utf-8", "surrogatepass") + b"\n" if isinstance(data, str) else data
        for line in self._splitter.feed(raw):
            self._take(line)

    @property
    def findings(self) -> list[Finding]:
        """What was found so far, in the order it was found."""
        return self._session.tally.findings if self._session else []

    @property
    def hindrance(self) -> str | None:
        """Why no line at all could be read, where that lies in the bytes as a whole or in the limits."""
        limits = self.options.limits
        if self._readable:
            return None
        if self._damage:
            return f"{self._damage}; copy or compress it again"
        if self._beyond == {"line-too-long"}:
            return f"every line is longer than {limits.line_bytes:,} bytes; --max-line-bytes lets the judge read more"
        if self._beyond == {"too-deep"}:
            return f"every line nests deeper than {limits.depth}; --max-depth lets the judge read more"
        return None

    def damaged(self, reason: str) -> None:
        """The bytes end here because the rest of them cannot be had."""
        self._damage = reason

    def interrupt(self) -> Report | None:
        """Ends the capture where reading it was interrupted; None when nothing had been read."""
        self._interrupted = True
        if not self._readable and not self._splitter.passed:
            return None
        self._damage = self._damage or "the check was interrupted"
        return self.close()

    def close(self, others: Iterable[Part] = ()) -> Report:
        """Ends the capture and says what it amounts to, with what other shares of the rules found."""
        extent = self._end()
        unreadable = (extent.lines or extent.damage) and not extent.readable
        if self._session is None or unreadable:
            return self._undetected(extent)
        for part in others:
            add(self._session.tally, part)
        return self._session.report(extent)

    def part(self) -> Part:
        """Ends the capture and says what this share of the rules found in it."""
        self._end()
        return part_of(self._session.tally) if self._session else Part()

    def _end(self) -> Extent:
        extent = self._read_rest()
        if self._session is not None:
            self._session.end(extent)
        return extent

    def _read_rest(self) -> Extent:
        """Reads what stands after the last line feed; says how much of the capture there was."""
        for line in () if self._interrupted else self._splitter.close():
            if not line.readable and any(problem.name in _CUT for problem in line.problems):
                self._cut = True
                self._lines += 1
            else:
                self._take(line)
        if self._session is None and self._protocol is not None:
            self._open({})
        passed = self._splitter.passed
        return Extent(self._lines + passed, self._readable + passed, 0, self._cut, self._damage, self._left_out)

    def _take(self, line: Line) -> None:
        self._lines += 1
        if line.readable:
            self._readable += 1
        else:
            self._beyond.update(problem.name for problem in line.problems)
        if self._session is not None:
            if self._lines == FEW:
                self._shorten()
            self._show(line)
            return
        self._waiting.append(line)
        if line.readable:
            found = self._protocol or protocol_of(line.document)
            if found:
                self._protocol = found
                self._open(line.document if line.document.get("record") == "header" else {})

    def _open(self, header: dict[str, Any]) -> None:
        self._session = Session(self.file, self._protocol, self.options, header, self._share)
        if self._lines >= FEW:
            self._shorten()
        waiting, self._waiting = self._waiting, []
        for line in waiting:
            self._show(line)

    def _shorten(self) -> None:
        """From here on, lines that repeat others are not read, where there is a short way for them."""
        echoes, splitter = self._session.shorten(), self._splitter
        if echoes is not None:
            splitter.passes, splitter.passes_on = echoes.take, echoes.take_row

    def _show(self, line: Line) -> None:
        wanted = self.options.lines
        if not wanted or line.number in wanted or _is_header(line):
            self._session.take(line)
        else:
            self._left_out += 1
            self._session.pass_over(line)

    def _undetected(self, extent: Extent) -> Report:
        reasons = ["the capture is empty"] if not extent.lines else ["no line names or looks like a protocol we know"]
        reasons += ["the last line is cut"] if extent.cut else []
        reasons += [extent.damage] if extent.damage else []
        verdict = "unreadable" if (extent.lines or extent.damage) and not extent.readable else "incomplete"
        incomplete = () if verdict == "unreadable" else tuple(reasons)
        return Report(self.file, None, None, None, verdict, extent.lines, 0, (), incomplete=incomplete)


def _is_header(line: Line) -> bool:
    return line.number == 1 and line.readable and line.document.get("record") == "header"


def validate(stream: BinaryIO, file: str = "-", options: Options | None = None) -> Report:
    """Judges a whole capture."""
    judge = Validator(file, options)
    try:
        while data := stream.read(_CHUNK):
            judge.feed(data)
    except CaptureError as error:
        judge.damaged(error.reason)
    return judge.close()
