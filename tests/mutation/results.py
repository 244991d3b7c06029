"""The page that records a run: the figure, what was left alive, and what cannot be noticed, with the reasons."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.mutation.mutants import Mutant, every

HERE = Path(__file__).parent
PAGE = HERE / "RESULTS.md"
EQUIVALENT = HERE / "equivalent.yaml"
"""Changes that no input shows: file, operator, the line as it is written and as it becomes, and why."""


def reasons(root: Path, mutants: list[Mutant]) -> dict[Mutant, str]:
    """Why nothing can notice a mutant, for those that somebody looked into."""
    listed = yaml.safe_load(EQUIVALENT.read_text("utf-8")) or []
    why = {(row["file"], row["fault"], row["code"], row["becomes"]): row["reason"] for row in listed}
    found = {mutant: why.get((mutant.path, mutant.fault, *mutant.change(root))) for mutant in mutants}
    return {mutant: reason for mutant, reason in found.items() if reason}


def write(root: Path, outcome: dict[Mutant, bool], seed: int) -> None:
    """Counts and lists what is alive, apart from what cannot be noticed."""
    left = sorted((mutant for mutant, alive in outcome.items() if alive), key=lambda mutant: mutant.place(root))
    excused = reasons(root, left)
    alive = [mutant for mutant in left if mutant not in excused]
    total = sum(1 for _ in every(root))
    share = 100 * len(alive) / len(outcome)
    both = 100 * len(left) / len(outcome)
    PAGE.write_text(
        "# Planted faults\n\nWritten by `make mutants`; what a run before settled need not be tried again. "
        "`spec check` does not compare it.\n\n"
        f"Of {total} places where a small fault can be planted in `validator/{{protocol,replay,rules}}`, a sample of "
        f"{len(outcome)} (seed {seed}) was tried: {len(alive)} ({share:.1f} %) went unnoticed although some capture "
        f"would show them, and {len(excused)} more change nothing that anybody can observe; together {both:.1f} %.\n\n"
        f"## Unnoticed\n\n| file | line | fault |\n|---|---|---|\n{''.join(_row(root, mutant) for mutant in alive)}\n"
        "## Nothing to notice\n\nListed by hand in `equivalent.yaml`.\n\n"
        "| file | line | fault | why |\n|---|---|---|---|\n"
        + "".join(_row(root, mutant)[:-1] + f" {reason} |\n" for mutant, reason in excused.items()),
        "utf-8",
    )


def _row(root: Path, mutant: Mutant) -> str:
    return f"| `{mutant.path}` | {mutant.line(root)} | {mutant.fault} |\n"
