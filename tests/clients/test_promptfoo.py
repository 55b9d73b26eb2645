"""The assertion in a real run of promptfoo, against a provider that echoes the draft."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from tests.clients.support import FALSE, PASSAGE, QUESTION, TRUE

COMMAND = Path(sys.prefix) / "node_modules" / ".bin" / "promptfoo"


def test_promptfoo_passes_the_true_answer_and_fails_the_false_one(tmp_path: Path) -> None:
    """With the reasons in its results."""
    (tmp_path / "grounded.py").write_text("from stillme.adapters.promptfoo import get_assert\n", encoding="utf-8")
    cases = [{"vars": {"query": QUESTION, "context": PASSAGE, "draft": draft}} for draft in (TRUE, FALSE)]
    config = {
        "prompts": ["{{draft}}"],
        "providers": ["echo"],
        "defaultTest": {"assert": [{"type": "python", "value": "file://grounded.py"}]},
        "tests": cases,
    }
    (tmp_path / "promptfooconfig.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    quiet = {
        "PROMPTFOO_PYTHON": sys.executable,
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "home"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "true",
    }

    done = subprocess.run(
        [str(COMMAND), "eval", "--no-cache", "--output", "results.json"],
        cwd=tmp_path, env=os.environ | quiet, capture_output=True, text=True, check=False,
    )  # fmt: skip

    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["results"]["results"]
    assert [row["success"] for row in results] == [True, False], done.stdout + done.stderr
    assert [row["score"] for row in results] == [1, 0]
    assert "contradicted" in results[1]["gradingResult"]["reason"]
