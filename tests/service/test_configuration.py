"""A file of settings beside the environment: the same names, less weight, and a word on what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stillme.errors import InputError
from stillme.service.configuration import configure
from stillme.service.settings import ServiceSettings
from tests.service.test_server import CLIENT, process, rules_alone


def configured(folder: Path, text: str, **environment: str) -> dict[str, str]:
    """The environment as a file of settings leaves it."""
    (folder / "stillme.yaml").write_text(text, encoding="utf-8")
    found = {"STILLME_CONFIG": str(folder / "stillme.yaml"), **environment}
    configure(found)
    return found


def test_a_file_gives_what_the_environment_does_not_say(tmp_path: Path) -> None:
    """Numbers, switches and lists are read as their variables are; the environment comes first."""
    text = "STILLME_PORT: 9001\nSTILLME_HOST: 127.0.0.2\nENABLE_VALIDATORS: true\nSTILLME_CORS_ORIGINS: [https://a, https://b]\n"

    found = configured(tmp_path, text, STILLME_HOST="127.0.0.3")

    settings = ServiceSettings.from_environment(found)
    assert (settings.port, settings.host, settings.origins) == (9001, "127.0.0.3", ("https://a", "https://b"))
    assert found["ENABLE_VALIDATORS"] == "true"


def test_a_secret_of_the_environment_takes_the_place_of_the_files(tmp_path: Path) -> None:
    """Whichever of the two ways it is given in."""
    (tmp_path / "key").write_text("from-a-file\n", encoding="utf-8")
    secret = str(tmp_path / "key")

    found = configured(tmp_path, "STILLME_UPSTREAM_API_KEY: typed\n", STILLME_UPSTREAM_API_KEY_FILE=secret)

    assert ServiceSettings.from_environment(found).upstream_key == "from-a-file"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("STILLME_PROT: 1\n", "'STILLME_PROT' is no setting: did you mean STILLME_PORT", id="a slip of the pen"),
        pytest.param("STILLME_PORT: {a: 1}\n", "STILLME_PORT has to be a text, a number", id="a value of no kind"),
        pytest.param("- a\n", "has to hold lines such as STILLME_PORT: 8000", id="a list"),
        pytest.param("a: [\n", "is not YAML", id="no YAML"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, text: str, message: str) -> None:
    """With the name of the setting and the way out."""
    with pytest.raises(InputError, match=message):
        configured(tmp_path, text)


def test_a_file_that_is_not_there_is_told() -> None:
    """It is not taken for an empty one."""
    with pytest.raises(InputError, match=r"STILLME_CONFIG: 'none\.yaml' cannot be read: No such file"):
        configure({"STILLME_CONFIG": "none.yaml"})


@pytest.mark.slow
def test_a_service_of_a_file_logs_json_with_a_field_each(tmp_path: Path) -> None:
    """Every line of its log parses, and a verdict's has the trace id that the caller got."""
    file = tmp_path / "stillme.yaml"
    file.write_text("STILLME_LOG_FORMAT: json\nSTILLME_MODE: enforce\n", encoding="utf-8")
    asked = {"query": "Bảo hành bao lâu?", "draft_answer": "Mười năm.", "retrieved_context": []}

    with process(tmp_path / "data", "--config", str(file), *rules_alone(tmp_path)) as (url, started):
        verdict = CLIENT.post(f"{url}/v1/verify", json=asked).json()
        started.terminate()
        log = started.communicate(timeout=600)[1]

    rows = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    told = [row for row in rows if "decision" in row]
    assert (verdict["mode"], verdict["action"]) == ("enforce", "block")
    assert [(row["decision"], row["validator_trace_id"]) for row in told] == [("refuse", verdict["validator_trace_id"])]
    assert {row["status"] for row in rows if row.get("route") == "/v1/verify"} == {200}
    assert not [line for line in log.splitlines() if " INFO " in line]
