"""Blocks about state tables: the rows, and the diagram drawn from them."""

from __future__ import annotations

from validator.protocol.machine import NONE, SAME, Machine, Row
from validator.protocol.protocol import Protocol
from validator.specgen.markdown import code, table

_FEW = 3
"""A row that starts in more states than this is drawn from one node that lists them."""

_MANY = 8
"""A machine with more states than this is drawn from left to right, where long lists have room."""


def machine_block(protocol: Protocol, name: str) -> str:
    """States, diagram and rows of one machine."""
    machine = protocol.machines[name]
    states = table(("State", "Kind"), ((f"`{state}`", kind) for state, kind in machine.states.items()))
    head = f"{machine.summary} {_subject(machine)}".strip()
    return "\n\n".join((head, states, diagram(machine), rows_table(machine)))


def _subject(machine: Machine) -> str:
    keys = [" with ".join(f"`{path}`" for path in key) for key in machine.subject]
    counted = (
        "Open ones count as unfinished work."
        if machine.work
        else "It is a container and never counts as unfinished work."
    )
    return f"A subject is known by {', else by '.join(keys)}. {counted}"


def rows_table(machine: Machine) -> str:
    """One line per row; the number is the row's name in coverage reports."""
    rows = [
        (str(row.index + 1), driver_text(row), condition_text(row), code(row.sources), f"`{row.target}`", row.clause)
        for row in machine.rows
    ]
    return table(("#", "Driver", "Condition", "From", "To", "Clause"), rows)


def driver_text(row: Row) -> str:
    if row.driver.kind == "event":
        return f"`{row.driver.name}`"
    if row.driver.kind == "record":
        return f"record `{row.driver.name}`"
    relation = row.relation if isinstance(row.relation, str) else f"same {code(row.relation)}"
    which = {"owner": "its", "member": "the owning"}.get(relation, f"another, {relation},")
    return f"{which} `{row.driver.name}` becomes {code(row.into)}"


def condition_text(row: Row) -> str:
    parts = [f"`{path}` is {_values(values)}" for path, values in row.when]
    parts += [f"`{path}` is not {_values(values)}" for path, values in row.unless]
    return " and ".join(parts)


def _values(values: frozenset) -> str:
    words = sorted(
        "absent" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"
        for value in values
    )
    return " or ".join(words)


def diagram(machine: Machine) -> str:
    """A Mermaid state diagram, drawn from the rows.

    Confirmations are left out and edges with the same ends are joined. A row that starts in many states is drawn once,
    from a node that lists them; a diagram with an edge per pair would be a hairball nobody reads.
    """
    edges: dict[tuple[str, str], list[str]] = {}
    groups: dict[tuple[str, ...], str] = {}
    for row in machine.rows:
        if row.target == SAME or row.sources == (row.target,):
            continue
        if len(row.sources) > _FEW:
            # The whole list is the node's name, so that rows which share it share the node.
            sources = (groups.setdefault(row.sources, f"any{len(groups) + 1}"),)
        else:
            sources = tuple(source for source in row.sources if source != row.target)
        label = row.driver.name if row.driver.kind != "move" else f"{row.driver.name} moved"
        for source in sources:
            labels = edges.setdefault(("[*]" if source == NONE else source, row.target), [])
            if label not in labels:
                labels.append(label)
    lines = ["```mermaid", "stateDiagram-v2"]
    lines += ["  direction LR"] if len(machine.states) > _MANY else []
    lines += [f'  state "{", ".join(members)}" as {name}' for members, name in groups.items()]
    lines += [f"  {source} --> {target}: {', '.join(labels)}" for (source, target), labels in edges.items()]
    lines += [f"  {state} --> [*]" for state, kind in machine.states.items() if kind == "terminal"]
    return "\n".join([*lines, "```"])
