"""What a run is asked for and where each wish comes from: the command line, then the file, then the default."""

from __future__ import annotations

from collections.abc import Mapping

from validator.capture.ndjson import Limits
from validator.config import Config
from validator.context import asked
from validator.engine import Options, check_options, line_numbers
from validator.processes import AUTO
from validator.records import dataclass
from validator.rules._catalog import load_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFAULTS: dict[str, Any] = {
    "protocol": None,
    "profile": None,
    "expect": None,
    "select": (),
    "ignore": (),
    "fail-on": "must",
    "canary": (),
    "baseline": None,
    "format": "text",
    "out": (),
    "max-findings-per-rule": 100,
    "jobs": AUTO,
    "max-line-bytes": Limits().line_bytes,
    "max-depth": Limits().depth,
    "lines": None,
}
_ALL = 1 << 62


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting's value, and who said so."""

    values: dict[str, Any]
    origins: dict[str, str]
    config: Config | None = None

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def accepts(self) -> bool:
        """Something may accept findings, so that every one of them has to be looked at."""
        return bool(self["baseline"] or (self.config and self.config.suppressions))

    def options(self, every_finding: bool = False) -> Options:
        """The same as the judge wants it."""
        options = Options(
            protocol=self["protocol"],
            profile=self["profile"],
            expect=self["expect"],
            select=tuple(self["select"]),
            ignore=tuple(self["ignore"]),
            fail_on=self["fail-on"].upper(),
            canaries=tuple(self["canary"]),
            limits=Limits(self["max-line-bytes"], self["max-depth"]),
            lines=line_numbers(self["lines"] or ""),
            max_findings_per_rule=_ALL if every_finding or self.accepts else self["max-findings-per-rule"],
        )
        check_options(options)
        return options

    def judged_rules(self) -> frozenset[str]:
        """Ids of the rules that are asked."""
        select, ignore = tuple(self["select"]), tuple(self["ignore"])
        return frozenset(rule for rule in load_rules() if asked(rule, select, ignore))


def resolve(given: Mapping[str, Any], config: Config | None, environment: Mapping[str, str]) -> Settings:
    """Each setting from the first place that has it; what is None or empty on the command line was not given."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, default in DEFAULTS.items():
        if given.get(name) not in (None, ()):
            values[name], origins[name] = given[name], "command line"
        elif config and name in config.values:
            values[name], origins[name] = config.values[name], config.path.name
        elif name == "format" and environment.get("GITHUB_ACTIONS") == "true":
            values[name], origins[name] = "github", "GitHub Actions"
        else:
            values[name], origins[name] = default, "default"
    return Settings(values, origins, config)


def show(settings: Settings) -> str:
    """A table of every setting; planted values are not repeated."""
    lines = []
    for name, value in settings.values.items():
        text = f"{len(value)} given" if name == "canary" and value else _shown(value)
        lines.append(f"{name:<22} {text:<24} {settings.origins[name]}")
    file = settings.config.path.name if settings.config else "none found"
    count = len(settings.config.suppressions) if settings.config else 0
    lines += [f"{'configuration file':<22} {file}", f"{'suppressions':<22} {count}"]
    return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    if value in (None, ()):
        return "none"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
