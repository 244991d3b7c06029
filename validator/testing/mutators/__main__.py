"""`python -m validator.testing.mutators [--all] [--write] [--operator NAME]... | propose RULE...`"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import yaml

from validator import resources
from validator.protocol.definition import read_definition
from validator.protocol.protocol import available, load_protocol
from validator.rules._catalog import load_rules
from validator.specgen.kill import MATRIX
from validator.testing.mutators.matrix import EVERY, FAULTS, build, run_operator
from validator.testing.mutators.operator import OPERATORS
from validator.testing.mutators.propose import propose


def main(arguments: list[str]) -> int:
    """Builds the matrix and tells its faults, or proposes mutators for rules."""
    parser = argparse.ArgumentParser(prog="python -m validator.testing.mutators", description=__doc__)
    parser.add_argument("--all", action="store_true", help="every mutant of every golden capture, not the sample")
    parser.add_argument("--write", action="store_true", help="write what was found: the matrix, or mutators.yaml")
    parser.add_argument(
        "--operator", action="append", choices=OPERATORS, metavar="NAME", help="this operator only; nothing is written"
    )
    parser.add_argument("propose", nargs="*", help="the word propose, then rule ids; no id: every rule without any")
    chosen = parser.parse_args(arguments)
    if chosen.propose:
        return _propose(chosen.propose[1:], chosen.write)
    every = 0 if chosen.all else EVERY
    if chosen.operator:
        return _tell({"operators": {name: run_operator(name, every) for name in chosen.operator}, "rules": {}})
    matrix = build(every)
    if chosen.write:
        path = resources.spec() / MATRIX
        path.write_text(json.dumps(matrix, indent=1) + "\n", encoding="utf-8", newline="\n")
    return _tell(matrix)


def _tell(matrix: dict) -> int:
    faults = 0
    for name, entry in matrix["operators"].items():
        killed = entry["mutants"] - sum(len(entry.get(kind, ())) for kind in (*FAULTS, "survived"))
        print(f"{name:36} {entry['mutants']:6} mutants, {killed} killed")
        faults += sum(len(entry.get(kind, ())) for kind in FAULTS)
        for kind in FAULTS if OPERATORS[name].harmless else (*FAULTS, "survived"):
            print(*(f"    {kind}: {where}\n" for where in entry.get(kind, ())), sep="", end="")
    wrong = [f"{rule} {name}: {kind}" for rule, own in matrix["rules"].items() for name, kind in own.items()]
    wrong = [entry for entry in wrong if not entry.endswith(": killed")]
    print(*wrong, f"{len(matrix['rules'])} rules have mutators of their own, {faults + len(wrong)} faults", sep="\n")
    return 1 if faults or wrong else 0


def _propose(wanted: list[str], write: bool) -> int:
    has = {path.parent.name for path in resources.fixtures().glob("*/*/rules/*/mutators.yaml")}
    chosen = wanted or [rule for rule in load_rules() if rule not in has]
    for name in available():
        protocol = load_protocol(name)
        for path in sorted((resources.fixtures() / name).glob("rules/*/expect.yaml")):
            if path.parent.name in chosen:
                expect = read_definition(path, "expect", protocol.store)
                _show(path.with_name("mutators.yaml"), propose(protocol, expect["rule"], expect, path.parent), write)
    return 0


def _show(path: Path, scripts: dict, write: bool) -> None:
    data = {"rule": path.parent.name, "mutators": scripts}
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=118) if scripts else ""
    if write and scripts:
        path.write_text(text, encoding="utf-8", newline="\n")
    print(text or f"# {path.parent.name}: none found")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
