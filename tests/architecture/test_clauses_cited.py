"""Every clause that data cites exists, and the spec's own links lead somewhere."""

import re

import pytest

from tests.conftest import PROTOCOLS
from validator import resources
from validator.protocol.clauses import load_clauses
from validator.protocol.protocol import load_capabilities, load_protocol

CLAUSES = load_clauses(resources.spec().resolve())


def cited(protocol):
    yield from (row.clause for row in protocol.rows())
    yield from (command.clause for command in protocol.commands.values())
    yield from (entry["clause"] for entry in protocol.identities.values())
    yield protocol.order["clause"]
    for table in protocol.tables.values():
        yield from (row["clause"] for row in table["rows"] if "clause" in row)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_cited_clause_exists(name):
    assert sorted(set(cited(load_protocol(name))) - CLAUSES.keys()) == []


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_row_rests_on_a_clause_of_its_own_protocol(name):
    for clause in cited(load_protocol(name)):
        assert CLAUSES[clause].file.startswith(f"spec/{name}/"), clause


def test_capabilities_switch_on_clauses_that_exist():
    capabilities = load_capabilities()
    for name, entry in capabilities.items():
        for protocol, clauses in entry["requirements"].items():
            assert protocol in PROTOCOLS
            for clause in clauses:
                assert clause in CLAUSES, f"{name}: {clause}"
                assert CLAUSES[clause].file.startswith(f"spec/{protocol}/"), f"{name}: {clause}"
        for protocol, seen in entry.get("observed_by", {}).items():
            loaded = load_protocol(protocol)
            known = {*loaded.events, *loaded.aliases, *loaded.commands, *loaded.snapshots, *loaded.records}
            known |= {"header", "command", "result", "snapshot", "run", "restart", "reconnect"}
            assert set(seen) <= known, f"{name}: {set(seen) - known}"


def test_golden_captures_claim_only_capabilities_that_exist():
    names = load_capabilities().keys()
    for path in sorted(resources.fixtures().rglob("golden/*.ndjson")):
        first = path.read_text().splitlines()[0]
        for claimed in re.findall(r'"capabilities":\[([^\]]*)\]', first):
            assert {word.strip('"') for word in claimed.split(",")} <= names, path.name


def test_relative_links_in_the_spec_lead_somewhere():
    for path in sorted(resources.spec().rglob("*.md")):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text()):
            if not target.startswith("http"):
                assert (path.parent / target).exists(), f"{path.name}: {target}"
