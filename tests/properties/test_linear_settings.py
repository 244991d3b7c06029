"""What suppressions and baselines take grows with their entries, and no faster.

Counted are the lines of our own code that are run, so that no clock is asked, and how often a file is read for lines.
"""

import yaml

from tests.bench.work import lines_run
from validator import baseline, config
from validator.records import replace
from validator.rules import Finding
from validator.suppressions import Suppressions

FEW, TIMES, MOST = 50, 4, 4.2


def suppressing(folder, count):
    path = folder / "runtime-validate.toml"
    entries = (f'[[suppress]]\nfingerprint = "{number:016x}"\nreason = "known so far"\n' for number in range(count))
    path.write_text("\n".join(entries))
    return path


def work_of(folder, count):
    path = suppressing(folder, count)
    config.load(path)
    return lines_run(lambda: config.load(path))


def test_four_times_the_suppressions_are_read_with_four_times_the_work(tmp_path):
    assert work_of(tmp_path, FEW * TIMES) < MOST * work_of(tmp_path, FEW)


def test_a_finding_is_held_only_against_suppressions_that_may_fit_it(tmp_path):
    found = Finding(1, "this", "that", rule="TRM001", clause="TASK-8")

    def asked(count):
        entries = config.load(suppressing(tmp_path, count)).suppressions
        fitting = replace(entries[0], fingerprint=found.fingerprint)
        suppressions = Suppressions((*entries, fitting), "2026-05-08")
        assert suppressions.decide(found)
        return lines_run(lambda: suppressions.decide(found))

    assert asked(FEW * TIMES) == asked(FEW)


def test_the_first_suppression_that_fits_is_used_whether_or_not_it_names_a_fingerprint(tmp_path):
    found = Finding(1, "this", "that", rule="TRM001", clause="TASK-8")
    entry = config.load(suppressing(tmp_path, 1)).suppressions[0]
    named = replace(entry, fingerprint=found.fingerprint, reason="by its fingerprint")
    ruled = replace(entry, fingerprint="", rule="TRM", reason="by its rule")
    for first, second in ((named, ruled), (ruled, named)):
        assert Suppressions((entry, first, second), "2026-05-08").decide(found).reason == first.reason


def test_a_baseline_is_read_for_lines_once(tmp_path, monkeypatch):
    path, read = tmp_path / "b.json", []
    compose = yaml.compose
    monkeypatch.setattr(yaml, "compose", lambda *given, **more: read.append(1) or compose(*given, **more))
    entries = {
        f"{number:016x}": baseline.Entry(f"{number:016x}", "TRM001", 1, "known so far", "TASK-8")
        for number in range(FEW)
    }
    path.write_text(baseline.dump(entries))
    lines = [entry.line for entry in baseline.load(path).entries.values()]
    assert (len(read), len(lines)) == (1, FEW)
    assert lines == [number for number, text in enumerate(path.read_text().splitlines(), 1) if text == "    {"]
