"""Which faults are planted: one small change of one source file each.

cosmic-ray's operators make the changes. Changes inside annotations are left out, since nothing evaluates those, and a
comparison becomes its opposite or a neighbour, not something that makes no sense for its operands.
"""

from __future__ import annotations

import ast
import random
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

    def source(self, root: Path) -> str:
        code = MutationVisitor.mutate_code((root / self.path).read_text("utf-8"), self._operator(), self.occurrence)
        assert code is not None, f"{self} changes nothing"
        return code

    def line(self, root: Path) -> int:
        before, after = (root / self.path).read_text("utf-8").splitlines(), self.source(root).splitlines()
        return next((index for index, pair in enumerate(zip(before, after, strict=False), 1) if pair[0] != pair[1]), 0)

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
        tree = get_ast(path.read_text("utf-8"))
        for name in operators():
            operator = get_operator(name)()
            for occurrence in range(_places(tree, operator)):
                yield Mutant(str(path.relative_to(root)), name, occurrence)


def _places(node, operator) -> int:
    here = sum(1 for _ in operator.mutation_positions(node))
    return here + sum(_places(child, operator) for child in getattr(node, "children", ()))


def sample(root: Path, size: int, seed: int) -> list[Mutant]:
    """The first `size` of a seeded shuffle whose change a run could notice."""
    places = list(every(root))
    random.Random(seed).shuffle(places)
    chosen: list[Mutant] = []
    for mutant in places:
        if len(chosen) == size:
            break
        if _differs((root / mutant.path).read_text("utf-8"), mutant.source(root)):
            chosen.append(mutant)
    return chosen


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
