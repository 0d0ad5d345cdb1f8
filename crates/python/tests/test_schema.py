"""The service against its own OpenAPI document, by schemathesis: requests that it makes up from the document, and others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from service import demo

FULL = bool(os.environ.get("COUNTERPOINT_FULL"))
EXAMPLES = 400 if FULL else 3


@pytest.mark.parametrize("name", ["olga", "ann"][: None if FULL else 1])
def test_requests_from_the_document(name: str, tmp_path: Path) -> None:
    with demo() as (address, tokens):
        # Requests at the rate that a token has: what is refused for haste tells nothing.
        options = ["--max-examples", str(EXAMPLES), "--seed", "7", "--rate-limit", "180/s", "--suppress-health-check", "all"]
        checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
        ran = subprocess.run(
            [sys.executable, "-m", "schemathesis.cli", "run", f"{address}/v1/openapi.json", "--checks", checks]
            + ["--header", f"Authorization: Bearer {tokens[name]}", *options],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
