"""The whole OpenAPI document is fuzzed: whatever is sent, nothing fails inside and every answer is as the document says."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from stillme.evaluation.runs.case_files import starter_file
from tests.service.conftest import Start
from tests.soak import rounds

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance,unsupported_method"
)


def test_no_request_makes_the_service_fail(
    start: Start, handbook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Valid and invalid requests of every operation, with the validators on."""
    few = tmp_path / "few.jsonl"
    with starter_file().open(encoding="utf-8") as cases:
        few.write_text("".join(islice(cases, 4)), encoding="utf-8")
    # What a policy would change is asked some seventy times: with hundreds of cases each that is most of the work here.
    monkeypatch.setattr("stillme.service.policies.starter_file", lambda: few)
    service = start(STILLME_KNOWLEDGE=str(handbook), ENABLE_VALIDATORS="true", STILLME_MAX_WAITING="1000")
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json", "--checks", CHECKS]
    options = [
        "--max-examples",
        str(rounds(25, 5)),
        "--generation-deterministic",
        "--no-color",
        "--request-timeout",
        "120",
    ]

    # Beside the project, schemathesis would take up settings of it and of pytest.
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, env=quiet, capture_output=True, text=True, timeout=600, check=False
    )

    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
