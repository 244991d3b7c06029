"""`runtime-validate replay`."""

from __future__ import annotations

import sys

import click

from validator.capture.ndjson import DEEPEST, Limits
from validator.capture.sources import open_capture
from validator.cli import output
from validator.renderers.replay import RENDERERS
from validator.replay.run import Options, replay


@click.command(name="replay")
@click.argument("path", metavar="PATH")
@click.option("--at", metavar="[STREAM:]SEQUENCE", help="Stop after the event that has this sequence in its stream.")
@click.option("--line", type=click.IntRange(min=1), help="Stop after this line.")
@click.option("--model", "models", multiple=True, metavar="NAME", help="Only documents of this read model.")
@click.option("--id", "key", metavar="ID", help="Only the subject and the documents that this id names.")
@click.option("--every-scope", is_flag=True, help="Also the documents of single threads and turns.")
@click.option("--protocol", metavar="NAME[@VERSION]", help="Protocol of the capture; told from the stream when absent.")
@click.option("--canary", multiple=True, metavar="VALUE", help="A value that was planted and must not be printed.")
@click.option("--format", "form", type=click.Choice(sorted(RENDERERS)), default="text", show_default=True)
@click.option("--max-line-bytes", type=click.IntRange(1), help="Longer lines are not read; 16 MiB when absent.")
@click.option("--max-depth", type=click.IntRange(1, DEEPEST), help="Lines nested deeper are not read; 128 when absent.")
def command(
    path: str,
    at: str | None,
    line: int | None,
    models: tuple[str, ...],
    key: str | None,
    every_scope: bool,
    protocol: str | None,
    canary: tuple[str, ...],
    form: str,
    max_line_bytes: int | None,
    max_depth: int | None,
) -> None:
    """Show the read models and states at the end of a capture, or at a place in it; nothing is judged.

    What a field of the stream is called (session_id, run_id, ...) is protocol data. --at 17 is enough when the capture
    has one stream.

    Exit code 0: replayed. 2: bad usage. 3: nothing to replay, or the capture is cut. 4: unreadable.

    Example: runtime-validate replay run.ndjson --at 17 --model session_snapshot
    """
    usual = Limits()
    limits = Limits(max_line_bytes or usual.line_bytes, max_depth or usual.depth)
    options = Options(protocol, at, line, models, key, every_scope, canary, limits)
    with open_capture(path) as stream:
        replayed = replay(stream, options, path)
    output.show(RENDERERS[form](replayed))
    sys.exit(replayed.exit_code)
