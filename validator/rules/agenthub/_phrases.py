"""Texts that say nothing: data for the rules that ask a text to be specific.

A text is compared whole, in lower case, without punctuation at its ends and with single spaces. Rows are in English
and Chinese, the two languages of the protocol's page.
"""

from __future__ import annotations

import re
from typing import Any

FAILURES = frozenset(
    {
        "an error happened",
        "an error occurred",
        "an unknown error occurred",
        "an unexpected error occurred",
        "error",
        "execution failed",
        "failed",
        "failure",
        "fatal error",
        "internal error",
        "internal server error",
        "it failed",
        "oops",
        "operation failed",
        "run failed",
        "something went wrong",
        "sorry something went wrong",
        "task failed",
        "the operation failed",
        "the run failed",
        "there was a problem",
        "there was an error",
        "unexpected error",
        "unknown",
        "unknown error",
        "unknown failure",
        "出错了",
        "发生错误",
        "发生未知错误",
        "失败",
        "未知错误",
        "运行失败",
    }
)
NEXT_ACTIONS = frozenset(
    {
        "ask for help",
        "contact support",
        "contact your administrator",
        "n/a",
        "none",
        "nothing",
        "please retry",
        "please try again",
        "please try again later",
        "retry",
        "see logs",
        "see the logs",
        "todo",
        "try again",
        "try again later",
        "unknown",
        "请重试",
        "重试",
        "稍后重试",
        "请稍后重试",
    }
)
REASONS = FAILURES | frozenset(
    {
        "degraded",
        "incomplete",
        "limited",
        "missing data",
        "missing events",
        "missing evidence",
        "n/a",
        "no reason",
        "none",
        "not available",
        "other",
        "partial",
        "reduced quality",
        "the run is degraded",
        "the run was degraded",
        "the run degraded",
        "true",
        "unavailable",
        "unspecified",
        "yes",
        "降级",
        "已降级",
    }
)
QUESTIONS = frozenset(
    {
        "allow",
        "approval needed",
        "approval required",
        "approve",
        "are you sure",
        "confirm",
        "continue",
        "continue the run",
        "do you want to continue",
        "do you want to proceed",
        "go ahead",
        "may i continue",
        "next",
        "ok",
        "okay",
        "please approve",
        "please confirm",
        "please continue",
        "press continue",
        "proceed",
        "ready to continue",
        "resume",
        "shall i continue",
        "should i continue",
        "yes",
        "是否继续",
        "确认",
        "继续",
        "请确认",
        "请继续",
    }
)
SILENCE = (
    "after the timeout",
    "after timeout",
    "approval timed out",
    "approved automatically",
    "approved by default",
    "approved by timeout",
    "approved on timeout",
    "auto approved",
    "auto-approved",
    "automatic approval",
    "automatically approved",
    "no answer",
    "no objection in time",
    "no response",
    "nobody answered",
    "nobody objected",
    "time limit reached",
    "无人回应",
    "自动批准",
    "超时",
)
"""Parts of a reason that says an approval came from nobody; compared inside the text."""


def plain(text: str) -> str:
    """The text as the lists spell it."""
    words = re.sub(r"[\s_]+", " ", text.lower()).strip(" .,:;!?-。！？，…\"'")
    return words.replace(",", "").replace("'", "")


def generic(text: Any, phrases: frozenset[str]) -> bool:
    """True when a text is one of the phrases that say nothing."""
    return isinstance(text, str) and plain(text) in phrases


def by_silence(text: Any) -> bool:
    """True when a reason says that nobody decided."""
    return isinstance(text, str) and any(part in plain(text) for part in SILENCE)
