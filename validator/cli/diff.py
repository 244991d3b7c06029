"""`runtime-validate diff A B`."""

from __future__ import annotations

import click

from validator.capture.sources import STDIN, expand, open_capture
from validator.cli import failure, output
from validator.cli.options import CANARY, PROTOCOL, options
from validator.diff import MODES, compare
from validator.diffsides import Side, read_side
from validator.errors import UsageError
from validator.renderers.comparison import FORMATS, headline, render


@click.command(name="diff", short_help="Compare two captures of one run.")
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option(
    "--as",
    "mode",
    type=click.Choice(MODES),
    default="subscribers",
    show_default=True,
    help="subscribers: two who heard the same run. reconnect: before and after one. replay: live, and read back.",
)
@options((PROTOCOL, CANARY))
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="What is shown.")
def command(first: str, second: str, mode: str, protocol: str | None, canary: tuple[str, ...], form: str) -> None:
    """Compare two captures of one run: the same events by id, order and body; who lost, repeated or changed what.

    A culprit is named where a side's own numbers or shapes prove it; where nothing does, that is said. Only events are
    compared. Two captures in different casings can be the same.

    Exit code 0: the same. 1: they differ. 2: bad usage. 3: nothing to compare. 4: unreadable.

    Example: runtime-validate diff left.ndjson right.ndjson --as subscribers
    """
    failure.speak(form)
    comparison = compare(_side(first, protocol, canary), _side(second, protocol, canary), mode)
    if comparison.a.protocol and comparison.b.protocol and comparison.a.protocol is not comparison.b.protocol:
        hint = f"A is {comparison.a.protocol.id}, B is {comparison.b.protocol.id}"
        raise UsageError("the captures speak different protocols", hint=hint)
    output.show(render(form, comparison))
    failure.leave(comparison.exit_code, headline(comparison), "differs" if comparison.exit_code == 1 else None)


def _side(word: str, protocol: str | None, canaries: tuple[str, ...]) -> Side:
    if word != STDIN:
        (word,) = expand((word,))[:1]
    with open_capture(word) as stream:
        return read_side(word, stream, protocol, canaries)
