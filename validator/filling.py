"""What may fill the holes of a streamed line: what certainly may stand there, leaks nothing and hides nothing."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from validator.capture.encode import NATIVE
from validator.holes import NAMES, Layout, is_count, is_fraction, is_name, is_text, is_whole
from validator.redact import is_marker, vocabulary
from validator.rules.redaction._leaks import Leaks
from validator.sieve import Spot
from validator.words import Words, harmless

if TYPE_CHECKING:
    from validator.session import Session

_LONGEST_ID = 512
_EVENT_ID, _TEXT = NAMES.index("event_id"), NAMES.index("text")
_NUMBERS: dict[str, Callable[[bytes], Any]] = {"count": is_count, "whole": is_whole, "fraction": is_fraction}


class Fillings:
    """What may fill holes in one capture."""

    def __init__(self, session: Session):
        self._vocabulary = vocabulary(session.protocol)
        self.sieve = self._vocabulary.sieve
        self.scans = Leaks in session.catalogue.ledgers
        """Whether a rule looks for what leaks or hides."""
        self.ids = harmless(self._vocabulary, "text")
        self._usual: dict[str, Filling] = {}
        """By type, what may fill lines that have no holes beside those of a stream."""

    def of(self, kind: str, layout: Layout, probed: dict[str, Any]) -> Filling:
        """What may fill the holes of a type and layout; the document has the probes of the layout in them."""
        further = layout.places[len(NAMES) :]
        known = None if further else self._usual.get(kind)
        if known is not None:
            return known
        text, spot = layout.places[_TEXT], self.sieve.spot(probed, kind, layout.probes[layout.places[_TEXT]])
        place = self.sieve.free(kind) if spot is None else spot.place
        beside = [self._beside(layout, number, probed, kind) for number in further]
        is_named = layout.places[_EVENT_ID] >= 0
        name = layout.holes[text].path[-1].encode()
        made = Filling(self, place, harmless(self._vocabulary, place), name, is_named, tuple(beside))
        if not further:
            self._usual[kind] = made
        return made

    def _beside(self, layout: Layout, number: int, probed: dict[str, Any], kind: str) -> Callable[[bytes], Any]:
        """What says that a hole beside those of a stream is filled with something harmless."""
        hole = layout.holes[number]
        if hole.kind in _NUMBERS:
            return _NUMBERS[hole.kind]
        if not self.scans:
            return functools.partial(_is_harmless, None)
        spot = self.sieve.spot(probed, kind, layout.probes[number])
        return _never if spot is None else functools.partial(_is_harmless, spot)


class Filling:
    """What may fill the holes of lines that repeat one another."""

    __slots__ = (
        *("_are_known_ids", "_beside", "_capture", "_is_known_id", "_is_named", "_make", "_make_all", "_name"),
        "_place",
    )

    def __init__(
        self,
        capture: Fillings,
        place: str,
        words: Words,
        name: bytes,
        is_named: bool,
        beside: tuple[Callable[[bytes], Any], ...],
    ):
        self._capture, self._place, self._name, self._beside = capture, place, name, beside
        self._make, self._make_all, self._is_named = words.make, words.make_all, is_named
        self._is_known_id = capture.ids.name if is_named else _is_nothing
        self._are_known_ids = capture.ids.name_all if is_named else _are_nothing

    def fits(self, event_id: bytes, text: bytes, beside: tuple[bytes, ...]) -> bool:
        """True when what is new in a line may stand there, leaks nothing and does not say that something was hidden."""
        if not NATIVE and not (text.isascii() and event_id.isascii()):
            return False  # the digest of a line depends on how its writer escapes
        if beside and not all(is_harmless(part) for is_harmless, part in zip(self._beside, beside, strict=True)):
            return False
        if self._is_known_id(event_id) and self._make(text):
            return True
        if not (text and is_text(text)) or len(event_id) > _LONGEST_ID:
            return False
        if self._is_named and not is_name(event_id):
            return False
        return self._is_clean(event_id, text)

    def fits_row(self, lines: list[tuple[bytes, ...]]) -> int:
        """Of how many lines, by what fills their holes, that is so; one that leaves a doubt ends them."""
        if not self._beside and NATIVE:
            ids, texts = [line[_EVENT_ID] for line in lines], [line[_TEXT] for line in lines]
            if self._are_known_ids(ids) and self._make_all(texts):
                return len(lines)
        fits = (self.fits(line[_EVENT_ID], line[_TEXT], line[len(NAMES) :]) for line in lines)
        return next((count for count, fit in enumerate(fits) if not fit), len(lines))

    def _is_clean(self, event_id: bytes, text: bytes) -> bool:
        """The same of what is not made of words that are known to be harmless."""
        try:
            name, told = event_id.decode(), text.decode()
        except UnicodeDecodeError:
            return False
        if not self._capture.scans:
            return True
        told = json.loads(f'"{told}"') if "\\" in told else told
        if "redact" in told.lower() or is_marker(told) or is_marker(name):
            return False
        small = b'{"event_id":"%b","%b":"%b"}' % (event_id, self._name, text)
        return self._capture.sieve.is_clean(small, self._place, name, told)


def _never(_written: bytes) -> bool:
    return False


def _is_nothing(_event_id: bytes) -> bool:
    """Where events have no ids, none has to be looked at."""
    return True


def _are_nothing(_event_ids: list[bytes]) -> bool:
    return True


def _is_harmless(spot: Spot | None, written: bytes) -> bool:
    """True for a word that leaks and hides nothing where it stands; for any word where nobody looks for that."""
    if is_name(written) is None or not (NATIVE or written.isascii()):
        return False
    try:
        text = written.decode()
    except UnicodeDecodeError:
        return False
    return spot is None or text in spot.texts or spot.knows(text)
