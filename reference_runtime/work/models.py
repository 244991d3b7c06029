"""Scripted context, routing and model calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_runtime.work.plan import Op, Planner, step

_USAGE = {"input_tokens": 120, "output_tokens": 16, "cached_tokens": 0, "total_tokens": 136}


@step("context")
def context(planner: Planner, said: Any) -> Iterator[Op]:
    """What the model gets to see."""
    selected = [{"ref": "memory://style", "kind": "memory"}]
    yield planner.fact("context.resolved", {"selected": selected, "missing": [], "warnings": [], "tokens": 900, **said})


@step("catalog")
def catalog(planner: Planner, said: Any) -> Iterator[Op]:
    """The tools the turn has."""
    inventory = {"tools": list(planner.settings.tools), "caller": "assistant", "mode": planner.settings.mode}
    yield planner.fact("tool.catalog.resolved", {**inventory, "policy": "workspace", **said})


@step("route")
def route(planner: Planner, said: Any) -> Iterator[Op]:
    """What the work needs, who could serve, and who does: `candidates` names the models, none of them is a block."""
    models = said.get("candidates", [planner.settings.model])
    provider = planner.settings.provider
    profile = {"kind": "chat", "source": "user", "fallback_policy": said.get("fallback_policy", "allow")}
    yield planner.fact("task.profile.resolved", {**profile, "latency_target": "interactive", "budget_class": "medium"})
    found = {"candidate_count": len(models), "candidates": [{"provider": provider, "model": name} for name in models]}
    yield planner.fact("routing.candidates.resolved", {**found, "excluded": said.get("excluded", [])})
    if not models:
        reason = {"reason": "No candidate meets the constraints.", "candidate_count": 0, "gaps": ["credential"]}
        yield planner.fact("routing.not_possible", reason)
        return
    decided = {
        "routing_mode": "single_candidate" if len(models) == 1 else "multi_candidate",
        "decision_source": "explicit_default" if len(models) == 1 else "policy_auto",
        "decision_reason": "The first candidate that can serve.",
        "selected_provider": provider,
        "selected_model": models[0],
        "candidate_count": len(models),
        "fallback_chain": models[1:],
        "capability_gap": "none",
    }
    yield planner.fact("routing.single_candidate" if len(models) == 1 else "routing.decided", decided)


@step("model")
def model(planner: Planner, said: Any) -> Iterator[Op]:
    """One call of a provider: what it says, thinks and costs, or how it fails."""
    request, name = planner.new("request"), said.get("model", planner.settings.model)
    ids = {"model_request_id": request}
    bill = {"model_request_id": request, "model": name, "currency": "USD"}
    yield planner.fact("cost.estimated", {**bill, "estimated_cost_class": "low", "estimated_total_cost": 0.002}, **ids)
    call = {"provider": planner.settings.provider, "model": name, "raw_request_ref": f"raw://{request}"}
    yield planner.fact("model.requested", call, **ids)
    if "limit" in said:
        yield from _limit(planner, said["limit"], request)
    for text in said.get("reasoning", ()):
        yield planner.fact("reasoning.delta", {"text": text}, **ids)
    if "thought" in said:
        yield planner.fact("reasoning.summary", {"text": said["thought"]}, **ids)
    for index, text in enumerate(said.get("say", ())):
        yield planner.fact("model.delta", {"delta": text, "index": index}, **ids)
    if "delay" in said:
        yield {"delay": said["delay"]}
    if "fail" in said:
        failure = {
            "category": "provider",
            "message": "The provider gave up.",
            "retryable": True,
            "recovery": "Try again.",
        }
        yield planner.fact("model.failed", {"error": {**failure, **said["fail"]}, "retryable": True}, **ids)
        return
    usage = said.get("usage", _USAGE)
    yield planner.fact("model.completed", {"usage": usage, "stop_reason": said.get("stop", "end")}, **ids)
    yield planner.fact("cost.recorded", {**bill, "usage": usage, "actual_total_cost": 0.001}, **ids)


def _limit(planner: Planner, kind: str, request: str) -> Iterator[Op]:
    """A limit that the call met; only a block stops the turn."""
    words = {"rate_limit.hit": "rate_limit", "quota.low": "quota_low", "quota.blocked": "quota_blocked"}
    status = {"quota.low": "low", "quota.blocked": "exceeded"}.get(kind, "ok")
    state = {"status": status, "kind": "quota" if kind.startswith("quota") else "rate"}
    said = {"event_kind": words[kind], "message": "The provider's limit was met.", "retryable": True}
    yield planner.fact(kind, {**said, "retry_after_ms": 1000, "limit_state": state}, model_request_id=request)


@step("fallback")
def fallback(planner: Planner, said: Any) -> Iterator[Op]:
    """Another model steps in."""
    provider = planner.settings.provider
    change = {"from_model": planner.settings.model, "from_provider": provider, "to_provider": provider}
    yield planner.fact("routing.fallback.applied", {**change, "reason": "The first choice cannot serve.", **said})
