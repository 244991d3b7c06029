"""Whatever the way of a command leaves out would have changed nothing: each shortcut beside the long way."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import hypothesis.strategies as st
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from reference_runtime import redaction, service
from reference_runtime.log.sqlite import _COLUMNS, _LOAD, SqliteStore, _record
from reference_runtime.patterns import leaks, may_leak, tables
from reference_runtime.projections import changes
from reference_runtime.redaction import FREE, clean
from reference_runtime.scripts.player import Player, load, playable, stories
from reference_runtime.stamping import IDS, Draft, stamped, written
from tests.runtime.machine import RuntimeMachine
from validator.protocol.definition import read_definition

STORIES = [path for path in stories() if playable(load(path))]


class Doubted(dict):
    """Records of a store that are never believed."""

    def __init__(self, store):
        super().__init__()
        self._store, self._records = store, store.records

    def __missing__(self, key):
        known, row = self._records[key], self._store._one(_LOAD, *key)
        assert known == (_record(row) if row else None), key
        return known


class Doubting(SqliteStore):
    """Believes nothing that it remembers: the file is asked as well, and must say the same."""

    def __init__(self, path):
        super().__init__(path)
        self.records, self._kinds, self.linked = Doubted(self), self.linked, self.doubted

    def doubted(self, link):
        known = self._kinds(link)
        if known is not None:
            found = self._all(f"SELECT DISTINCT kind FROM records WHERE {link[0]} = ?", link[1])
            assert known.keys() >= {kind for (kind,) in found}, link
        return known

    def commit(self, change):
        super().commit(change)
        columns = ", ".join(_COLUMNS)
        for one in change.records:
            sql = f"SELECT ordinal, open, {columns}, body FROM records WHERE kind = ? AND id = ?"
            ordinal, is_open, session, thread, *links, body = self._one(sql, *one.key)
            assert (ordinal, bool(is_open), session, thread) == (one.ordinal, one.open, one.session, one.thread)
            assert links == [one.scope.get(name) for name in _COLUMNS[2:]]
            assert json.loads(body) == [one.state, one.scope, one.data]

    def seek(self, kind, where, is_open):
        found = super().seek(kind, where, is_open)
        assert found == self._select(kind, where, is_open), (kind, where, is_open)
        return found


def long_way(event):
    return event | {name: redaction._clean(event[name], name) for name in FREE if name in event}


@pytest.fixture
def doubts(monkeypatch):
    """Every shortcut takes the long way as well."""

    def differing(old, new):
        found, views = short(old, new), changes.WATCHERS[new.kind].items()
        other = [name for view, names in views for name in names if shown(view, old) != shown(view, new)]
        assert sorted(found) == sorted(other), new.kind
        return found

    def cleaned(event):
        assert clean(event) == long_way(event), event["type"]
        return clean(event)

    short, shown = changes.differing, changes.shown
    monkeypatch.setattr(changes, "differing", differing)
    monkeypatch.setattr(service, "clean", cleaned)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_story_goes_the_same_way_with_doubts(path, doubts, tmp_path):
    opened = []

    def store():
        opened.append(Doubting(tmp_path / "store.db"))
        return opened[-1]

    Player(load(path), store).play()
    for one in opened:
        one.close()


class DoubtingMachine(RuntimeMachine):
    """The same acts on a store that doubts what it remembers."""

    def open_store(self):
        return Doubting(":memory:")

    def teardown(self):
        super().teardown()
        self.store.close()


TestDoubtingMachine = DoubtingMachine.TestCase
TestDoubtingMachine.settings = hypothesis_settings(stateful_step_count=30)


def hits():
    folder = service.protocol().store.root / "common" / "1"
    for name in ("path", "secret"):
        for row in read_definition(folder / f"{name}-patterns.yaml", "patterns", service.protocol().store)["rows"]:
            yield from ("".join(hit) if isinstance(hit, list) else hit for hit in row["hit"])


def test_no_example_of_a_leak_passes_the_gate():
    places = {place for row in tables().rows for place in row.places}
    examples = [hit for hit in hits() if any(leaks(hit, place) for place in places)]
    assert len(examples) > 100
    assert [hit for hit in examples if not may_leak(["harmless", hit, "words"])] == []


_TEXTS = (
    st.text(max_size=40) | st.sampled_from(sorted(hits())) | st.from_regex(r"[A-Za-z0-9+_-]{20,40}", fullmatch=True)
)
_KEYS = st.sampled_from(["password", "path", "output_ref", "note", "id", "/home/ann/x", "url"]) | st.text(max_size=8)
_VALUES = st.recursive(
    _TEXTS | st.none() | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(_KEYS, _VALUES, max_size=4), st.dictionaries(_KEYS, _VALUES, max_size=2))
def test_what_passes_the_gate_has_nothing_to_hide(payload, telemetry):
    event = {"type": "x", "payload": payload, "telemetry": telemetry}
    assert clean(event) == long_way(event)
    texts = [value for value in payload.values() if isinstance(value, str)]
    if not may_leak(texts):
        assert not any(leaks(text, place) for text in texts for place in ("text", "path", "reference"))


@given(st.dictionaries(st.sampled_from([*IDS, "vendor_id"]), st.none() | st.text(max_size=3)), st.datetimes())
def test_ids_are_written_in_the_order_of_the_envelope(ids, moment):
    event = stamped(Draft("x", ids), number=1, sequence=1, moment=moment, runtime_id="r")
    assert [name for name in event if name in IDS] == [name for name in IDS if ids.get(name) is not None]
    assert "vendor_id" not in event


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 5, 8, 9, 0, 0, 10_999, tzinfo=UTC), "2026-05-08T09:00:00.010Z"),
        (datetime(2026, 5, 8, 9, tzinfo=UTC), "2026-05-08T09:00:00.000Z"),
        (datetime(2026, 5, 8, 1, 30, tzinfo=timezone(timedelta(hours=2))), "2026-05-07T23:30:00.000Z"),
        (datetime(7, 1, 2, tzinfo=UTC), "0007-01-02T00:00:00.000Z"),
    ],
)
def test_a_moment_is_written_in_utc_and_cut_off_at_the_millisecond(moment, text):
    assert written(moment) == text
