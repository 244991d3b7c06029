"""The lens reads a line's facts wherever a protocol keeps them."""

from validator.protocol import envelope
from validator.protocol.envelope import Lens

LENS = Lens(
    {"type": "event.kind", "payload": "event.payload", "run_id": ["runId", {"path": "streamId", "prefix": "run:"}]},
    ("run_id", "thread_id"),
)


def test_a_name_is_read_through_the_map_and_a_path_goes_on_from_there():
    line = {"event": {"kind": "text", "payload": {"a": {"b": 1}}}}
    assert (LENS.get(line, "type"), LENS.get(line, "payload.a.b"), LENS.get(line, "payload.a.c")) == ("text", 1, None)


def test_alternatives_are_tried_in_order_and_a_prefix_is_demanded():
    assert LENS.get({"runId": "r1", "streamId": "run:r2"}, "run_id") == "r1"
    assert LENS.get({"streamId": "run:r2"}, "run_id") == "r2"
    assert LENS.get({"streamId": "log:r2"}, "run_id") is None


def test_brackets_stand_for_each_element():
    line = {"event": {"payload": {"items": [{"id": "a"}, {"id": "b"}, {}], "ids": ["x", "y"]}}}
    assert list(LENS.each(line, "payload.items[].id")) == ["a", "b"]
    assert list(LENS.each(line, "payload.ids[]")) == ["x", "y"]
    assert LENS.get(line, "payload.ids[]") is None


def test_a_record_is_read_as_itself_and_a_snapshot_as_what_it_carries():
    assert LENS.get({"record": "run", "status": "failed"}, "record.status") == "failed"
    assert LENS.get({"record": "snapshot", "snapshot": {"status": "done"}}, "record.status") == "done"


def test_an_identity_that_is_honestly_missing_is_not_carried():
    honest = {"honest": "unknown", "reason": "No correlation."}
    assert LENS.scope({"runId": "r1", "thread_id": honest}) == {"run_id": "r1"}


def test_nothing_is_read_out_of_an_honest_statement():
    assert LENS.get({"event": {"payload": {"honest": "unknown", "reason": "Lost."}}}, "payload.reason") is None


def test_each_value_of_a_name_is_read_through_the_map_as_well():
    assert list(LENS.each({"tags": ["x", None, "y"]}, "tags[]")) == ["x", "y"]
    assert list(LENS.each({"streamId": "run:r2"}, "run_id")) == ["r2"]
    assert list(LENS.each({"streamId": "log:r2"}, "run_id")) == []


def test_identities_are_found_however_many_shapes_of_lines_there_were(monkeypatch):
    monkeypatch.setattr(envelope, "_SHAPES_KEPT", 3)
    lens = Lens({}, ("run_id",))
    for number in range(9):
        assert lens.scope({"run_id": f"r{number}", f"field_{number}": 1}) == {"run_id": f"r{number}"}
    assert len(lens._carried) <= 4
