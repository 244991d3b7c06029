"""The two digests we use, without the library that `hashlib` loads beside them: that takes longer than a short run."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter that was built without its own digests
    from hashlib import blake2b

try:
    from _sha2 import sha256
except ImportError:
    try:
        from _sha256 import sha256  # its name up to Python 3.11
    except ImportError:
        from hashlib import sha256

__all__ = ["blake2b", "sha256"]
