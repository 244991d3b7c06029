"""What a ledger does not hear teaches it nothing: shown everything, it keeps the same."""

import json

import pytest

from tests.conftest import PROTOCOLS
from validator import resources
from validator.protocol.protocol import load_protocol
from validator.replay.hearing import Hearing
from validator.replay.world import World
from validator.rules._catalog import compile_rules, load_rules


def told(path):
    """The lines of a capture, and after each the same again, in a turn or task that nobody heard of before."""
    for number, line in enumerate(map(json.loads, path.read_bytes().splitlines())):
        yield line
        for name in sorted({"turn_id", "task_id", "run_id", "threadId"} & line.keys()):
            yield {**line, name: f"another {number}", "event_id": f"again {name} {number}"}


def tables(ledger):
    names = [name for kind in ("forgets", "forgets_faded") for name in getattr(ledger, kind, ())]
    return {name: repr(getattr(ledger, name)) for name in names}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_steps_that_a_ledger_does_not_hear_leave_its_tables_as_they_were(name, monkeypatch):
    protocol, unheard = load_protocol(name), []
    known = tuple(rule for rule in load_rules(protocol.name).values() if protocol.name in rule.clauses)
    ledgers = compile_rules(protocol, known).ledgers
    for path in sorted((resources.fixtures() / name).glob("golden/*.ndjson"))[::3]:
        monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "off")
        world = World(protocol, ledgers)
        monkeypatch.setenv("RUNTIME_VALIDATE_FAST", "auto")
        hearing = Hearing(protocol, world._ledgers)

        def teach(step, teachers, world=world, hearing=hearing):
            heard = hearing.of(step)
            for kind, apply in teachers:
                before = tables(world.ledger(kind))
                apply(step)
                if (kind, apply) not in heard:
                    unheard.append(kind)
                    assert tables(world.ledger(kind)) == before, (kind, step.type)

        monkeypatch.setattr(world, "_teach", teach)
        for number, line in enumerate(told(path), start=1):
            world.apply(line, number)
    assert len(unheard) > 100
