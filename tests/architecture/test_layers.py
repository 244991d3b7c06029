"""Imports go one way, and heavy ones wait until they are needed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A module may import from its own layer and from those after it.
ORDER = [
    "validator.cli",
    "validator.pytest_plugin",
    "validator.renderers validator.specgen validator.selftest validator.testing",
    "validator.certify",
    "validator.stories validator.coverage",
    "validator.diff",
    "validator.diffsides validator.follow",
    "validator.acceptance",
    "validator.settings validator.judging",
    "validator.dividing",
    "validator.feeding",
    "validator.config validator.baseline validator.tomlfile",
    "validator.suppressions",
    "validator.run",
    "validator.rulestreams",
    "validator.engine",
    "validator.session",
    "validator.outcomes validator.asking",
    "validator.tally",
    "validator.context",
    "validator.report validator.requirements",
    "validator.rules",
    "validator.replay",
    "validator.capture validator.redact",
    "validator.protocol",
    "validator.datafile",
    "validator.resources validator.errors validator.records validator.jsontext",
    "validator.loading",
]
LAYER = {name: index for index, names in enumerate(ORDER) for name in names.split()}


def layer_of(module):
    return next((index for name, index in LAYER.items() if module == name or module.startswith(f"{name}.")), None)


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", sorted((ROOT / "validator").rglob("*.py")), ids=lambda path: path.stem)
def test_a_module_imports_only_from_its_own_layer_and_below(path):
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    own = layer_of(module)
    for name in imports(path):
        other = layer_of(name)
        assert own is None or other is None or own <= other, f"{module} imports {name}"
        assert not name.startswith("click") or module.startswith("validator.cli"), f"{module} imports click"
        assert not name.startswith("hypothesis") or module.startswith("validator.testing"), (
            f"{module} imports hypothesis"
        )


@pytest.mark.parametrize("path", sorted((ROOT / "reference_runtime").rglob("*.py")), ids=lambda path: path.stem)
def test_the_runtime_reads_the_contract_and_nothing_else_of_the_validator(path):
    for name in imports(path):
        assert not name.startswith("validator") or name.startswith("validator.protocol"), name


def test_asking_for_the_version_loads_nothing_heavy():
    heavy = "{'jsonschema', 'yaml', 'referencing'}"
    code = f"import sys; from validator.cli.group import cli; print({heavy} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_capture_that_is_in_order_is_judged_without_the_authority():
    code = (
        "import sys; from pathlib import Path; from validator import resources; from validator.engine import validate\n"
        "path = resources.fixtures() / 'agent-runtime/0.3/golden/happy-path.ndjson'\n"
        "assert validate(path.open('rb')).verdict == 'conformant'\n"
        "print({'jsonschema', 'referencing'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_help_lists_every_command_by_its_own_first_sentence():
    code = "import sys; from validator.cli import main; sys.argv = ['runtime-validate', '-h']; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Judge captures: files, folders, patterns" in done.stdout
    assert "Explain a rule or a clause." in done.stdout
