"""The fast path says nothing that the authority does not say, on every kind of document of every protocol."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import PROTOCOLS
from validator import resources
from validator.capture.lines import read_lines
from validator.datafile import read_json
from validator.protocol.casing import to_camel
from validator.protocol.fastpath.straight import straight
from validator.protocol.guided import Guide
from validator.protocol.protocol import load_protocol
from validator.protocol.schemas import BASE, refusals
from validator.testing.strategies import documents, mutated

FIXTURES = resources.fixtures()
KINDS = [(name, kind) for name in PROTOCOLS for kind in load_protocol(name).references()]
STRANGE = [
    None, True, 0, -1, 1.0, 0.5, 2**53 + 1, 2**64, -(2**70), float("nan"), float("inf"), "", "a", "a\n", "\ud800",
    "a" * 513,
    "a" * 2049, "2026-02-30T00:00:00Z", "2026-05-08T09:00:00Z", "2026-05-08T09:00:00Z\n", "unknown", [], [""], {},
    {"a": {}},
    {"honest": "unknown", "reason": "Not told."}, {"honest": "perhaps", "reason": "x"}, {"honest": "stale"}, [{}],
    [None],
]  # fmt: skip


def wrongly_accepted(store, reference, document, accept=None):
    accepted = accept(document) if accept else store.accepts(reference, document)
    return accepted and not store.validator(reference).is_valid(document)


def told_otherwise(store, reference, document, guided=None):
    """True when the authority that leaves out what fits says anything else than the one that reads all of it."""
    return refusals(guided or store.guided(reference), document) != refusals(store.validator(reference), document)


def places(value):
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, sub in entries:
        yield value, key
        yield from places(sub)


def spoiled(document, turn):
    """The document with a strange value in each place, one at a time; which value rotates."""
    for index, (holder, key) in enumerate(list(places(document))):
        kept = holder[key]
        holder[key] = STRANGE[(index + turn) % len(STRANGE)]
        yield document
        holder[key] = kept


def cases(name):
    protocol = load_protocol(name)
    for kind, reference in protocol.references().items():
        for case in read_json(FIXTURES / name / "documents" / f"{kind}.json")["cases"]:
            yield reference, case


def test_the_check_tells_an_acceptor_that_accepts_everything(core):
    reference = core.events["turn.failed"]
    assert wrongly_accepted(core.store, reference, {}, accept=lambda document: True)


def test_the_check_tells_an_authority_that_leaves_out_what_does_not_fit(core):
    reference, store = core.events["turn.failed"], core.store
    fits = Guide(store._by_path, BASE, store.registry, lambda _reference, _document: True)
    assert told_otherwise(store, reference, {}, fits.validator(reference))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_valid_fixture_is_accepted_and_no_invalid_one(name):
    store = load_protocol(name).store
    for reference, case in cases(name):
        assert store.accepts(reference, case["document"]) == case["valid"], case["id"]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_strange_value_anywhere_in_a_fixture_is_never_wrongly_accepted(name):
    store = load_protocol(name).store
    for turn, (reference, case) in enumerate(cases(name)):
        for document in spoiled(copy.deepcopy(case["document"]), turn):
            assert not wrongly_accepted(store, reference, document), case["id"]
            assert not told_otherwise(store, reference, document), case["id"]


def retold(document, turn):
    """The document with another value of the same kind in each place, one at a time."""
    for index, (holder, key) in enumerate(list(places(document))):
        kept = holder[key]
        others = [value for value in STRANGE if type(value) is type(kept) and not isinstance(value, dict | list)]
        if others:
            holder[key] = others[(index + turn) % len(others)]
            yield document
            holder[key] = kept


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_acceptor_of_a_layout_accepts_its_fixture_and_wrongly_no_other_value(name):
    store = load_protocol(name).store
    for turn, (reference, case) in enumerate(cases(name)):
        accept = straight(store._compiler, reference, case["document"])
        assert bool(accept and accept(case["document"])) == case["valid"], case["id"]
        for document in retold(copy.deepcopy(case["document"]), turn) if accept else ():
            assert not wrongly_accepted(store, reference, document, accept), case["id"]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_wary_acceptor_accepts_its_fixture_and_wrongly_no_other_document(name):
    store = load_protocol(name).store
    for turn, (reference, case) in enumerate(cases(name)):
        accept = straight(store._compiler, reference, case["document"], wary=True)
        assert bool(accept and accept(case["document"])) == case["valid"], case["id"]
        for document in spoiled(copy.deepcopy(case["document"]), turn) if accept else ():
            assert not wrongly_accepted(store, reference, document, accept), case["id"]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_golden_event_is_accepted(name):
    protocol = load_protocol(name)
    for path in sorted((FIXTURES / name / "golden").glob("*.ndjson")):
        for number, line in read_lines(path):
            if "record" not in line:
                assert protocol.store.accepts(protocol.schema_for(protocol.type_of(line)), line), (path.name, number)


@pytest.mark.parametrize(("name", "kind"), KINDS)
@settings(max_examples=2)
@given(data=st.data())
def test_drawn_documents_are_accepted_and_changed_ones_never_wrongly(name, kind, data):
    protocol = load_protocol(name)
    reference, store = protocol.references()[kind], protocol.store
    sources = documents(protocol, kind)
    drawn = data.draw(sources)
    assert store.accepts(reference, drawn)
    changed = data.draw(mutated(sources))
    assert not wrongly_accepted(store, reference, changed)
    assert not told_otherwise(store, reference, changed)
    if protocol.bindings:
        assert not wrongly_accepted(store, reference, to_camel(store, reference, drawn).document)
