"""Hypothesis profiles, and copies of the contract that a test may break."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, settings

from validator import engine, resources
from validator.protocol.formats import is_date_time
from validator.protocol.protocol import Protocol, available, load_protocol

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much]}
settings.register_profile("dev", max_examples=10, **_COMMON)
settings.register_profile("ci", max_examples=15, derandomize=True, database=None, **_COMMON)
settings.register_profile("deep", max_examples=300, **_COMMON)
os.environ.setdefault("RUNTIME_VALIDATE_CACHE", "off")
"""Tests leave nothing in anybody's home."""
engine.FEW = 0
"""The captures of tests are short, and yet the short way for streamed text is to be tested."""
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

PROTOCOLS = available()


def strangers_validator(schema: dict):
    """A validator that shares no code with ours, formats on."""
    return jsonschema_rs.validator_for(schema, validate_formats=True, formats={"date-time": is_date_time})


@pytest.fixture
def core() -> Protocol:
    return load_protocol("agent-runtime")


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    """A private copy of the schemas and the spec, to be broken on purpose."""
    shutil.copytree(resources.schemas(), tmp_path / "schemas")
    shutil.copytree(resources.spec(), tmp_path / "spec")
    return tmp_path
