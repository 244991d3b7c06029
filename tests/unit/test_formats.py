"""One date-time check decides for every engine."""

import pytest

from validator.protocol.formats import is_date_time, parse_date_time


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-08T09:30:00Z",
        "2026-05-08t09:30:00z",
        "2026-05-08T09:30:00.123456789Z",
        "2026-05-08T09:30:00+05:30",
        "2024-02-29T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2017-01-01T05:29:60+05:30",
    ],
)
def test_an_instant_that_exists_is_accepted(text):
    assert is_date_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2016-12-31T23:58:60Z",
        "2026-01-01T00:00:00Z\n",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00+0000",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+05:60",
        "2026-01-01T00:00Z",
        "2026-01-01T00:00:00,5Z",
        "0000-01-01T00:00:00Z",
        "9999-12-31T23:59:59-01:00",
        "٢٠٢٦-01-01T00:00:00Z",
        "1767225600",
        "",
    ],
)
def test_an_instant_that_cannot_exist_is_refused(text):
    assert not is_date_time(text)


def test_offsets_name_the_same_instant():
    assert parse_date_time("2026-05-08T09:30:00+02:00") == parse_date_time("2026-05-08T07:30:00Z")


def test_what_is_finer_than_a_microsecond_is_cut_off():
    assert parse_date_time("2026-05-08T09:30:00.123456789+00:00").microsecond == 123456


def test_what_is_no_string_is_not_judged_by_a_format():
    assert is_date_time(7)
