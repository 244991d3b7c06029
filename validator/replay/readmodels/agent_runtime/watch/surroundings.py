"""Pieces of what surrounds the work: rules and environment, routing, results, and peers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from validator.replay.readmodels.agent_runtime import artifacts, evidence, hooks
from validator.replay.readmodels.agent_runtime.artifacts import Artifacts
from validator.replay.readmodels.agent_runtime.channels import Channels
from validator.replay.readmodels.agent_runtime.environment import Environment
from validator.replay.readmodels.agent_runtime.evidence import Evidence, Outputs
from validator.replay.readmodels.agent_runtime.facts import Facts
from validator.replay.readmodels.agent_runtime.hooks import Hooks
from validator.replay.readmodels.agent_runtime.permissions import Permissions
from validator.replay.readmodels.agent_runtime.records import as_record
from validator.replay.readmodels.agent_runtime.routing import Routing
from validator.replay.readmodels.agent_runtime.scope import NOWHERE, Scope
from validator.replay.readmodels.agent_runtime.tools import Catalogues
from validator.replay.readmodels.agent_runtime.watch.piece import (
    IN_SESSION,
    NOTHING,
    SHELL,
    THREAD,
    Look,
    Piece,
    logged,
    on,
    scoped,
)
from validator.replay.readmodels.agent_runtime.watch.touch import Touch

PERMISSION, ROUTING = ("permission_sandbox_summary",), ("routing_limit_summary",)
ARTIFACTS, EVIDENCE = ("artifact_checkpoint_summary",), ("evidence_summary",)
GOVERNED = on("permission", "sandbox", "hook", "policy", "tool.catalog.resolved", "action")
ROUTED = on("task.profile.resolved", "routing", "cost", "limit", "rate_limit", "quota", carries=("cost_state",))
CHANNEL = on(moves=("channel",), carries=("channel_id",))
CHANGED, PROVED = on("artifact.changed"), on("evidence.changed")


def _environments_touched(touch: Touch) -> Iterable[Scope]:
    environment = touch.facts.of(Environment)
    moved = environment.scopes() if environment.workspace_since == touch.fact.index else ()
    return (*touch.scopes, *moved)


def _environment(facts: Facts, scope: Scope) -> Look:
    shown = facts.of(Environment).shown(scope)
    return shown, NOWHERE if shown is None else frozenset({scope})


def _runs_touched(touch: Touch) -> Iterable[str]:
    runs = touch.facts.of(Hooks).runs
    return [key for key in touch.subjects("hook", "hook_run_id") if key in runs]


def _run(facts: Facts, key: str) -> Look:
    known = facts.state("hook", key)
    return facts.of(Hooks).record(key), facts.mentions.scopes(hooks.RUN, key) if known else NOWHERE


def _artifacts_touched(touch: Touch) -> Iterable[str]:
    return [key for key in touch.carried("artifact_id") if key in touch.facts.of(Artifacts).told]


def _evidence_touched(touch: Touch) -> Iterable[str]:
    return [key for key in touch.carried("evidence_id") if key in touch.facts.of(Evidence).told]


def _evidence(facts: Facts, key: str) -> Look:
    proofs = facts.of(Evidence)
    return (dict(proofs.told[key]), proofs.gaps.get(key)), facts.mentions.scopes(evidence.NAMED, key)


def _refs_touched(touch: Touch) -> Iterable[str]:
    told = (touch.fact.payload.get(name) for name in evidence.REFS)
    return [ref for ref in told if isinstance(ref, str) and ref in touch.facts.of(Evidence).given]


def _ref(facts: Facts, ref: str) -> Look:
    proofs = facts.of(Evidence)
    return None, NOWHERE.union(*(proofs.refs.scopes(index) for index in proofs.given[ref]))


def _outputs_touched(touch: Touch) -> Iterable[str]:
    told = touch.facts.protocol.lens.get(touch.fact.line, "output_ref") or touch.fact.side("output").get("output_ref")
    return (told,) if isinstance(told, str) and told in touch.facts.of(Outputs).told else ()


def _traces_touched(touch: Touch) -> Iterable[str]:
    return touch.carried("trace_id") if "trace_id" in touch.fact.anew else ()


def _channels_touched(touch: Touch) -> Iterable[str]:
    return [key for key in touch.subjects("channel", "channel_id") if key in touch.facts.of(Channels).channels]


def _listed_channels(touch: Touch) -> Iterable[str]:
    source = touch.fact.payload.get("source_channel_id") if touch.type == "turn.submitted" else None
    found = (*_channels_touched(touch), *((source,) if isinstance(source, str) else ()))
    return [key for key in found if key in touch.facts.of(Channels).channels]


def _channel(facts: Facts, key: str) -> Look:
    known = key in facts.introduced.get("channel", {})
    return (facts.of(Channels).head(key), IN_SESSION) if known else NOTHING


def _bridges_touched(touch: Touch) -> Iterable[str]:
    told = touch.fact.payload.get("bridge_id")
    return (told,) if isinstance(told, str) and told in touch.facts.of(Channels).bridges else ()


def _peers_touched(touch: Touch) -> Iterable[str]:
    told = as_record(touch.fact.payload.get("peer_task")).get("peer_task_id")
    return (told,) if isinstance(told, str) and told in touch.facts.of(Channels).peer_tasks else ()


def _crossing(kind: str) -> Callable[[Facts, str], Look]:
    def look(facts: Facts, key: str) -> Look:
        channels = facts.of(Channels)
        return (dict(getattr(channels, kind)[key]), channels.crossing(kind, key)), IN_SESSION

    return look


GOVERNANCE = (
    scoped(PERMISSION, GOVERNED, lambda facts, scope: facts.of(Permissions).shown(scope)),
    logged(PERMISSION, on("permission"), Permissions, "decisions"),
    logged(PERMISSION, on("sandbox"), Permissions, "violations"),
    Piece(PERMISSION, on("hook", moves=("hook",)), _runs_touched, _run, hooks.RUN),
    Piece(
        ("execution_environment_snapshot",),
        on("sandbox.applied", "process.started", "session", carries=("execution_environment",)),
        _environments_touched,
        _environment,
    ),
    scoped(ROUTING, ROUTED, lambda facts, scope: facts.of(Routing).shown(scope)),
    logged(ROUTING, on("routing"), Routing, "fallbacks"),
    logged(ROUTING, on("rate_limit", "quota"), Routing, "events"),
    scoped(
        ("tool_inventory_snapshot",),
        on("tool.catalog.resolved"),
        lambda facts, scope: facts.of(Catalogues).build(scope),
    ),
)
RESULTS = (
    Piece(
        ARTIFACTS,
        CHANGED,
        _artifacts_touched,
        lambda facts, key: (dict(facts.of(Artifacts).told[key]), facts.of(Artifacts).scopes(key)),
        "artifact_id",
    ),
    Piece(
        SHELL + THREAD,
        CHANGED,
        _artifacts_touched,
        lambda facts, key: (None, facts.of(Artifacts).scopes(key)),
        "artifact_id",
    ),
    scoped(ARTIFACTS, CHANGED, lambda facts, scope: bool(facts.mentions.ids(artifacts.NAMED, scope)) or None),
    Piece(EVIDENCE, PROVED, _evidence_touched, _evidence, "evidence_id"),
    logged(EVIDENCE, PROVED, Evidence, "notes"),
    Piece(
        EVIDENCE,
        on(carries=("trace_id",)),
        _traces_touched,
        lambda facts, key: (None, facts.mentions.scopes("trace_id", key)),
        "trace_id",
    ),
    Piece(SHELL + THREAD, PROVED, _refs_touched, _ref),
    Piece(SHELL, on("output"), _outputs_touched, lambda facts, ref: (dict(facts.of(Outputs).told[ref]), IN_SESSION)),
)
PEERS = (
    Piece(("channel_summary",), CHANNEL, _channels_touched, _channel),
    Piece(("channel_summary",), CHANNEL, _bridges_touched, _crossing("bridges")),
    Piece(("channel_summary",), CHANNEL, _peers_touched, _crossing("peer_tasks")),
    Piece(
        THREAD,
        on("turn.submitted", moves=("channel",), carries=("channel_id",)),
        _listed_channels,
        lambda facts, key: (None, facts.of(Channels).threads(key)),
        "channel_id",
    ),
)
