"""A view tells what may stand at a place, whichever part of a schema says so."""

import pytest

from validator.protocol.view import view


@pytest.fixture
def failed(core):
    return view(core.store, core.schema_for("turn.failed"))


def test_only_what_every_document_needs_is_required(failed):
    assert {"type", "event_id", "timestamp", "turn_id"} <= failed.required()
    assert failed.at("payload").required() == set()


def test_a_place_has_types_names_and_perhaps_an_honest_statement(failed):
    reason, event = failed.at("payload.reason"), failed.at("event_id")
    assert (reason.types, reason.honest) == (["string"], True)
    assert (event.types, event.honest) == (["string"], False)
    assert "ids.id" in event.names


def test_a_path_that_nobody_declares_has_no_view(failed):
    assert failed.at("payload.acme.x") is None
