"""Generated tables say what the contract says, and a changed row turns the check red."""

import pytest
from click.testing import CliRunner

from validator import resources
from validator.cli.group import cli
from validator.errors import DefinitionError
from validator.protocol.protocol import available, load_protocol
from validator.requirements import load_requirements
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


def test_a_page_without_a_rule_is_seen_and_removed(contract):
    page = contract / "spec" / "generated" / "rules" / "ZZZ999.md"
    page.write_text("# ZZZ999 of-old\n")
    assert [diff.splitlines()[2:] for diff in stale(contract / "spec", contract / "schemas")] == [
        ["@@ -1 +0,0 @@", "-# ZZZ999 of-old"]
    ]
    assert build(contract / "spec", contract / "schemas") == [page]
    assert not page.exists()


def test_a_rule_is_explained_in_the_words_of_its_page():
    page = (resources.spec() / "generated" / "rules" / "GOV001.md").read_text()
    assert CliRunner().invoke(cli, ["explain", "GOV001"]).output == page


def test_every_command_and_option_has_its_line():
    page = (resources.spec() / "generated" / "cli.md").read_text()
    for words in cli.list_commands(None):
        assert f"## runtime-validate {words}\n" in page
    assert "| `--at [STREAM:]SEQUENCE` |" in page
    assert "## runtime-validate spec check\n" in page


def test_every_clause_stands_in_the_traceability_page_once_per_protocol():
    page = (resources.spec() / "generated" / "traceability.md").read_text()
    for name in available():
        part = page.split(f"(`{name}`)")[1].split("\n## ")[0]
        rows = [line.split("|")[1].strip(" `") for line in part.splitlines() if line.startswith("| `")]
        assert rows == list(load_requirements(load_protocol(name)))
