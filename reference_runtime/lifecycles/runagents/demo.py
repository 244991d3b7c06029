"""Whole lifecycles of RunAgents, each played once into a capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from reference_runtime.capture import Capture
from reference_runtime.lifecycles.runagents.stage import APPROVER, POLICY, PowerCut, Scene, cut
from reference_runtime.log.base import Store
from reference_runtime.scripts.coverage import Played


def _plain(scene: Scene) -> None:
    scene.look(scene.begin("shop-agent", initial_message="Where is order 1042?"), "COMPLETED")


def _approved(scene: Scene) -> None:
    run_id = scene.begin("refund-agent", initial_message="Refund order 1042")
    scene.look(run_id, "PAUSED_APPROVAL")
    scene.approve(reason="The order was lost.")
    scene.look(run_id, "COMPLETED")


def _rejected(scene: Scene) -> None:
    run_id = scene.begin("refund-agent")
    scene.reject(reason="Amount over the limit")
    scene.look(run_id, "FAILED")


def _consent_then_approval(scene: Scene) -> None:
    run_id = scene.begin("calendar-agent", "user_jonas")
    scene.look(run_id, "PAUSED_CONSENT")
    scene.settle(run_id, completed=True)
    scene.look(run_id, "PAUSED_APPROVAL")
    scene.approve()
    scene.look(run_id, "COMPLETED")


def _no_consent(scene: Scene) -> None:
    run_id = scene.begin("calendar-agent", "user_jonas")
    scene.settle(run_id, completed=False)
    scene.look(run_id, "FAILED")


def _wide_grants(scene: Scene) -> None:
    """A grant for the run covers its second call; one for the user covers the next run, until it ends."""
    run_id = scene.begin("twice-agent")
    scene.approve(scope="run")
    scene.look(run_id, "COMPLETED")
    again = scene.begin("refund-agent")
    scene.approve(scope="agent_user_ttl", duration="30m")
    scene.look(again, "COMPLETED")
    scene.look(scene.begin("refund-agent"), "COMPLETED")
    scene.clock.advance(31 * 60 * 1000)
    late = scene.begin("refund-agent")
    scene.look(late, "PAUSED_APPROVAL")
    scene.worker.sweep()
    scene.reject(reason="One refund is enough.")
    scene.look(late, "FAILED")


def _two_gates(scene: Scene) -> None:
    """An approval of scope once serves one action; the next call waits again, under an id of its own."""
    run_id = scene.begin("twice-agent")
    scene.approve(scope="once")
    scene.look(run_id, "PAUSED_APPROVAL")
    scene.approve(scope="once", reason="The second order, too.")
    scene.look(run_id, "COMPLETED")


def _changed_payload(scene: Scene) -> None:
    """Neither an approval nor a resumption takes a payload that is not the one that was blocked."""
    run_id = scene.begin("refund-agent")
    request, wish = scene.pending(), {"approver_id": APPROVER, "payload_hash": "sha256:" + "0" * 64}
    scene.refused("payload_changed", lambda: scene.platform.approve(request, wish))
    (action,) = scene.platform.actions(run_id)
    changed = {"action_id": action["action_id"], "payload": {"order": 1042, "amount": 9999}}
    scene.platform.keep_checkpoint(run_id, changed)
    scene.approve()
    scene.look(run_id, "FAILED")


def _out_of_time(scene: Scene) -> None:
    """Nobody decides; and an approval ends before its call is made."""
    silent = scene.begin("refund-agent")
    scene.clock.advance(25 * 3600 * 1000)
    scene.worker.run()
    scene.look(silent, "FAILED")
    late = scene.begin("refund-agent")
    scene.platform.approve(scene.pending(), {"approver_id": APPROVER, "duration": "5m"})
    scene.clock.advance(6 * 60 * 1000)
    scene.worker.run()
    scene.look(late, "FAILED")


def _things_go_wrong(scene: Scene) -> None:
    """A call is denied, a replay fails, an agent fails, another one is not there."""
    scene.look(scene.begin("careless-agent"), "COMPLETED")
    run_id = scene.begin("payout-agent")
    scene.approve()
    scene.look(run_id, "COMPLETED")
    scene.look(scene.begin("failing-agent"), "FAILED")
    scene.look(scene.begin("absent-agent"), "FAILED")


def _ended_while_blocked(scene: Scene) -> None:
    run_id = scene.begin("refund-agent")
    request = scene.pending()
    scene.refused("invalid_transition", lambda: scene.platform.set_status(run_id, {"status": "RUNNING"}))
    scene.platform.set_status(run_id, {"status": "FAILED", "error": "The client gave the run up."})
    scene.refused("not_blocked", lambda: scene.platform.approve(request, {"approver_id": APPROVER}))
    scene.look(run_id, "FAILED")


def _restart(scene: Scene) -> None:
    """A pending question survives the process; a call in flight is told as lost, and never made again."""
    waits = scene.begin("refund-agent")
    scene.restart()
    scene.approve()
    scene.look(waits, "COMPLETED")
    dies = scene.begin("refund-agent")
    whole, scene.platform.settings = scene.settings, replace(scene.settings, policy=cut(POLICY))
    try:
        scene.approve()
    except PowerCut:
        scene.settings = whole
    scene.restart()
    scene.worker.run()
    scene.look(dies, "FAILED")


def _from_outside(scene: Scene) -> None:
    """An agent of somebody else tells its own events, and keeps its payload to itself."""
    run_id, tell = scene.begin("foreign-agent"), scene.platform.tell
    tell(run_id, {"type": "INVOKE_REQUESTED"})
    hashed = {"tool_id": "stripe", "capability": "POST /v1/refunds", "payload_hash": "sha256:" + "a" * 64}
    action = scene.platform.block(run_id, hashed)["action"]["action_id"]
    scene.platform.block(run_id, hashed)
    tell(run_id, {"type": "AGENT_MESSAGE", "data": {"content": "I asked for approval."}})
    scene.approve()
    named = {"data": {"action_id": action, "tool_id": "stripe"}}
    changed = {"type": "TOOL_CALLED", "payload_hash": "b" * 64, **named}
    scene.refused("payload_changed", lambda: tell(run_id, changed))
    tell(run_id, {**changed, "payload_hash": "a" * 64})
    tell(run_id, {"type": "TOOL_RESPONSE", "data": {**named["data"], "status_code": 200}})
    scene.platform.ask_consent(run_id, {"tool_id": "mail", "authorization_url": "https://accounts.example/mail"})
    scene.settle(run_id, completed=True)
    tell(run_id, {"type": "COMPLETED"})
    scene.look(run_id, "COMPLETED")


_API = {"vocabulary": "api"}
_OPERATIONS = {"vocabulary": "operations"}
_STORIES: tuple[tuple[str, str, Callable[[Scene], None], dict[str, Any]], ...] = (
    ("01-plain", "A run that needs nobody", _plain, _API),
    ("02-plain-operations", "The same in the words of the operations page", _plain, _OPERATIONS),
    ("03-approved", "A blocked call is approved, and the run goes on by itself", _approved, _API),
    ("04-approved-operations", "The status changes first, and the grant is logged after it", _approved, _OPERATIONS),
    ("05-rejected", "A rejection ends the run", _rejected, _API),
    ("06-rejected-operations", "A rejection, recorded before it is logged", _rejected, _OPERATIONS),
    ("07-consent-then-approval", "One call, two gates", _consent_then_approval, _API),
    ("08-consent-operations", "Consent is shown by going on", _consent_then_approval, _OPERATIONS),
    ("09-no-consent", "The user never comes back", _no_consent, _API),
    ("10-no-consent-operations", "An error and the record tell it", _no_consent, _OPERATIONS),
    ("11-wide-grants", "Approvals that reach beyond one action, and end", _wide_grants, _API),
    ("12-changed-payload", "A payload that changed is refused", _changed_payload, _API),
    ("13-changed-payload-operations", "The same before the grant was logged", _changed_payload, _OPERATIONS),
    ("14-out-of-time", "Silence is no approval", _out_of_time, _API),
    ("15-out-of-time-operations", "An approval that ends before its call", _out_of_time, _OPERATIONS),
    ("16-things-go-wrong", "Denied, failed, not there", _things_go_wrong, _API),
    (
        "17-things-go-wrong-operations",
        "Errors that a run survives, and one that it does not",
        _things_go_wrong,
        _OPERATIONS,
    ),
    ("18-ended-while-blocked", "A run that is given up takes its action along", _ended_while_blocked, _API),
    ("19-restart", "What survives the process, and what is lost with it", _restart, _API),
    ("20-two-gates", "Two calls, two approvals", _two_gates, _API),
    ("21-from-outside", "An agent of somebody else, governed all the same", _from_outside, _API),
)


def stories() -> Iterator[tuple[str, str, Callable[[Callable[[], Store], Capture], Played]]]:
    """Every story: its name, its title, and how it is played."""
    for name, title, acts, settings in _STORIES:

        def play(open_store, capture, name=name, acts=acts, settings=settings):
            scene = Scene(name, open_store, capture, **settings)
            acts(scene)
            scene.platform.book.store.close()
            return scene.played

        yield name, title, play
