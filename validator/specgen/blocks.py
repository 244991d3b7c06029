"""Generated blocks between markers in hand-written chapters, and the catalogue pages; written or checked by one
function.

A block stands between `<!-- generated: NAME ARGUMENT -->` and `<!-- end generated -->`. What lies between is
replaced; the prose around it is never touched.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from validator import resources
from validator.datafile import shown
from validator.errors import DefinitionError
from validator.protocol.protocol import Protocol, available, load_protocol
from validator.specgen import cli, events, kill, machines, reference
from validator.specgen.rules import rule_pages
from validator.specgen.traceability import traceability

_BLOCK = re.compile(r"(<!-- generated: ([a-z]+)(?: ([A-Za-z0-9_.-]+))? -->\n)(.*?)(<!-- end generated -->)", re.DOTALL)

BLOCKS: dict[str, Callable[..., str]] = {
    "capabilities": reference.capabilities_block,
    "capture": reference.capture_block,
    "carries": events.carries_block,
    "commands": reference.commands_block,
    "envelope": reference.envelope_block,
    "events": events.family_block,
    "identities": reference.identities_block,
    "machine": machines.machine_block,
    "order": reference.order_block,
    "profiles": reference.profiles_block,
    "record": reference.record_block,
    "snapshot": reference.snapshot_block,
    "statuses": reference.statuses_block,
    "table": reference.table_block,
}


def pages(spec: Path | None = None, schemas: Path | None = None) -> Iterator[tuple[Path, str]]:
    """Every chapter and catalogue page with the text it ought to have."""
    root = spec or resources.spec()
    protocols = [load_protocol(name, schemas) for name in available(schemas)]
    for protocol in protocols:
        for path in sorted((root / protocol.name / protocol.version).glob("*.md")):
            yield path, fill(protocol, path)
    yield root / "generated" / "events.md", _catalogue("Events", protocols, events.catalogue)
    yield root / "generated" / "machines.md", _catalogue("State tables", protocols, _machines)
    yield root / "generated" / "records.md", _catalogue("Records", protocols, reference.records_page)
    yield root / "generated" / "kill-matrix.md", kill.page(root)
    judged = functools.partial(traceability, spec=root)
    traced = _catalogue("How every clause is judged", protocols, judged, "the chapters and the rules")
    yield root / "generated" / "traceability.md", traced
    yield root / "generated" / "cli.md", cli.cli_page()
    yield from rule_pages(protocols, root)


def left_over(written: Iterable[Path], spec: Path | None = None) -> list[Path]:
    """Pages of rules that are no longer there."""
    folder = (spec or resources.spec()) / "generated" / "rules"
    return sorted(set(folder.glob("*.md")) - set(written))


def fill(protocol: Protocol, path: Path) -> str:
    """A chapter's text with its blocks replaced by what the contract says now."""

    def block(match: re.Match[str]) -> str:
        opening, name, argument, _, closing = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if name not in BLOCKS:
            known = ", ".join(BLOCKS)
            raise DefinitionError(
                f"there is no block {name!r}", source=shown(path), place=f"line {line}", hint=f"known: {known}"
            )
        try:
            body = BLOCKS[name](protocol, *([argument] if argument else []))
        except (KeyError, TypeError) as error:
            reason = f"{protocol.id} has no {name} {argument or ''}".rstrip()
            raise DefinitionError(reason, source=shown(path), place=f"line {line}") from error
        return f"{opening}\n{body}\n\n{closing}"

    text = path.read_text(encoding="utf-8")
    return _BLOCK.sub(block, text)


def _machines(protocol: Protocol) -> str:
    return "\n\n".join(
        f"### {machine.title}\n\n{machines.machine_block(protocol, name)}"
        for name, machine in protocol.machines.items()
    )


def _catalogue(
    title: str, protocols: list[Protocol], render: Callable[[Protocol], str], source: str = "`schemas/`"
) -> str:
    note = f"Written by `runtime-validate spec build` from {source}; edits here are lost."
    parts = [f"## {protocol.title} (`{protocol.id}`)\n\n{render(protocol)}" for protocol in protocols]
    return f"# {title}\n\n{note}\n\n" + "\n\n".join(parts) + "\n"


def build(spec: Path | None = None, schemas: Path | None = None) -> list[Path]:
    """Writes every stale page and removes those of rules that are gone; returns the pages it touched."""
    written, told = [], list(pages(spec, schemas))
    for path, text in told:
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            written.append(path)
    gone = left_over((path for path, _ in told), spec)
    for path in gone:
        path.unlink()
    return written + gone


def stale(spec: Path | None = None, schemas: Path | None = None) -> list[str]:
    """A diff for every page that does not say what the contract says, or that has no rule any more."""
    told = dict(pages(spec, schemas))
    told |= dict.fromkeys(left_over(told, spec), "")
    diffs = []
    for path, text in told.items():
        current = path.read_text(encoding="utf-8") if path.exists() else ""
        if current != text:
            lines = difflib.unified_diff(
                current.splitlines(), text.splitlines(), shown(path), "built anew", lineterm="", n=1
            )
            diffs.append("\n".join(lines))
    return diffs
