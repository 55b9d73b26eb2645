"""The published schema and the page about it agree with what loads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import stillme
from stillme.policy import Policy
from stillme.policy.reader import PRESET_FILES
from stillme.policy.sections import ValidatorOptions
from stillme.validators.registry import BUILT_IN
from tests.policy.support import (
    DOCS,
    SPEC_EXAMPLE,
    Write,
    error_of,
    schema,
    schema_check,
)

SCHEMAS = Path(stillme.__file__).parent / "schemas"


class TestSchema:
    def test_the_published_schema_is_that_of_the_code(self) -> None:
        published = json.loads((SCHEMAS / "policy.json").read_text(encoding="utf-8"))

        assert published == schema(), "write json.dumps(schema(), indent=2) to schemas/policy.json"

    @pytest.mark.parametrize(
        "source",
        [SPEC_EXAMPLE, *(f"extends: {preset}" for preset in ("lite", "book", "strict")), "validators: {}", "{}"],
    )
    def test_it_accepts_what_loads(self, source: str) -> None:
        schema_check().validate(yaml.safe_load(source))

    @pytest.mark.parametrize("preset", ["lite", "book", "strict"])
    def test_it_accepts_the_presets_themselves_and_written_out(self, preset: str) -> None:
        text = (PRESET_FILES / f"{preset}.yaml").read_text(encoding="utf-8")

        for each in (text, Policy.load(preset).to_yaml()):
            schema_check().validate(yaml.safe_load(each))

    @pytest.mark.parametrize(
        "source",
        [
            {"mode": "loud"},
            {"treshholds": {}},
            {"thresholds": {"min_similarity_for_factual": 1.7}},
            {"validators": {"EvidenceOverlap": {"treshold": 0.1}}},
            {"validators": {"EvidenceOverlap": {"threshold": "low"}}},
            {"validators": {"SchemaFormat": {"required_sections": "Summary"}}},
            {"messages": {"refusal": {"fr": "Non."}}},
            {"limits": {"passages": 0}},
        ],
        ids=json.dumps,
    )
    def test_it_refuses_what_does_not_load(self, source: dict[str, Any]) -> None:
        error_of(source)
        with pytest.raises(jsonschema.ValidationError):
            schema_check().validate(source)

    def test_it_leaves_room_for_validators_of_other_packages(self) -> None:
        schema_check().validate({"validators": {"CalmTone": {"allowed": 3, "gate": "hard"}}})


def told_defaults(text: str) -> dict[tuple[str, str], Any]:
    """What the tables say: (section or validator, key) to default; an empty first cell repeats the validator above."""
    told: dict[tuple[str, str], Any] = {}
    section = validator = ""
    for line in text.splitlines():
        if heading := re.match(r"### `(\w+)`", line):
            section = heading[1]
        if row := re.match(r"\| `(\w+)` \| ([\w.]+) \|", line):
            told[section, row[1]] = yaml.safe_load(row[2])
        if row := re.match(r"\| (?:`(\w+)` )?\| `(\w+)` \| ([\w.\[\]{}]+) \|", line):
            validator = row[1] or validator
            told[validator, row[2]] = yaml.safe_load(row[3])
    return told


class TestDocs:
    def test_every_key_is_explained(self) -> None:
        text = DOCS.read_text(encoding="utf-8")
        keys = set(schema()["properties"])
        for node in schema()["$defs"].values():
            keys |= set(node.get("properties", {}))
        for entry in schema()["properties"]["validators"]["properties"].values():
            keys |= set(entry["properties"])

        assert [key for key in sorted(keys) if f"`{key}`" not in text and f".{key}`" not in text] == []
        assert [name for name in BUILT_IN if f"`{name}`" not in text] == []

    def test_every_default_in_the_tables_is_that_of_the_code(self) -> None:
        sections = ("thresholds", "behavior", "output", "limits", "confidence", "rollout")
        tables = {name: schema()["$defs"][name.capitalize()] for name in sections}
        tables |= schema()["properties"]["validators"]["properties"]
        options = ValidatorOptions.model_fields
        defaults = {
            (name, key): each["default"]
            for name, table in tables.items()
            for key, each in table["properties"].items()
            if key not in options
        }

        told = told_defaults(DOCS.read_text(encoding="utf-8"))

        assert {place: told.get(place) for place in defaults} == defaults

    @pytest.mark.usefixtures("sample")
    def test_every_example_loads(self, write: Write) -> None:
        examples = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)

        assert len(examples) >= 5
        for example in examples:
            assert Policy.load(write(example)).hash
