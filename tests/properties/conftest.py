"""What tests of the short way for streamed text watch."""

import pytest

from validator import echo


@pytest.fixture
def taken(monkeypatch):
    """Counts the lines that took the short way."""
    lines, way, row = [], echo.Echoes.take, echo.Echoes.take_row

    def watched(self, raw, number, offset):
        found = way(self, raw, number, offset)
        lines.extend([raw] if found else [])
        return found

    def watched_row(self, data, start, number, offset):
        count, end = row(self, data, start, number, offset)
        found = data[start:end].split(b"\n")[:-1]
        assert len(found) == count
        lines.extend(found)
        return count, end

    monkeypatch.setattr(echo.Echoes, "take", watched)
    monkeypatch.setattr(echo.Echoes, "take_row", watched_row)
    return lines
