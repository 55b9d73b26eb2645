"""What the documentation takes from the code is what the code says now."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from stillme import Guard, VerifyRequest
from stillme.cli.commands import cli
from stillme.cli.printing import Exit
from stillme.policy import Policy

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SCHEMAS = ROOT / "src" / "stillme" / "schemas"


def test_generated_parts_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, DOCS / "generate.py", "--check"], capture_output=True, text=True, timeout=600, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def schema(name: str) -> dict[str, Any]:
    """A published schema, itself checked."""
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(found)
    return found


def sample_request() -> dict[str, Any]:
    """The request that docs/cli.md shows."""
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    sample: dict[str, Any] = json.loads(page.partition("```json\n")[2].partition("```")[0])
    return sample


def test_a_request_and_its_verdict_fit_the_published_schemas() -> None:
    verdict = Guard().verify(sample_request())

    jsonschema.validate(sample_request(), schema("request"))
    jsonschema.validate(json.loads(verdict.model_dump_json()), schema("verdict"))


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param({}, id="no query"),
        pytest.param({"query": "a", "qeury": "b"}, id="an unknown key"),
        pytest.param({"query": "a", "retrieved_context": [{"text": "b"}]}, id="a passage without an id"),
        pytest.param({"query": "a", "metadata": {"language": "fr"}}, id="a language that is not served"),
    ],
)
def test_what_the_contract_refuses_the_schema_refuses_too(bad: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, schema("request"))
    with pytest.raises(ValueError, match="validation error"):
        VerifyRequest.model_validate(bad)


@pytest.mark.parametrize("preset", ["lite", "book", "strict"])
def test_a_policy_written_out_fits_the_published_schema(preset: str) -> None:
    written = json.loads(json.dumps(yaml.safe_load(Policy.load(preset).to_yaml())))

    jsonschema.validate(written, schema("policy"))


def test_every_exit_code_is_documented() -> None:
    table = (DOCS / "cli.md").read_text(encoding="utf-8").partition("## Exit codes")[2].partition("##")[0]

    codes = {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE) for code in row.split(",")}

    assert codes == {*map(int, Exit), 2}


def test_the_page_on_the_command_line_names_every_command() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")

    assert [name for name in cli.commands if f"### `stillme {name}`" not in page] == []
