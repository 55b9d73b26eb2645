"""`stillme policy diff`: settings that differ, decisions that flip, and an exit code for a deployment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stillme.cli.commands import cli
from tests.cli.conftest import Trail

CLOSE = "grounding: {model: none}\nthresholds:\n  min_similarity_for_factual: 0.7\n"
MILD = "grounding: {model: none}\n"


def case(
    name: str, similarity: float, expected: str | None, query: str = "How long can unused gear be returned?"
) -> str:
    passage = {"source_id": "faq", "text": "Unused gear can be returned within 30 days.", "similarity": similarity}
    request = {
        "query": query,
        "draft_answer": "Unused gear can be returned within 30 days [1].",
        "retrieved_context": [passage],
    }
    return json.dumps({"id": name, "request": request, "expected": expected})


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Two policies and a file of cases, of which two lie between their thresholds."""
    odd = "How long can \x1b[31munused gear\x1b[0m be returned?"
    cases = [case("near", 0.9, "answer"), case("one", 0.6, "answer"), case("two", 0.6, None, odd)]
    texts = {"mild.yaml": MILD, "close.yaml": CLOSE, "cases.jsonl": "\n".join(cases)}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name.partition(".")[0]: str(tmp_path / name) for name in texts}


def run(*args: Any) -> Result:
    return CliRunner().invoke(cli, ["policy", "diff", *map(str, args)], catch_exceptions=False)


def test_settings_that_differ_are_listed() -> None:
    """Gates stand there by reason code."""
    shown = run("lite", "strict", "--human")

    assert shown.exit_code == 0
    assert [line.split() for line in shown.stdout.splitlines()] == [
        ["mode", "monitor", "→", "enforce"],
        ["validators.Answerability.gate.context_does_not_answer", "soft", "→", "hard"],
        ["validators.CitationRelevance.gate.citation_not_relevant", "soft", "→", "hard"],
        ["validators.NumericUnitsBasic.gate.number_not_in_sources", "soft", "→", "hard"],
        ["validators.NumericUnitsBasic.gate.uncited_number", "soft", "→", "hard"],
        ["validators.SourceConsensusValidator.gate.context_conflict_low_consensus", "soft", "→", "hard"],
    ]


def test_policies_that_do_not_differ_say_so() -> None:
    assert run("lite", "lite", "--human").stdout == "the policies do not differ in anything that is in force\n"


def test_programs_read_the_same_as_json() -> None:
    found = json.loads(run("lite", "strict").stdout)

    assert found["changes"][0] == {"key": "mode", "before": "monitor", "after": "enforce"}


def test_flips_on_cases_are_shown_with_examples_that_do_nothing_to_a_terminal(files: dict[str, str]) -> None:
    """What a case says is escaped."""
    shown = run(files["mild"], files["close"], "--on", files["cases"], "--human", "--as-of", "2026-02-01")

    assert shown.exit_code == 0
    assert "2 of 3 decisions flip" in shown.stdout
    assert "66.7% [9.4%, 99.2%]" in shown.stdout
    assert "       2 answer → refuse; of 1 labelled 0 with the label, 1 against it" in shown.stdout
    assert "A decides 2 of 2 labelled requests as it should be" in shown.stdout
    assert "one: answer → refuse, should be answer (against the label)" in shown.stdout
    assert "\\x1b[31munused gear" in shown.stdout
    assert "\x1b" not in shown.stdout


def test_flips_on_recorded_traffic_are_json_too(files: dict[str, str], trail: Trail) -> None:
    """Of five verdicts three have their texts."""
    found = json.loads(run(files["mild"], files["close"], "--on", trail.where).stdout)

    assert (found["judged"], found["unjudged"]) == (3, 2)
    assert [why for why, _ in found["not_judged"]] == ["its texts were not kept", "only hashes of its texts were kept"]


def test_filters_choose_recorded_traffic(files: dict[str, str], trail: Trail) -> None:
    found = json.loads(run(files["mild"], files["close"], "--on", trail.where, "--language", "vi").stdout)

    assert found["judged"] == 1


@pytest.mark.parametrize(
    ("limits", "code", "said"),
    [
        pytest.param(["2"], 0, "", id="as many flips as are allowed"),
        pytest.param(["1"], 7, "2 flips, at most 1", id="more flips"),
        pytest.param(["against=0"], 7, "1 against, at most 0", id="more flips against expected decisions"),
        pytest.param(["refuse-answer=0", "unjudged=0", "actions=0"], 0, "", id="another direction"),
        pytest.param(["flips=5", "answer-refuse=1"], 7, "2 answer-refuse, at most 1", id="a direction"),
    ],
)
def test_more_than_is_allowed_ends_with_a_code_of_its_own(
    files: dict[str, str], limits: list[str], code: int, said: str
) -> None:
    """A deployment can be gated on it."""
    options = [part for limit in limits for part in ("--fail-on", limit)]

    done = run(files["mild"], files["close"], "--on", files["cases"], *options)

    assert (done.exit_code, done.stderr.strip()) == (code, f"error: {said}" if said else "")


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        pytest.param(["--fail-on", "few"], 3, "is no limit", id="no number"),
        pytest.param(["--fail-on", "filps=1"], 3, "is no limit", id="no such count"),
        pytest.param(["--fail-on", "1"], 3, "name cases or an audit store with --on", id="a limit on nothing"),
        pytest.param(["--on", "CASES", "--language", "vi"], 3, "is a file of cases", id="filters for cases"),
        pytest.param(["--on", "nowhere.jsonl"], 3, "nowhere.jsonl", id="no such file"),
        pytest.param(["--on", "TRAIL", "--language", "fr"], 3, "no verdict is chosen", id="no verdict chosen"),
        pytest.param(["--on", "TRAIL", "--since", "yesterday"], 3, "no point in time", id="no time"),
    ],
)
def test_what_cannot_be_compared_is_said(
    files: dict[str, str], trail: Trail, args: list[str], code: int, said: str
) -> None:
    """Nothing judged is not nothing flipped."""
    named = [{"CASES": files["cases"], "TRAIL": trail.where}.get(arg, arg) for arg in args]

    done = run(files["mild"], files["close"], *named)

    assert (done.exit_code, said in done.stderr) == (code, True)


def test_a_policy_that_cannot_be_used_ends_with_its_code() -> None:
    assert run("lite", "no-such.yaml").exit_code == 4
