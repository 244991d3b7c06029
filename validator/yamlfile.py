"""Reads YAML strictly: no key twice, and words as YAML 1.2 reads them."""

from __future__ import annotations

import functools
import re
from typing import Any

import yaml


class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A safe loader that refuses duplicate keys and reads words as YAML 1.2 does: `on` and `2026-05-08` are strings."""


_LAX_TAGS = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool"}
_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _LAX_TAGS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_StrictLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), ["t", "f"])


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    loader.flatten_mapping(node)
    seen: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} occurs twice", key_node.start_mark)
        seen[key] = loader.construct_object(value_node, deep=True)
    return seen


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)

YamlError = yaml.MarkedYAMLError


def load(text: str) -> Any:
    """The value that a text holds."""
    return yaml.load(text, Loader=_StrictLoader)  # a subclass of SafeLoader


class Places:
    """On which lines of a text values begin; the text is read when somebody asks first."""

    def __init__(self, text: str):
        self._text = text

    @functools.cached_property
    def _root(self) -> yaml.Node | None:
        return yaml.compose(self._text, Loader=_StrictLoader)

    def line_of(self, pointer: Any) -> int | None:
        """The line on which the value at `pointer` begins."""
        node = self._root
        for part in pointer:
            if isinstance(node, yaml.MappingNode):
                node = next((value for key, value in node.value if key.value == str(part)), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
                node = node.value[part]
            else:
                node = None
            if node is None:
                return None
        return node.start_mark.line + 1
