"""May it run? Rules, the catalogue, the mode and hooks are weighed; deny and ask are stronger than any allow.

A rule names a tool, a pattern that its subject has to fit, and a decision. The subject of a file tool is its path;
that of a shell is each command of its line, so `ls; rm x` is also `rm x`. One part that fits is enough to deny or to
ask; to allow, every part has to fit, and nothing may be hidden in a substitution or sent elsewhere by a redirection.
Patterns over a shell are a convenience for people and no boundary: a program can do what its name does not say.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from reference_runtime.settings import Settings

_DECISIONS = {
    "allowed": "allow",
    "ask": "ask",
    "denied": "deny",
    "sandboxed": "sandboxed",
    "unavailable": "unavailable",
}
_HIDDEN = re.compile(r"\$\(|`|<\(|>|<|\$\{|\beval\b|\n")
_SUBSTITUTED = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_OPERATORS = re.compile(r"[;&|()<>`]+")
_REDIRECTS = re.compile(r"&?[<>]+&?")


@dataclass(frozen=True, slots=True)
class Vote:
    """What was decided, by whom and why."""

    decision: str
    source: str
    reason: str
    rules: list[str] = field(default_factory=lambda: ["rule://catalogue"])


def weigh(settings: Settings, tool: dict[str, Any], args: dict[str, Any] | None, mode: str, hook: str = "") -> Vote:
    """The one decision that all voices come to; `args` is None where they are not known yet."""
    policy = tool.get("policy", "ask")
    first = _DECISIONS[policy]
    plain = Vote(first, "rule", f"The catalogue says {policy} and the mode is {mode}.")
    if first in {"deny", "unavailable"}:
        return plain
    ruled = _ruled(settings, tool, args)
    if ruled and ruled.decision == "deny":
        return ruled
    if mode == "plan" and not tool.get("is_read_only"):
        return Vote("deny", "mode", "In mode plan nothing is changed.")
    if hook == "ask" and (ruled is None or ruled.decision != "ask"):
        ruled = Vote("ask", "hook", "A hook wants a person to decide.", ["rule://hook"])
    return _in_mode(ruled or plain, tool, mode, by_default=ruled is None)


def explained(vote: Vote, mode: str, target: str, tool: dict[str, Any]) -> dict[str, Any]:
    """A decision as `permission.evaluated` tells it."""
    said = {
        "decision": vote.decision,
        "decision_source": vote.source,
        "decision_reason": vote.reason,
        "rule_refs": vote.rules,
        "mode": mode,
        "scope": "once",
        "target_kind": target,
        "destructive": bool(tool.get("is_destructive")),
    }
    if said["destructive"]:
        said |= {"impact_scope": "the workspace", "rollback_advice": "Restore the last commit."}
    return said


def _in_mode(vote: Vote, tool: dict[str, Any], mode: str, by_default: bool) -> Vote:
    """What a mode makes of a decision: it may tighten, and loosen only what nobody asked about in particular."""
    if mode == "untrusted" and vote.decision == "allow" and not tool.get("is_read_only"):
        return Vote("ask", "mode", "In mode untrusted only reading goes unasked.", vote.rules)
    if vote.decision != "ask":
        return vote
    if mode == "never":
        return Vote("deny", "mode", f"{vote.reason} Nobody can be asked.", vote.rules)
    if mode in {"bypass", "auto"} and by_default and not tool.get("is_destructive"):
        return Vote("allow", "mode", f"In mode {mode} the catalogue's question is not asked.", vote.rules)
    return vote


def _ruled(settings: Settings, tool: dict[str, Any], args: dict[str, Any] | None) -> Vote | None:
    """The strictest rule that speaks about a call, if one does."""
    about = [rule for rule in settings.rules if fnmatchcase(tool.get("tool_name", ""), rule.get("tool", "*"))]
    found = [(rule, decision) for rule in about if (decision := _fits(rule, tool, args))]
    for decision in ("deny", "ask", "sandboxed", "allow"):
        spoken = [rule for rule, said in found if said == decision]
        if spoken:
            reason = spoken[0].get("reason", f"A rule says {decision}.")
            return Vote(decision, "rule", reason, [f"rule://{rule['id']}" for rule in spoken])
    return None


def _fits(rule: dict[str, Any], tool: dict[str, Any], args: dict[str, Any] | None) -> str | None:
    decision, pattern = rule["decision"], rule.get("match", "*")
    if pattern == "*":
        return decision
    if args is None:  # it may fit, and nobody can tell yet
        return "ask" if decision in {"deny", "ask"} else None
    parts = subjects(args)
    fitting = [part for part in parts if fnmatchcase(part, pattern)]
    if decision in {"deny", "ask"}:
        return decision if fitting else None
    line = args.get("command", "")
    return decision if parts and fitting == parts and not _HIDDEN.search(line) else None


def subjects(args: dict[str, Any]) -> list[str]:
    """What rules look at: the commands of a line with single spaces between words, or the path."""
    if "command" in args:
        return commands(args["command"])
    return [args["path"]] if "path" in args else []


def commands(line: str) -> list[str]:
    """The commands of a shell line, operators taken out; the line itself where it cannot be read."""
    try:
        lexer = shlex.shlex(line.replace("\n", " ; "), posix=True, punctuation_chars=";&|()<>`")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return [" ".join(line.split())]
    parts: list[list[str]] = [[]]
    for before, word in zip(["", *words], words, strict=False):
        if _REDIRECTS.fullmatch(before) or _REDIRECTS.fullmatch(word):
            continue  # where a redirection leads is no command
        if _OPERATORS.fullmatch(word):
            parts.append([])
        elif parts[-1] or not _ASSIGNED.match(word):
            parts[-1].append(word)
    inner = [part for pair in _SUBSTITUTED.findall(line) for text in pair if text for part in commands(text)]
    found = [" ".join(part) for part in parts if any(word.strip("$") for word in part)]
    return list(dict.fromkeys(found + inner)) or [" ".join(line.split())]
