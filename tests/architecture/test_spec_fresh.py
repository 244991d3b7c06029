"""Generated tables say what the contract says, and a changed row turns the check red."""

import pytest

from validator.errors import DefinitionError
from validator.specgen.blocks import build, stale


def test_every_page_is_fresh():
    assert stale() == []


def test_a_changed_row_is_seen_until_the_pages_are_built_anew(contract):
    spec, schemas = contract / "spec", contract / "schemas"
    assert stale(spec, schemas) == []
    table = schemas / "agent-runtime" / "0.3" / "machines" / "channel.yaml"
    table.write_text(
        table.read_text().replace(
            "from: [none, disconnected], to: connected, clause: CHAN-1", "from: [none], to: connected, clause: CHAN-1"
        )
    )
    from validator.protocol.protocol import _load

    _load.cache_clear()
    diffs = stale(spec, schemas)
    assert any("spec/agent-runtime/0.3/16-channels.md" in diff for diff in diffs)
    assert any("spec/generated/machines.md" in diff for diff in diffs)
    assert build(spec, schemas)
    assert stale(spec, schemas) == []


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ("machine wheel", "agent-runtime/0.3 has no machine wheel"),
        ("poem", "there is no block 'poem'"),
        ("machine", "has no machine"),
    ],
)
def test_a_block_of_nothing_is_refused_with_its_line(contract, marker, reason):
    page = contract / "spec" / "agent-runtime" / "0.3" / "16-channels.md"
    page.write_text(f"# x\n\n<!-- generated: {marker} -->\n<!-- end generated -->\n")
    with pytest.raises(DefinitionError) as caught:
        stale(contract / "spec", contract / "schemas")
    assert (caught.value.source, caught.value.place) == ("spec/agent-runtime/0.3/16-channels.md", "line 3")
    assert reason in caught.value.reason


def test_prose_outside_the_markers_is_never_touched(contract):
    page = contract / "spec" / "agent-runtime" / "0.3" / "16-channels.md"
    page.write_text("Before.\n\n<!-- generated: order -->\nold\n<!-- end generated -->\n\nAfter.\n")
    build(contract / "spec", contract / "schemas")
    text = page.read_text()
    assert text.startswith("Before.\n\n<!-- generated: order -->\n\n| Order | Rule |")
    assert text.endswith("<!-- end generated -->\n\nAfter.\n")
