"""A statement of certification as a Markdown page for whoever has to believe it, or to complete it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validator.renderers.markdown import code, escape

MEANING = {
    "pass": "looked at in some capture, and kept in all",
    "fail": "broken, and the profile counts it as a demand",
    "warn": "broken, and the profile counts it as a recommendation",
    "not_observed": "nothing in any capture puts it to the test: neither kept nor broken",
    "not_applicable": "belongs to a capability that was neither declared nor used",
    "not_judgeable": "captures alone cannot show it; `runtime-validate explain` says why",
    "suppressed": "left out by the caller",
    "error": "the tool failed; nothing is said about the runtime",
}
_FOUND = 20
"""Findings that are listed; the JSON form has more."""
_UNSEEN = 40
"""Event types and rows that are listed; the JSON form has all."""


def page(data: dict[str, Any], headline: str) -> str:
    """The whole page, from the data of the JSON form."""
    parts = (_opening(data, headline), _captures(data), _requirements(data), _findings(data), _missing(data))
    lines = [line for part in (*parts, _coverage(data), _repeating(data)) for line in part]
    return "\n".join(lines) + "\n"


def _opening(data: dict[str, Any], headline: str) -> Iterator[str]:
    yield "# Statement of conformance"
    yield f"\n**{escape(headline)}**\n"
    yield from (f"* {escape(reason)}" for reason in data["reasons"])
    profile = data["profile"]
    yield f"\nProfile `{code(profile['name'])}` of {data['protocol']}: {escape(profile['summary'])}"
    asked = sum(entry["required"] for entry in data["requirements"])
    if asked:
        lacking = sum(entry["required"] for entry in data["never_observed"])
        yield f"\nIt asks to see {asked} requirements by name, each in some capture; {asked - lacking} were seen."


def _captures(data: dict[str, Any]) -> Iterator[str]:
    yield "\n## Captures\n\n| File | Verdict | Events | Digest |\n|---|---|---|---|"
    for sample in data["captures"]:
        yield f"| {escape(sample['file'])} | {sample['verdict']} | {sample['events']} | `{sample['digest']}` |"


def _requirements(data: dict[str, Any]) -> Iterator[str]:
    totals = data["totals"]
    yield f"\n## Requirements\n\nOf {totals['requirements']} requirements, by their strongest outcome in any capture:\n"
    yield "| Outcome | Count | Meaning |\n|---|---|---|"
    for name, meaning in MEANING.items():
        if totals[name]:
            yield f"| {_words(name)} | {totals[name]} | {meaning} |"


def _findings(data: dict[str, Any]) -> Iterator[str]:
    found = data["findings"]
    if not found:
        return
    yield "\n## Findings\n\n| Where | Rule | Requirement | Expected | Fix |\n|---|---|---|---|---|"
    for entry in found[:_FOUND]:
        where, what = f"{entry['file']}:{entry['line']}", f"{entry['requirement']} ({entry['level']})"
        yield f"| {escape(where)} | {entry['rule']} | {what} | {escape(entry['expected'])} | {escape(entry['fix'])} |"
    if len(found) > _FOUND:
        yield f"\n{len(found) - _FOUND} more are in the JSON form."


def _missing(data: dict[str, Any]) -> Iterator[str]:
    asked = [entry for entry in data["never_observed"] if entry["required"]]
    others = [entry for entry in data["never_observed"] if not entry["required"]]
    if asked:
        yield "\n## Never observed, and the profile asks for it\n\nCapture these, and certify again.\n"
        yield from _wanted(asked)
    if others:
        yield "\n## Never observed, and not asked for\n"
        yield "This statement says nothing about these, neither good nor bad. They do not stand in its way.\n"
        yield from _wanted(others)
    if data["never_observed"]:
        yield f"\nNames such as `ORD001/near-redelivered` are streams in `fixtures/{data['protocol']}/rules`."


def _wanted(entries: list[dict[str, Any]]) -> Iterator[str]:
    yield "| Requirement | What it says | A story that would show it |\n|---|---|---|"
    for entry in entries:
        told = "; or ".join(escape(story) for story in entry["stories"][:2])
        says = entry["text"].replace("|", "\\|")
        yield f"| {entry['id']} ({entry['level']}) | {says} | {told} |"


def _coverage(data: dict[str, Any]) -> Iterator[str]:
    yield "\n## Coverage\n\nWhat occurs of the protocol; no measure of quality, and no condition.\n"
    yield "| What | Seen | Of all | Not seen |\n|---|---|---|---|"
    names = {"event_types": "event types", "table_rows": "rows of the state tables"}
    for name, entry in data["coverage"].items():
        unseen = ", ".join(f"`{code(one)}`" for one in entry["missing"][:_UNSEEN])
        if (more := len(entry["missing"]) - _UNSEEN) > 0:
            unseen += f" and {more} more, which the JSON form lists"
        yield f"| {names[name]} | {entry['seen']} | {entry['all']} | {unseen} |"


def _repeating(data: dict[str, Any]) -> Iterator[str]:
    yield "\n## Repeating it\n"
    yield "Whoever has the same digests judges the same captures by the same rules, and gets the same outcome.\n"
    yield "| Digest | Over what |\n|---|---|"
    yield f"| `{data['profile']['digest']}` | the profile, with all that it inherits |"
    yield f"| `{data['contract_digest']}` | schemas, tables and chapters of {data['protocol']} |"
    yield f"| `{data['rules_digest']}` | the source of every rule |"
    yield "| those of the captures | the files as they are: `sha256sum` gives the same |"
    yield f"\nJudged by {data['tool']['name']} {data['tool']['version']}:"
    command = f"certify --protocol {data['protocol'].replace('/', '@')} --profile {data['profile']['name']}"
    yield f"`runtime-validate {code(command)} FILE...`"


def _words(name: str) -> str:
    return name.replace("_", " ")
