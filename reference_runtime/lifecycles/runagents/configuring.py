"""Reads the settings of a platform from a YAML file.

    tools:
      - {tool_id: stripe}
      - {tool_id: calendar, authorization_url: https://accounts.example/consent}
    rules:
      - {effect: approval_required, tool_id: stripe}
    agents:
      refund-agent: [{call: {tool_id: stripe, capability: POST /v1/refunds, payload: {order: 1}}}, {say: Done.}]
    destinations:
      siem: {url: https://splunk.example:8088, token_env: SPLUNK_TOKEN}

A token stands in the environment, never in the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from reference_runtime.lifecycles.runagents.collector import HecCollector
from reference_runtime.lifecycles.runagents.policy import EFFECTS, Answer, Call, Policy, Rule, Tool
from reference_runtime.lifecycles.runagents.settings import Settings
from reference_runtime.lifecycles.runagents.worker import STEPS

_PLAIN = ("vocabulary", "approval_window", "host")


def configured(path: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings that a file gives; a ValueError says what is wrong with it."""
    said = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    try:
        policy = Policy(tuple(map(_tool, said.get("tools", ()))), tuple(map(_rule, said.get("rules", ()))))
        agents = {name: [_step(step) for step in steps] for name, steps in said.get("agents", {}).items()}
        places = {name: _place(name, place, environment) for name, place in said.get("destinations", {}).items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"the settings do not have the shape of settings: {error}") from error
    plain = {name: said[name] for name in _PLAIN if name in said}
    return Settings(policy=policy, agents=agents, destinations=places, **plain)


def _tool(said: dict[str, Any]) -> Tool:
    return Tool(said["tool_id"], _always(said.get("status_code", 200)), said.get("authorization_url"))


def _always(status_code: int) -> Callable[[Call], Answer]:
    return lambda call: Answer(status_code, None if status_code < 400 else "The tool failed.")


def _rule(said: dict[str, Any]) -> Rule:
    if said["effect"] not in EFFECTS:
        raise ValueError(f"the effect of a rule is one of {', '.join(EFFECTS)}")
    return Rule(**said)


def _step(said: dict[str, Any]) -> dict[str, Any]:
    if len(said) != 1 or not said.keys() <= set(STEPS):
        raise ValueError(f"a step of an agent is one of {', '.join(STEPS)}")
    if "call" in said:
        Call(**said["call"])
    return said


def _place(name: str, said: dict[str, Any], environment: Mapping[str, str]) -> HecCollector:
    if said["token_env"] not in environment:
        raise ValueError(f"the token of the destination {name} is not in the environment")
    return HecCollector(said["url"], environment[said["token_env"]])
