"""What a verdict takes grows with a capture, and no faster, whatever there is much of."""

import pytest

from tests.bench.crowds import CROWDS
from tests.bench.work import work

FEW, TIMES = 480, 4
"""So many that a rule keeps no more findings of more of them."""
STORIES = {name: story for stories in CROWDS.values() for name, story in stories.items()}
MOST = 4.3
"""How much more lines of code four times as much may take; what is found out once makes it less than four."""


@pytest.mark.parametrize("name", STORIES)
def test_four_times_as_much_takes_four_times_the_work(name):
    assert work(STORIES[name](FEW * TIMES)) < MOST * work(STORIES[name](FEW))
