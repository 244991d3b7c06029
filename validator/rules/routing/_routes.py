"""What routing has settled for each turn, or for the session where no turn is named."""

from __future__ import annotations

from validator.protocol.honest import known
from validator.records import dataclass, field
from validator.replay.step import Step
from validator.replay.world import World
from validator.rules.terminal._work import told

DECISIONS = ("routing.decided", "routing.single_candidate")
NO = ("denied", "deny", "timed_out", "cancelled")
ROUTING = (*DECISIONS, "routing.fallback.applied", "routing.candidates.resolved", "task.profile.resolved")


@dataclass(slots=True)
class Route:
    """The routing of one turn so far; every fact with its line."""

    profile: int | None = None
    fallback_policy: str | None = None
    candidates: int | None = None
    models: tuple[str, ...] | None = None
    decision: int | None = None
    model: str | None = None
    """The model that the latest decision or fallback chose."""
    impossible: int | None = None
    override: int | None = None
    """The line of a decision that a person has not confirmed."""
    blocked: int | None = None
    requests: int = 0
    answers: list[int] = field(default_factory=list)
    """Lines at which a person decided something for the turn."""


class Routes:
    """Routes by turn; `before` is the step's own route as it was before the step."""

    hears = (
        "limit.changed",
        "turn.completed",
        "routing.*",
        "task.profile.*",
        "model.requested",
        "quota.blocked",
        "action.resolved",
    )
    overhears = ("limit.changed", *ROUTING)
    forgets_faded = ("_routes",)

    def __init__(self, world: World):
        self._routes: dict[str, Route] = {}
        self.before = Route()
        self.is_first_request = False
        """The step at hand is the first request of its turn."""
        self.first: int | None = None
        """The first line that shows that the runtime routes at all."""

    def key(self, step: Step) -> str:
        return step.scope.get("turn_id") or f"session {step.scope.get('session_id', '')}"

    def of(self, step: Step) -> Route:
        key = self.key(step)
        route = self._routes.get(key)
        if route is None:
            route = self._routes[key] = Route()
        return route

    def overhear(self, step: Step) -> None:
        """A limit may block every session, and a runtime that routes in one of them routes in all."""
        if step.type == "limit.changed":
            for route in self._routes.values():
                route.blocked = None
        elif self.first is None and step.type in ROUTING:
            self.first = step.number

    def apply(self, step: Step) -> None:
        kind = step.type or ""
        if step.kind != "event":
            return
        if kind == "model.requested":
            self.before = route = self.of(step)  # a request changes nothing but their number
            self.is_first_request = route.requests == 0
            route.requests += 1
            return
        self.overhear(step)
        if kind == "limit.changed":
            return
        if kind == "turn.completed":
            self._routes.pop(self.key(step), None)
            return
        if not kind.startswith(("routing.", "task.profile.", "quota.blocked", "action.resolved")):
            return
        route = self.of(step)
        self.before = _copy(route)
        self._learn(step, route)

    def _learn(self, step: Step, route: Route) -> None:
        if step.type == "task.profile.resolved":
            policy = told(step, "fallback_policy")
            route.profile, route.fallback_policy = step.number, policy if isinstance(policy, str) else None
        elif step.type == "routing.candidates.resolved":
            listed = told(step, "candidates")
            route.candidates, route.models = step.number, _models(listed)
            if route.models:
                route.impossible = None
        elif step.type in DECISIONS:
            model = told(step, "selected_model")
            route.decision, route.model = step.number, model if isinstance(model, str) else None
            route.override = step.number if told(step, "requires_user_override") is True else None
            route.impossible = route.blocked = None
        elif step.type == "routing.fallback.applied":
            model = told(step, "to_model")
            route.model = model if isinstance(model, str) else None
            route.decision, route.impossible, route.blocked = step.number, None, None
        elif step.type == "routing.not_possible":
            route.impossible, route.candidates, route.models = step.number, None, None
        elif step.type == "quota.blocked":
            route.blocked = step.number
        elif step.type == "action.resolved" and told(step, "decision") not in NO:
            route.override = None
            route.answers.append(step.number)


def _models(listed: object) -> tuple[str, ...] | None:
    if not isinstance(listed, list):
        return None
    entries = (entry for entry in listed if isinstance(entry, dict))
    return tuple(model for entry in entries if isinstance(model := known(entry.get("model")), str))


def _copy(route: Route) -> Route:
    return Route(
        route.profile,
        route.fallback_policy,
        route.candidates,
        route.models,
        route.decision,
        route.model,
        route.impossible,
        route.override,
        route.blocked,
        route.requests,
        list(route.answers),
    )
