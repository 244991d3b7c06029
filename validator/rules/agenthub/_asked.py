"""The approvals of one run, filed by what can rest on them, and by how they stand.

A run may ask very often; a call or a change looks only at the groups that it can rest on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from validator.records import dataclass, field
from validator.replay.readmodels.words import mark
from validator.rules.agenthub._needles import Needles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MASKS = ("*", "…", "...", "<", "[", "{", "$", "redacted", "masked", "hidden")


@dataclass(slots=True)
class Approval:
    """A request for a decision, as it was first told, and how it stands."""

    approval_id: str
    run_id: str
    request: dict[str, Any]
    line: int
    state: str | None = None

    @property
    def kind(self) -> str:
        return str(self.request.get("actionKind"))


@dataclass(slots=True)
class Group:
    """Approvals that have something in common, in the order in which they were asked for."""

    all: list[Approval] = field(default_factory=list)
    by_state: dict[str | None, dict[int, Approval]] = field(default_factory=dict)
    """Those in each state, by their lines."""
    previews: Needles = field(default_factory=Needles)
    """The commands that approved ones showed, as far as these can be compared."""
    is_unclear: bool = False
    """An approved one showed no command, or a masked one."""

    def stand(self, approval: Approval, before: str | None) -> None:
        """Files an approval under its new state."""
        self.by_state.get(before, {}).pop(approval.line, None)
        self.by_state.setdefault(approval.state, {})[approval.line] = approval
        if approval.state == "approved":
            preview = spelled(approval.request.get("commandPreview"))
            if preview is None or any(sign in preview for sign in _MASKS):
                self.is_unclear = True
            else:
                self.previews.add(preview)


class Asked:
    """The approvals of one run."""

    def __init__(self) -> None:
        self.all: list[Approval] = []
        self._groups: dict[tuple[Any, ...], Group] = {}
        self._by_kind: dict[str, tuple[Group, Group]] = {}
        """Those of each kind of action that show no command, and those that do."""
        self._previewed = Group()
        """Those of any kind that show a command."""
        self._kinds = Needles()

    def enter(self, approval: Approval) -> None:
        """Takes in a new approval."""
        self.all.append(approval)
        if approval.kind not in self._by_kind:
            self._by_kind[approval.kind] = (Group(), Group())
            self._kinds.add(approval.kind)
        for group in self._of(approval):
            group.all.append(approval)
            group.stand(approval, None)

    def stand(self, approval: Approval, state: str) -> None:
        """Learns how an approval stands."""
        before, approval.state = approval.state, state
        for group in self._of(approval):
            group.stand(approval, before)

    def covering(self, kinds: tuple[str, ...], command: str | None, is_shell: bool) -> list[Group]:
        """The groups that a call can rest on: those of its action, and for a command those of what it does."""
        own = [self._by_kind[kind] for kind in kinds if kind in self._by_kind]
        if is_shell:
            others = [self._by_kind[kind][0] for kind in self._named(command or "") if kind not in kinds]
            found = [self._previewed, *(silent for silent, _ in own), *others]
        else:
            found = [group for pair in own for group in pair]
        return [group for group in found if group.all]

    def _named(self, command: str) -> Iterator[str]:
        """Kinds of action that a command names: it can be what their approvals are about, as a push that git makes."""
        for kind in dict.fromkeys(self._kinds.within(command)):
            import re  # few approvals are asked for so

            if re.search(rf"\b{re.escape(kind)}\b", command):
                yield kind

    def besides(self, kind: str) -> list[Group]:
        """The groups of all other kinds of action."""
        groups = (group for name, pair in self._by_kind.items() if name != kind for group in pair)
        return [group for group in groups if group.all]

    def about(self, name: Any, patch: Any) -> list[Group]:
        """The groups that go by an id, or by the patch they are about."""
        found = (self._groups.get(("id", mark(name))), self._groups.get(("patch", mark(patch))) if patch else None)
        return [group for group in found if group is not None]

    def _of(self, approval: Approval) -> Iterator[Group]:
        yield self._by_kind[approval.kind][isinstance(approval.request.get("commandPreview"), str)]
        if isinstance(approval.request.get("commandPreview"), str):
            yield self._previewed
        yield self._groups.setdefault(("id", approval.approval_id), Group())
        if approval.request.get("patchId"):
            yield self._groups.setdefault(("patch", mark(approval.request["patchId"])), Group())


def is_any(groups: Iterable[Group], state: str) -> bool:
    """True when an approval of some groups is in a state."""
    return any(group.by_state.get(state) for group in groups)


def first(groups: Iterable[Group], state: str) -> Approval | None:
    """The approval of some groups in a state that was asked for first."""
    found = (next(iter(group.by_state.get(state, {}).values()), None) for group in groups)
    return min((entry for entry in found if entry), key=lambda entry: entry.line, default=None)


def spelled(text: Any) -> str | None:
    """A command without what may be written otherwise."""
    return " ".join(text.lower().split()) if isinstance(text, str) else None
