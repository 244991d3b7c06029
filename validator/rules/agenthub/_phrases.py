"""Texts that say nothing: data for the rules that ask a text to be specific.

A text says nothing when it is made of empty words alone, whatever their order: "Something went wrong", and "Oops,
something went wrong, please try again later" as well. One word that is not listed makes it specific. Rows are in
English and Chinese, the two languages of the protocol's page; Chinese has no spaces, so its empty words are taken out
of the text first.
"""

from __future__ import annotations

from validator.protocol.regex import compiled
from validator.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True)
class Empty:
    """Words that leave a text empty: English ones, and Chinese ones from the longest to the shortest."""

    english: frozenset[str]
    chinese: tuple[str, ...]


def _empty(english: str, chinese: str) -> Empty:
    return Empty(frozenset(english.split()), tuple(sorted(chinese.split(), key=len, reverse=True)))


_AGAIN = (
    "a again an and be few in is later minute minutes moment moments or please retry some sorry the this to try was"
)
_AGAIN_ZH = "请 稍后 稍候 片刻 一下 再试 再次 重试 重新 尝试 一次 抱歉 对不起 了 或 并 再"
_FAILED = (
    "are at cannot cant complete completed could encountered error errors exception execute execution fail failed "
    "failure fatal happened has have i internal issue issues it job not occured occurred oops operation problem "
    "process processed processing request run server something task that there time unable unexpected unknown we "
    "went what while whoops with wrong your"
)
_FAILED_ZH = (
    "出了点问题 出了问题 出错 发生 未知 内部 服务器 系统 意外 错误 异常 失败 问题 "
    "运行 执行 任务 操作 请求 处理 无法 完成 时 的"
)

FAILURES = _empty(f"{_AGAIN} {_FAILED}", f"{_AGAIN_ZH} {_FAILED_ZH}")
NEXT_ACTIONS = _empty(
    f"{_AGAIN} admin administrator ask assistance check contact detail details for help info information it log logs "
    "look more n no none not nothing now on our run see support task team todo unknown us wait you your",
    f"{_AGAIN_ZH} 联系 管理员 客服 技术 支持 查看 日志 详情 等待 运行 任务 后 无 暂无 未知",
)
REASONS = _empty(
    f"{_AGAIN} {_FAILED} available because data degraded due enough event events evidence for incomplete insufficient "
    "lack lacking lacks limited low missing n no none of only other partial quality reason reduced too true "
    "unavailable unspecified were yes",
    f"{_AGAIN_ZH} {_FAILED_ZH} 降级 已 事件 证据 数据 不足 不够 太少 过少 缺失 缺少 部分 不完整 "
    "有限 原因 质量 因为 由于 没有 未 够 足",
)
QUESTIONS = _empty(
    f"{_AGAIN} action agent ahead allow allowed approval approve are assistant button can click confirm confirmation "
    "continue continuing decision do execution for go here i it let lets like may me needed needs next now ok okay on "
    "permission press proceed ready request required requires resume run shall should step sure task tap up waiting "
    "want wants we with work would yes you your",
    "请 点击 按钮 按 继续 执行 运行 确认 确定 是否 批准 允许 同意 许可 审批 需要 等待 操作 动作 任务 "
    "下一步 步骤 这个 本次 此 该 要 将 以 可以 好的 吗 吧 你 您 我 的 想 智能体",
)

SILENCE = (
    r"\bauto(?:matic(?:ally)?)?[ -]?(?:approv|accept|allow|grant)",
    r"\b(?:approv\w*|accepted|allowed|granted|passed)\b[^.;]{0,20}\b(?:automatically|by default)\b",
    r"\b(?:approv\w*|accepted|allowed|granted|passed)\b[^.;]{0,20}\b(?:after|at|because of|by|due to|on|upon|when)\b"
    r" (?:(?:the|a|an|its|of|in|approval|review|request|[0-9]+ ?[a-z]*|hours?|minutes?|seconds?)[ -])*"
    r"(?:deadline|expir\w+|silence|time limit|time-?out|timer)\b",
    r"\b(?:approval|decision|gate|prompt|request|review(?:er)?)\b[^.;]{0,12}\btimed out\b",
    r"\b(?:deadline|time limit|time-?out|timer|waiting period|window)\b[^.;]{0,8}"
    r"\b(?:elapsed|expired|hit|passed|ran out|reached|was reached)\b",
    r"\bno (?:answer|objections?|reply|response)(?! (?:bod|code|header|payload|time))",
    r"\b(?:nobody|no one|no reviewer|none of the reviewers)\b[^.;]{0,12}"
    r"\b(?:answered|available|decided|objected|present|reacted|replied|responded)\b",
    r"^(?:approval |review )?(?:time-?out|timed out|silence)$",
    r"(?:自动|默认)(?:批准|通过|同意|放行|审批|允许)",
    r"超时(?:后|未|自动|默认|视为|即|则|批准|通过|同意|放行)",
    r"^.{0,6}超时$",
    r"(?:无人|没有人|没人|未收到|未获)(?:回应|应答|响应|答复|回复|处理|审批|审核|反对)",
)
"""What a reason says when an approval came from nobody; found inside the text, unless the text denies it."""
_DENIED = r"(?:\bnot|\bnever|\bno longer|\bnot an?|n't|\bwithout(?: an?)?|并非|不是|没有|非|不)\s*$"


def plain(text: str) -> str:
    """The text in lower case, with single spaces and without punctuation at its ends."""
    words = compiled(r"[\s_]+").sub(" ", text.lower()).strip(" .,:;!?-。！？，…\"'")
    return words.replace(",", "").replace("'", "")


def generic(text: Any, empty: Empty) -> bool:
    """True when a text is made of empty words alone."""
    return isinstance(text, str) and all(word in empty.english for word in _left(plain(text), empty.chinese))


def _left(text: str, chinese: tuple[str, ...]) -> list[str]:
    """The words of a text without Chinese ones that are empty."""
    for word in chinese:
        text = text.replace(word, " ")
    return compiled(r"[^\W_]+").findall(text)


def by_silence(text: Any) -> bool:
    """True when a reason says that nobody decided."""
    if not isinstance(text, str):
        return False
    told = plain(text)
    found = (match for pattern in SILENCE for match in compiled(pattern).finditer(told))
    return any(not compiled(_DENIED).search(told[: match.start()]) for match in found)
