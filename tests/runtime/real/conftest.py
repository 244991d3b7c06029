"""A floor for each test, cleared afterwards: no process and no open handle is left."""

import sys

import pytest

from tests.runtime.real.floor import Floor, handles


def pytest_collection_modifyitems(items):
    reason = "real work needs /proc and handles on processes"
    for item in items:
        if sys.platform != "linux" and "tests/runtime/real" in item.nodeid:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def floor(tmp_path):
    """Makes floors, at most one for each test."""
    made, before = [], handles()

    def make(work=None, **settings):
        made.append(Floor(tmp_path, work, **settings))
        return made[-1]

    yield make
    for one in made:
        one.bench.close()
    assert handles() == before
