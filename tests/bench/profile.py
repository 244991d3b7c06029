"""Shows where the time of a verdict goes, and writes it down: `python -m tests.bench.profile [EVENTS]`.

A profiler that follows every call slows small functions down more than large ones, so the program is interrupted every
now and then instead, and what it is doing is counted. What a family of rules costs is measured by judging with it
alone: reading and replay are in every such verdict, so a verdict with hardly a rule is taken off.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from tests.bench.bench import write
from validator.engine import Options, Validator
from validator.rules._catalog import load_rules

RESULTS = Path(__file__).with_name("PROFILE.md")
STAGES = {
    ("echo.py", "take"): "streamed text, the short way",
    ("echo.py", "before"): "streamed text, ending the short way",
    ("echo.py", "after"): "streamed text, beginning the short way",
    ("echo.py", "_prepare"): "streamed text, beginning the short way",
    ("capture/ndjson.py", "_line"): "read and decode",
    ("capture/canonical.py", "event"): "keys, kinds and casing",
    ("capture/lines.py", "line_errors"): "schema",
    ("replay/order.py", "meet"): "duplicates",
    ("replay/order.py", "place"): "order",
    ("replay/fold.py", "drive"): "state tables",
    ("replay/world.py", "_teach"): "ledgers",
    ("asking.py", "ask"): "rules, leaks and schema among them",
    ("rules/redaction/_leaks.py", "_look"): "leaks",
}
HARDLY_ANY = "FRM001"
EVERY = 0.001
ROUNDS = 3
MOST = 20
WHY = """## Why it is what it is

A verdict without rules (read, decode, order, duplicates, state tables, the short way for text) takes the share that the
second table calls `no rules`; that alone is about what Ajv's standalone code needs for the schema. A piece of streamed
text costs a tenth of any other line: it is matched against the piece before, and the digest that tells it from one
delivered again is a quarter of that. Where pieces of one stream follow one another they are looked at in rows and kept
in stretches, which takes half of the time (a single long talk went from 7.3 to 3.8 us a line); the measured stream
mingles six sessions, three lines at a time, and has no rows. Any other line is shown to a dozen ledgers and put to as
many questions that stand for its rules; two to five rules are still asked each time. That is some 350 calls of Python
and 8,700 instructions of its interpreter (3,100 on the average of all lines), and none of the functions takes more than
four parts in a hundred. What keys and kinds of values decide (schema, leaks, who listens) is decided once per layout,
so what is left depends on values.

What was tried and did not help: the forty-five hottest modules compiled by Cython as they are were slower than the
interpreter, and one ledger with typed classes and declared fields ran 2.2 times as fast, a rule 1.3 times; the forty
hottest compiled by mypyc together, records as native classes among them, made the whole 1.37 times as fast. PyPy 7.3
for Python 3.11 takes 1.8 times as long as CPython once it is warm and 2.8 times on 100,000 events: the way of one event
is too long for its traces. Another build of the same interpreter (Debian's) is level. So neither to compile nor another
interpreter can give the factor that is missing: the time goes into dictionaries, texts and objects. To decode, check
and scan a block of lines before judging them gives a tenth of those parts; a garbage collector that is switched off
saves three parts in a hundred beside the thresholds that the command sets. Most ledgers take two to three times as long
among the others as over the same steps in a row (3 and 1.3 us, 2 and 0.8); lines of one type that follow one another
are no faster than mingled ones, so only calling less often helps. A walk over a document that remembers each of its
objects by keys and kinds, in place of the document as a whole, took a quarter longer.

How much of a stream is text decides, and so does its length (`RESULTS.md`). The measured stream has 30 pieces an
answer, the median of 78 real answers of two providers; on the average these have 76 and 100, and nearly nine in ten of
their events are pieces of text. At 6,000 events a whole verdict ends before Ajv's standalone code does, which needs
half a second to become fast; at 1,200 it takes 1.04 times as long, because of its start. With answers of 300 pieces the
two are about level at 100,000 events, with answers of 85 it takes 1.8 times as long. Arguments that come in pieces take
the short way as well, and so does the text of agent-threads, whose lines take half of what those of the core do; Ajv
takes a sixth of that, because its schemas are a few properties each.

The machine decides too, and so does the day: the first column below holds figures of one run of this state but for
memory, the second those of an earlier one; interpreter and peers are the same. Earlier runs on the first kind gave
0.437 and 0.410 in the first row, though side by side the state of then takes seven parts in a hundred longer than this
one (1.42 and 1.32 s in process, 30,000 events): a tenth and more is what such a ratio scatters by. At 100,000 events
the second machine takes twice as long.

| ratio | meant | AMD EPYC | Intel Xeon, 2.5 GHz |
|---|---|---:|---:|
| to Ajv, standalone code, at 100,000 and 1,000,000 events | at least 1 | 0.382, 0.166 | 0.327, 0.165 |
| to Ajv, compiled at start | at least 1.6 | 0.693, 0.196 | 0.502, 0.182 |
| to `jq -c .` | at least 2 | 0.308, 0.316 | 0.270, 0.274 |
| to the plain jsonschema loop | at least 40 | 7.0, 7.0 | 8.0, 7.9 |
| time to that of orjson, in process | at most 3.5 | 45.8, 48.8 | 40.5, 41.9 |
| two jobs to one | at least 1.6 | 1.68, 1.75 | 1.58, 1.60 |
| two jobs to Ajv, standalone code | at least 1.4 | 0.366, 0.241 | 0.319, 0.220 |
| memory at ten million events to one million, the duplicate check aside | at most 1.5 | 1.39 | 1.44 |
| 200 events to `import click` | at most 2 | 2.76 to 2.98 | 4.11, before modules lay in one entry |
| a durable command to bare SQLite with the same rows | at most 2 | 1.59 to 1.72 | 2.47 to 2.50, an earlier state |

Most of a durable command of the second machine is Python, because its disk takes no time: a commit of bare SQLite with
`synchronous=FULL` ends within a quarter of a millisecond there.

The short way for text carries a stream only as long as pieces repeat one another, so what writers vary was looked for:
casing, zones, escapes, counters and fields of vendors take it too (`LIMITS.md`, written otherwise); each made a stream
more than twice as slow before.

What finds leaks was chosen by figures, in microseconds a line (477 bytes on the average, no text): Hyperscan with all
patterns 3.5, and no line is left over; the needles of the patterns with RE2 3.2, with Aho-Corasick 6.2, with the
standard library 15.5, but nine of them (a slash, a colon, `token`) stand in every line, so that needles alone exclude
none; the plan of a layout, by which only texts that are new are searched, 3 where ids are fresh. So the plan is the
rule; Hyperscan is asked about long lines with unknown text.

Two jobs judge sessions apart where these have nothing in common: a line of a session that somebody else judges costs a
look at its bytes, a twentieth of judging it. Where sessions are joined, or a line concerns all of them, the rules are
shared out, and each reads, orders and replays every line. The first is what a check does from 16 MiB on unless it is
told otherwise; the second takes more of the processors together, and is left to those who ask for it. A check of 200
events takes 2.8 times `import click`, 200 plainer ones 1.9 times, one event 1.5, a short capture of a dialect 1.3: the
interpreter and the standard library are an eighth of it, our 390 modules a fifth, the contract and its digest a
twelfth, and the rest is the first line of every layout (147 in those 200 lines) and what events cost anyhow. Nothing in
it stands out: 215,000 calls, of which no function has more than three parts in a hundred, and 206 of the 232 rules are
run. Of what it took before, a quarter is gone: the code of all modules lies in one entry of the cache, trusted by time
and size of each source (9 of 113 ms), the process ends without taking itself apart (4), neither `typing` nor `json` and
`re` are loaded (2 and 4), modules are loaded without what the import system does around each (4), no constructor is
compiled (2), and the largest entry is read where the system holds it (2). Memory counts: to touch a page for the first
time takes 3 us where the machine is a guest, and of 4,600 pages 1,300 hold the code of modules. Rules whose modules are
loaded when they are first asked would save 7 ms of one event, 3 of a plain capture and none of these 200, and the
tables that rules, clauses and ledgers are compiled into 3 at most. A durable command takes 1.6 to 1.7 times the bare
commit of its rows: of a record that kept its place in the indexes it writes the text alone, which a database that knows
nothing but the rows cannot. Beside one that is given the very statements it takes 1.9 to 2.2 times as long. The rest
goes into some three hundred small calls, of which reading and writing in one transaction would save one or two in a
hundred. Memory for ten times the events grows by four bytes an event beside the duplicate check, what stays of subjects
that are over: 112 MB at a million events and 364 MB at ten million, of which the duplicate check takes 25 and 240.

Known to take more than five times as long per byte, and to grow with the square: forgetting, which every 10,000 lines
walks all that is open (5 times with 200,000 calls open at once, 9 with as many tasks within tasks). Counts of who names
an id would help, and tables that look again only at what such a count let go of. Snapshots, views, transcripts, trees
and exports cost what they show, and members and siblings in one state are told of together (`tests/bench/crowds`); many
turns at work at once in one session that is served after every event still cost more the more there are (a fifth more
at 2,000 than at 400). Linear, but dear: lines that cannot be read, if they are very short (a sixth of what another line
takes; 5 times as much per byte at eight bytes, 22 at two), queued turns (11), long lists of paths in one line and
snapshots of a thread (10), small exports that are refused (33). The runtime builds a queue anew for every command that
touches it (23 ms with 1,000 turns that wait). In agent-threads a run that committed may still be superseded, so each
event leaves 44 bytes for good, beside the duplicate check.

Next, in the order of what it may give. Events that repeat an earlier one of another call or turn but for their ids,
judged by what that one came to: the way to a multiple, but every ledger would have to say what of its state such an
event rests on, and real calls differ in numbers that rules compare. To compare whole sessions instead needs nothing of
the ledgers, since sessions are judged apart already; it would pay only where sessions repeat as a whole, as those of
the measured stream do and those of users do not, so it would flatter the figures and help nobody. Then: ledgers that
nobody reads yet, shown their steps in bulk, which halves their cost; ledgers with nothing open that hear only what
opens something; rows of a table for what ledgers remember, so that one native loop serves most of them; for the
runtime, one generated function per type of event that learns from it.
"""


def feed(path: Path, select: tuple[str, ...] = ()) -> float:
    """Seconds of the processor that judging a file takes, without loading rules and contract."""
    options = Options(protocol="agent-runtime", expect="prefix", select=select)
    judge = Validator(path.name, options)
    with path.open("rb") as stream:
        judge.feed(stream.readline())
        start = time.process_time()
        while data := stream.read(1 << 16):
            judge.feed(data)
        return time.process_time() - start


def sampled(path: Path) -> tuple[Counter[str], int]:
    """How often each stage, rule and ledger was at work, and how often anybody looked."""
    found: Counter[str] = Counter()
    looks = 0

    def look(_signal: int, frame: FrameType | None) -> None:
        nonlocal looks
        looks += 1
        names = set()
        while frame is not None:
            names.add(_named(frame.f_code))
            frame = frame.f_back
        found.update(names - {""})

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        feed(path)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return found, looks


def _named(code: Any) -> str:
    short = code.co_filename.partition("/validator/")[2]
    if (short, code.co_name) in STAGES:
        return STAGES[short, code.co_name]
    if short.startswith("rules/") and code.co_name in {"check", "apply"}:
        return f"{'rule' if code.co_name == 'check' else 'ledger'} `{short.removeprefix('rules/')}`"
    return ""


def families(path: Path) -> dict[str, float]:
    """The share of a whole verdict that hardly a rule takes, and what each family adds to that."""
    names = sorted({rule[:3] for rule, entry in load_rules().items() if "agent-runtime" in entry.clauses})
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for select in ("", HARDLY_ANY, *names):
            best[select] = min(best.get(select, 1e9), feed(path, (select,) if select else ()))
    whole, none = best[""], best[HARDLY_ANY]
    return {"no rules": none / whole} | {name: (best[name] - none) / whole for name in names}


def _table(head: str, shares: list[tuple[str, float]]) -> str:
    return "\n".join((f"| {head} | share |", "|---|---:|", *(f"| {name} | {share:.1%} |" for name, share in shares)))


def main(events: int) -> None:
    path = Path("build") / "profile.ndjson"
    written = write(path, events)
    gc.set_threshold(50_000, 20, 20)  # as the command does
    feed(path)
    found, looks = sampled(path)
    stages = [(found[name], name) for name in dict.fromkeys(STAGES.values())]
    parts = sorted(((times, name) for name, times in found.items() if name not in STAGES.values()), reverse=True)
    shares = [(name, times / looks) for times, name in (*sorted(stages, reverse=True), *parts[:MOST])]
    adds = sorted(families(path).items(), key=lambda entry: -entry[1])
    page = "\n\n".join(
        (
            "# Where the time of a verdict goes",
            f"{written:,} events of `tests/bench/talk.py`. Written by `make profile`.",
            "Shares of the time at work, what is called from within included:",
            _table("part", shares),
            "What a verdict with one family alone takes more than one with hardly a rule, to a whole verdict:",
            _table("rules", adds),
            WHY,
        )
    )
    RESULTS.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60_000)
