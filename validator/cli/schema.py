"""`runtime-validate schema list | show | bundle | lock`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from validator import resources
from validator.errors import UsageError
from validator.protocol import lock as locking
from validator.protocol.bundle import bundle as build_bundle
from validator.protocol.profile import shipped
from validator.protocol.protocol import Protocol, available, load_protocol
from validator.protocol.schemas import load_store


@click.group(name="schema")
def command() -> None:
    """Look at the contract, hand it to other tools, or freeze it.

    Example: runtime-validate schema list
    """


@command.command(name="list")
@click.argument("protocol", required=False)
def list_(protocol: str | None) -> None:
    """List the protocols, or every kind of document that one of them defines.

    Example: runtime-validate schema list agent-runtime
    """
    if protocol:
        for kind in load_protocol(protocol).references():
            click.echo(kind)
        return
    for name in available():
        click.echo(_describe(load_protocol(name)))


def _describe(protocol: Protocol) -> str:
    counts = {
        "event types": len(protocol.events),
        "commands": len(protocol.commands),
        "read models": len(protocol.snapshots),
        "records": len(protocol.records),
        "state tables": len(protocol.machines),
    }
    shown = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{protocol.id:<20} {shown}; profiles: {', '.join(shipped(protocol))}"


@command.command()
@click.argument("protocol")
@click.argument("document")
def show(protocol: str, document: str) -> None:
    """Print the schema of one kind of document.

    Example: runtime-validate schema show agent-runtime events/task.created
    """
    loaded = load_protocol(protocol)
    kinds = loaded.references()
    kind = document if "/" in document else f"events/{document}"
    if kind not in kinds:
        near = [name for name in kinds if document.split("/")[-1].split(".")[0] in name][:6]
        raise UsageError(f"{loaded.id} has no {document!r}", hint=f"near it: {', '.join(near)}" if near else None)
    click.echo(json.dumps(loaded.store.subschema(kinds[kind]), indent=2, ensure_ascii=False))


@command.command()
@click.argument("protocols", nargs=-1, metavar="[PROTOCOL]...")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder to write into.")
@click.option("--casing", default="canonical", show_default=True, help="Casing of the core: canonical or camelCase.")
def bundle(protocols: tuple[str, ...], out: Path | None, casing: str) -> None:
    """Write one self-contained schema per protocol, for Ajv, check-jsonschema and others.

    Example: runtime-validate schema bundle agent-runtime > agent-runtime.schema.json
    """
    names = list(protocols) or available()
    if out is None and len(names) != 1:
        raise UsageError("several bundles need a folder", hint="name one protocol, or give --out FOLDER")
    for name in names:
        protocol = load_protocol(name)
        text = json.dumps(build_bundle(protocol, casing), indent=2, ensure_ascii=False) + "\n"
        if out is None:
            click.echo(text, nl=False)
            continue
        out.mkdir(parents=True, exist_ok=True)
        suffix = "" if casing == "canonical" else f".{casing}"
        path = out / f"{protocol.name}-{protocol.version}{suffix}.schema.json"
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {path.name}", err=True)


@command.command()
@click.argument("folders", nargs=-1, metavar="[NAME/VERSION]...")
@click.option("--check", is_flag=True, help="Only compare; exit 1 when a frozen folder has changed.")
@click.option("--root", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Another schemas folder.")
def lock(folders: tuple[str, ...], check: bool, root: Path | None) -> None:
    """Freeze a version: write the digests of its files, or compare them.

    Example: runtime-validate schema lock agent-runtime/0.3
    """
    base = root or resources.schemas()
    wanted = [base / name for name in folders] or locking.locked(base)
    if not check and not folders:
        raise UsageError("name the version to freeze", hint="for example agent-runtime/0.3, or use --check")
    changed = 0
    for folder in wanted:
        if not folder.is_dir() or (check and not (folder / locking.NAME).exists()):
            raise UsageError(f"{folder.name} is not a {'locked ' if check else ''}version below schemas/")
        if check:
            for problem in locking.check(folder):
                changed += 1
                click.echo(f"{folder.relative_to(base)}: {problem}")
            continue
        load_store(base.resolve()).check_dialect()
        locking.write(folder)
        click.echo(f"locked {folder.relative_to(base)}: {len(locking.digests(folder))} files")
    if check and not changed:
        click.echo(f"{len(wanted)} locked versions, none changed")
    sys.exit(1 if changed else 0)
