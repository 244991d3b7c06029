"""What figures depend on beside our code: the machine, and the versions of what is measured."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

PACKAGES = ("orjson", "hyperscan", "jsonschema", "check-jsonschema")


def machine() -> str:
    """The processor, how many of it there are, and the memory."""
    return f"{_processor()}, {os.cpu_count()} cores, {_memory()} GiB; {platform.system()} {platform.machine()}"


def versions(modules: Path, packages: Iterable[str]) -> str:
    """The interpreters, our own dependencies, and packages in a folder of Node modules, each with its version."""
    found = [f"Python {platform.python_version()}", *_programs(), *_distributions(), *_modules(modules, packages)]
    return ", ".join(found)


def _processor() -> str:
    named = re.search(r"^model name\s*:\s*(.+)$", _text(Path("/proc/cpuinfo")), re.MULTILINE)
    return named[1].strip() if named else platform.processor() or "a processor without a name"


def _memory() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def _programs() -> Iterator[str]:
    for name in ("node", "jq"):
        try:
            told = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
        except OSError:
            continue
        yield f"{name} {told.strip().removeprefix('v').removeprefix('jq-')}"


def _distributions() -> Iterator[str]:
    for name in PACKAGES:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            continue


def _modules(folder: Path, packages: Iterable[str]) -> Iterator[str]:
    for name in packages:
        described = _text(folder / name / "package.json")
        if described:
            yield f"{name} {json.loads(described)['version']}"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
