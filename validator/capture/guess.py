"""What a file that is no capture looks like, from its first bytes, so that the message can say what to do."""

from __future__ import annotations

import re

_MAGIC = (
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (b"BZh", "bzip2 data; decompress it first"),
    (b"\xfd7zXZ\x00", "xz data; decompress it first"),
    (b"SQLite format 3\x00", "an SQLite database; export its events as one JSON object per line"),
    (b"\xff\xfe\x00\x00", "UTF-32 text; convert it to UTF-8"),
    (b"\x00\x00\xfe\xff", "UTF-32 text; convert it to UTF-8"),
    (b"\xff\xfe", "UTF-16 text; convert it to UTF-8"),
    (b"\xfe\xff", "UTF-16 text; convert it to UTF-8"),
)
_TEXT = (
    (rb"^(\{\x00|\x00\{)", "UTF-16 text; convert it to UTF-8"),
    (rb"^\{[^\r\n]*\}\s*\r(?!\n)", "lines that end in a carriage return alone; end them in a line feed"),
    (rb"^\{[^\n]*\},[ \t]*\r?\n", "JSON objects with a comma after each; write each object alone on its line"),
    (rb"^(event|data|id|retry): ?", "server-sent events; write what follows `data:` as one line each"),
    (rb"^\s*<(\?xml|!doctype|html)", "XML or HTML; a capture has one JSON object per line"),
    (rb"^\s*\[", "one JSON array; write its elements as one line each (jq -c '.[]')"),
    (rb"^\s*\{\s*\r?\n", "JSON spread over several lines; write each object on one line (jq -c .)"),
    (rb"^---\s*\r?\n|^[A-Za-z_]+:\s", "YAML; a capture has one JSON object per line"),
    (rb"^[^\s,{}]+(,[^\s,{}]+)+\r?\n", "comma-separated values; a capture has one JSON object per line"),
    (rb"^[^\s{]*\d{2}:\d{2}:\d{2}", "a log; a capture has one JSON object per line and nothing before it"),
)


def guess(head: bytes) -> str | None:
    """What the first bytes look like and what to do about it, or None."""
    for start, meaning in _MAGIC:
        if head.startswith(start):
            return meaning
    for pattern, meaning in _TEXT:
        if re.match(pattern, head, re.IGNORECASE):
            return meaning
    if b"\x00" in head:
        return "binary data; a capture is UTF-8 text with one JSON object per line"
    return None
