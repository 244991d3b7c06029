"""Digests are those of the standard library, wherever they come from."""

import hashlib
import runpy
import sys

from validator.protocol import digest


def test_digests_agree_with_the_library_and_do_without_the_builtin_ones(monkeypatch):
    for name in ("_blake2", "_sha2", "_sha256"):
        monkeypatch.setitem(sys.modules, name, None)
    for found in (vars(digest), runpy.run_path(digest.__file__)):
        assert found["sha256"](b"x").hexdigest() == hashlib.sha256(b"x").hexdigest()
        assert found["blake2b"](b"x", digest_size=8).digest() == hashlib.blake2b(b"x", digest_size=8).digest()
