"""`reference-runtime demo | stdio | serve | openapi | replay`."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from reference_runtime.booting import boot
from reference_runtime.capture import Capture, LineCapture
from reference_runtime.contract import CORE, Contract
from reference_runtime.errors import ReferenceRuntimeError
from reference_runtime.facts.learn import learn
from reference_runtime.facts.unit import Unit
from reference_runtime.log.base import Store
from reference_runtime.log.memory import MemoryStore
from reference_runtime.log.sqlite import SqliteStore
from reference_runtime.projections import all_snapshots
from reference_runtime.scripts.coverage import UNREACHED, Coverage, Played
from reference_runtime.scripts.player import Player, StoryError, load, playable, stories
from reference_runtime.transports.stdio import serve
from reference_runtime.work.real.bench import Bench
from reference_runtime.work.real.contents import Contents
from reference_runtime.work.real.workspace import Workspace

Play = Callable[[Callable[[], Store], Capture], Played]
"""Plays a story on the stores that it opens, into a capture."""
Story = tuple[str, str, Play]
"""Its name, its title, and how it is played."""

LIFECYCLES: dict[str, str] = {
    "agenthub/1": "reference_runtime.lifecycles.agenthub",
    "agent-threads/1": "reference_runtime.lifecycles.agent_threads",
    "runagents/1": "reference_runtime.lifecycles.runagents",
}
"""The packages of the other lifecycles by protocol. Each has a module `demo` with `stories()`, and a file
`unreached.yaml` where a row of its tables is beyond its stories."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return options.do(options)
    except ModuleNotFoundError as error:
        print(f"reference-runtime: {error}; pip install 'runtime-validate[serve]'", file=sys.stderr)
        return 1
    except (ReferenceRuntimeError, StoryError, OSError, ValueError) as error:
        print(f"reference-runtime: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="reference-runtime", description="A minimal runtime of the core protocol.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="play every story and write its capture")
    demo.add_argument("--captures", type=Path, default=Path("build/demo"), help="folder for one capture per story")
    demo.add_argument("--story", help="play one story only")
    demo.add_argument("--capture", type=Path, help="with --story: the file to write")
    demo.set_defaults(do=_demo)
    stdio = commands.add_parser("stdio", help="serve JSON-RPC 2.0 on standard input and output")
    stdio.add_argument("--store", type=Path, help="SQLite file; in memory when left out")
    stdio.add_argument("--scripts", type=Path, help="YAML file of scripts by name")
    stdio.add_argument("--capture", type=Path, help="file to append the capture to")
    stdio.add_argument("--workspace", type=Path, help="folder in which real tools work; without it none do")
    stdio.set_defaults(do=_stdio)
    _add_serving(commands)
    replay = commands.add_parser("replay", help="derive the read models from a capture and print them")
    replay.add_argument("source", type=Path)
    replay.add_argument("--capture", type=Path, help="write the events again, with the read models as snapshots")
    replay.set_defaults(do=_replay)
    return parser


def _add_serving(commands: Any) -> None:
    serve = commands.add_parser("serve", help="serve HTTP with Server-Sent Events")
    serve.add_argument("--store", type=Path, help="SQLite file; in memory when left out")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on; peers elsewhere need another one")
    serve.add_argument("--port", type=int, default=0, help="0 takes a free one, which is printed")
    serve.add_argument("--token", help="bearer token; made and printed once when left out")
    serve.add_argument("--capture", type=Path, help="file to append the capture to")
    serve.add_argument("--scripts", type=Path, help="YAML file of scripts by name")
    serve.add_argument("--workspace", type=Path, help="folder in which real tools of the core work; without it none do")
    serve.set_defaults(do=_serve)
    openapi = commands.add_parser("openapi", help="print the OpenAPI description of what is served")
    openapi.set_defaults(do=_openapi)
    for parser in (serve, openapi):
        parser.add_argument("--protocol", default="agent-runtime/0.3", help="protocol to serve")


def _demo(options: argparse.Namespace) -> int:
    if options.story:
        return _one(options)
    failed = False
    for contract, chosen, unreached, folder in _lifecycles():
        failed |= _all(contract, chosen, unreached, options.captures / folder)
    return int(failed)


def _lifecycles() -> Iterator[tuple[Contract, Iterable[Story], Path, str]]:
    """Every lifecycle: its contract, its stories, the reasons for what they leave out, and its folder of captures."""
    yield CORE, _core(), UNREACHED, "."
    for protocol, package in LIFECYCLES.items():
        module = importlib.import_module(f"{package}.demo")
        contract = Contract(protocol)
        yield contract, module.stories(), Path(str(module.__file__)).parent / "unreached.yaml", contract.name


def _one(options: argparse.Namespace) -> int:
    """Plays one story; one of another lifecycle is named with its protocol, as `agenthub/thin-evidence`."""
    for contract, chosen, _, folder in _lifecycles():
        for story in chosen:
            names = {(Path(folder) / name).as_posix() for name in (story[0], story[0].partition("-")[2])}
            if options.story in names:
                _play(contract, story, options.capture or options.captures / folder / f"{story[0]}.ndjson")
                return 0
    raise ValueError(f"there is no story {options.story!r}")


def _all(contract: Contract, chosen: Iterable[Story], unreached: Path, folder: Path) -> bool:
    """Plays all stories of a lifecycle and says what they reached; true when something has no reason."""
    total, coverage = Played(), Coverage(contract, unreached)
    for story in chosen:
        total |= _play(contract, story, folder / f"{story[0]}.ndjson")
    print()
    print("\n".join([f"{contract.id}:", *coverage.table(total), ""]))
    return bool(coverage.unexplained(total))


def _core() -> Iterator[Story]:
    for path in stories():
        story = load(path)
        if not playable(story):
            print(f"{path.stem:28} left out: real work needs Linux")
            continue

        def play(open_store: Callable[[], Store], capture: Capture, story: dict[str, Any] = story) -> Played:
            return Player(story, open_store, capture).play()

        yield path.stem, story["title"], play


def _play(contract: Contract, story: Story, target: Path) -> Played:
    name, title, play = story
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, target.open("w", encoding="utf-8") as file:
        played = play(lambda: SqliteStore(Path(folder) / "store.db"), LineCapture(file, contract))
    print(f"{name:28} {title}")
    return played


def _stdio(options: argparse.Namespace) -> int:
    with _bench(options) as bench:
        runtime = boot(options.store, options.scripts, options.capture, bench)
        serve(runtime, sys.stdin, sys.stdout, bench=bench)
        runtime.capture.close()
    return 0


def _serve(options: argparse.Namespace) -> int:
    from reference_runtime.transports.http import protocols, server

    with _bench(options) as bench:
        chosen = protocols.Options(options.store, options.capture, options.scripts, bench)
        server.serve(options.protocol, chosen, options.host, options.port, options.token)
    return 0


def _openapi(options: argparse.Namespace) -> int:
    from reference_runtime.transports.http import openapi, protocols

    print(json.dumps(openapi.document(*protocols.load(options.protocol).openapi(None)), indent=2))
    return 0


@contextlib.contextmanager
def _bench(options: argparse.Namespace) -> Iterator[Bench | None]:
    """A bench on the workspace that is named; what it spills lies beside the store."""
    if options.workspace is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as passing:
        folder = options.store.with_suffix(".contents") if options.store else Path(passing)
        bench = Bench(Workspace(options.workspace), Contents(folder))
        try:
            yield bench
        finally:
            bench.close()


@contextlib.contextmanager
def _capture(path: Path | None) -> Iterator[Capture | None]:
    if path is None:
        yield None
        return
    new = not path.exists() or not path.stat().st_size
    with path.open("a", encoding="utf-8") as file:
        yield LineCapture(file, completeness="prefix", header=new)


def _replay(options: argparse.Namespace) -> int:
    store, seen = MemoryStore(), set()
    with _capture(options.capture) as capture:
        for line in options.source.read_text(encoding="utf-8").splitlines():
            event: dict[str, Any] = json.loads(line)
            if "record" not in event and event["event_id"] not in seen:
                seen.add(event["event_id"])
                unit = Unit(store)
                learn(unit, event)
                store.commit(unit.change())
                if capture:
                    capture.event(event)
        unit = Unit(store)
        for session in unit.find("session"):
            for model, document in all_snapshots(unit, session.id):
                print(json.dumps({"model": model, **document}))
                if capture:
                    capture.snapshot(model, document, document.get("updated_at", event["timestamp"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
