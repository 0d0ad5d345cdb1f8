"""The program as a service, for tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest


def program() -> str:
    """The program, as ``run`` built it; whoever has none skips what needs it."""
    found = os.environ.get("COUNTERPOINT_PROGRAM") or shutil.which("counterpoint")
    if not found or not os.access(found, os.X_OK):
        pytest.skip("the program counterpoint is not there: COUNTERPOINT_PROGRAM names it, as crates/python/tests/run does")
    return found


@contextlib.contextmanager
def demo() -> Iterator[tuple[str, dict[str, str]]]:
    """A curator to try: its address, and a token for each name."""
    started = subprocess.Popen([program(), "serve", "--demo"], stdout=subprocess.PIPE, text=True)
    try:
        assert started.stdout is not None
        tokens = {}
        for line in started.stdout:
            word, *rest = line.split()
            if word == "token":
                tokens[rest[1]] = rest[2]
            if word == "listening":
                yield rest[1], tokens
                return
        raise AssertionError(f"the program ended with {started.wait()}")
    finally:
        started.terminate()
        started.wait()
        if started.stdout is not None:
            started.stdout.close()
