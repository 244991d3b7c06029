"""Which faults are planted: one small change of one source file each.

cosmic-ray's operators make the changes. Changes inside annotations are left out, since nothing evaluates those, and a
comparison becomes its opposite or a neighbour, not something that makes no sense for its operands.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.plugins import get_operator, operator_names

PACKAGES = ("protocol", "replay", "rules")
_NEEDS_ARGUMENTS = {"core/VariableReplacer", "core/VariableInserter"}
_BINARY = {
    "Add_Sub",
    "Sub_Add",
    "Mul_FloorDiv",
    "FloorDiv_Mul",
    "Mod_Add",
    "BitOr_BitAnd",
    "BitAnd_BitOr",
    "BitXor_BitOr",
    "LShift_RShift",
    "RShift_LShift",
}
_OPPOSITES = ({"Eq", "NotEq"}, {"Is", "IsNot"})
_RELATIONS = {"Lt", "LtE", "Gt", "GtE"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: the occurrence-th place in a file where an operator applies."""

    path: str
    operator: str
    occurrence: int

    @functools.cache  # noqa: B019 - a sample is small
    def source(self, root: Path) -> str:
        code = MutationVisitor.mutate_code((root / self.path).read_text("utf-8"), self._operator(), self.occurrence)
        assert code is not None, f"{self} changes nothing"
        return code

    def line(self, root: Path) -> int:
        before, after = (root / self.path).read_text("utf-8").splitlines(), self.source(root).splitlines()
        return next((index for index, pair in enumerate(zip(before, after, strict=False), 1) if pair[0] != pair[1]), 0)

    def place(self, root: Path) -> tuple[str, int]:
        return self.path, self.line(root)

    def change(self, root: Path) -> tuple[str, str]:
        """The line that it changes, as it is written and as it becomes."""
        texts = ((root / self.path).read_text("utf-8"), self.source(root))
        before, after = (text.splitlines()[self.line(root) - 1].strip() for text in texts)
        return before, after

    @property
    def fault(self) -> str:
        return self.operator.removeprefix("core/")

    def _operator(self):
        return get_operator(self.operator)()


def files(root: Path) -> list[Path]:
    return sorted(path for name in PACKAGES for path in (root / "validator" / name).rglob("*.py"))


def operators() -> list[str]:
    return sorted(name for name in operator_names() if _sensible(name))


def _sensible(name: str) -> bool:
    if name in _NEEDS_ARGUMENTS:
        return False
    if "BinaryOperator" in name:
        return name.rsplit("Operator_")[-1] in _BINARY
    if "ComparisonOperator" in name:
        old, new = name.rsplit("Operator_")[-1].split("_")
        return {old, new} in _OPPOSITES or {old, new} <= _RELATIONS
    return True


def every(root: Path) -> Iterator[Mutant]:
    """All places where an operator applies, equivalent changes included."""
    for path in files(root):
        for name, places in _places(path.read_text("utf-8")).items():
            for occurrence in range(places):
                yield Mutant(str(path.relative_to(root)), name, occurrence)


@functools.cache
def _places(source: str) -> dict[str, int]:
    """How often each operator applies to a source."""
    nodes = list(_nodes(get_ast(source)))
    tools = {name: get_operator(name)() for name in operators()}
    return {name: sum(sum(1 for _ in tool.mutation_positions(node)) for node in nodes) for name, tool in tools.items()}


def _nodes(node) -> Iterator:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(getattr(node, "children", ()))


def sample(root: Path, size: int, seed: int) -> list[Mutant]:
    """The first `size` in an order drawn by the seed whose change a run could notice.

    The place of a mutant in that order depends on itself alone, so an edit of one file leaves the sample of others.
    """
    chosen: list[Mutant] = []
    for mutant in sorted(every(root), key=lambda mutant: _lot(mutant, seed)):
        if len(chosen) == size:
            break
        if _differs((root / mutant.path).read_text("utf-8"), mutant.source(root)):
            chosen.append(mutant)
    return chosen


def _lot(mutant: Mutant, seed: int) -> str:
    words = f"{seed} {mutant.path} {mutant.operator} {mutant.occurrence}"
    return hashlib.sha256(words.encode()).hexdigest()


def _differs(before: str, after: str) -> bool:
    try:
        return _evaluated(before) != _evaluated(after)
    except SyntaxError:
        return False


def _evaluated(source: str) -> str:
    """What of a module is ever evaluated: its tree without annotations and without what only type checkers read."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(value=None)
        elif isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "not TYPE_CHECKING"}:
            node.test, node.body = ast.Constant(value=None), []
    return ast.dump(tree)
