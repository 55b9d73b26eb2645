"""`stillme calibrate` writes thresholds only with a guarantee, and `stillme drift` says when they no longer apply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stillme import Guard
from stillme.audit import AuditStore
from stillme.audit.review.reviews import review
from stillme.cli.commands import Commands
from stillme.cli.evaluation.calibrate import calibrate, drift
from stillme.evaluation.calibration.thresholds import Settings
from stillme.policy import Policy
from tests.audit.conftest import Caught, occurrence

TOO_LITTLE, DRIFTED = 8, 9
WIDE = ("--max-escape-rate", "0.2", "--confidence", "0.9")
PASSAGES = {
    "en": ("How long can gear be returned?", "Unused gear can be returned within {} days [1].", 30, 45),
    "vi": ("Thời hạn đổi trả là bao lâu?", "Hàng chưa dùng được đổi trả trong {} ngày [1].", 30, 45),
}


def run(*args: object, **env: str) -> Result:
    """The result of the command in this process, with the errors that all commands share."""
    commands = Commands("stillme", commands={"calibrate": calibrate, "drift": drift})
    known = {"STILLME_AUDIT_STORE": "", "STILLME_POLICY": "", **env}
    return CliRunner().invoke(commands, [str(arg) for arg in args], catch_exceptions=False, env=known)


def request(language: str, number: int, right: bool, **changes: Any) -> dict[str, Any]:
    """A request whose draft is right or wrong."""
    query, draft, days, wrong = PASSAGES[language]
    passage = draft.format(days).replace(" [1]", "")
    return {
        "query": query,
        "draft_answer": draft.format(days if right else wrong + number),
        "retrieved_context": [{"source_id": "faq", "text": passage, "similarity": 0.9}],
        "metadata": {"language": language, "domain": "shop"},
        **changes,
    }


def case(language: str, number: int, right: bool) -> dict[str, Any]:
    """A labelled case."""
    asked = request(language, number, right)
    label = {"expected": "answer"} if right else {"claims": [{"text": asked["draft_answer"], "supported": False}]}
    return {"id": f"{language}-{right}-{number}", "request": asked, **label}


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """Forty cases of both languages, half of them with an unsupported claim."""
    rows = [case(language, n, right) for language in PASSAGES for right in (True, False) for n in range(10)]
    file = tmp_path / "cases.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return file


def test_thresholds_are_written(cases: Path, tmp_path: Path) -> None:
    """The whole policy goes to the file, the change to stdout, and both load to the same thresholds."""
    out = tmp_path / "calibrated.yaml"

    result = run("calibrate", cases, *WIDE, "--out", out, "--human")

    printed = tmp_path / "printed.yaml"
    printed.write_text(result.stdout, encoding="utf-8")
    assert (result.exit_code, result.stderr) == (0, "")
    assert Settings.of(Policy.load(out)) == Settings.of(Policy.load(printed)) == Settings(0.45, 0.5, 0.6, 0.0)
    calibration = Policy.load(out).calibration
    assert calibration is not None
    assert (calibration.cases, calibration.max_escape_rate, calibration.confidence) == (40, 0.2, 0.9)
    assert (calibration.languages, calibration.drifted) == ([], None)
    assert "# guaranteed with confidence 0.9: of drafts with an unsupported claim at most 20.00% pass" in out.read_text(
        "utf-8"
    )
    assert sorted(tmp_path.iterdir()) == sorted([cases, out, printed])


def test_verdicts_under_the_written_policy_count_as_calibrated(cases: Path, tmp_path: Path) -> None:
    """In the languages that have enough cases, with the same model, as long as no drift is recorded."""
    out = tmp_path / "calibrated.yaml"
    run("calibrate", cases, "--max-escape-rate", "0.45", "--confidence", "0.9", "--by", "language", "--out", out)
    policy = Policy.load(out)

    verdicts = {
        "fresh": Guard(policy).verify(request("vi", 0, True)),
        "drifted": Guard(policy.with_changes({"calibration": {"drifted": "it did"}})).verify(request("vi", 0, True)),
        "another model": Guard(policy.with_changes({"grounding": {"model": "none"}})).verify(request("en", 0, True)),
    }

    assert policy.calibration is not None
    assert policy.calibration.languages == ["en", "vi"]
    assert {name: v.calibrated for name, v in verdicts.items()} == {
        "fresh": True,
        "drifted": False,
        "another model": False,
    }


def test_too_few_cases_write_nothing(cases: Path, tmp_path: Path) -> None:
    """The default target takes 299 cases with an unsupported claim, and it says how many more."""
    out = tmp_path / "calibrated.yaml"

    result = run("calibrate", cases, "--out", out, "--human")

    assert result.exit_code == TOO_LITTLE
    assert "20 cases with an unsupported claim are too few to show an escape rate of at most 1.00%" in result.stdout
    assert "it takes 299, so 279 more" in result.stdout
    assert result.stderr == "error: no thresholds can be guaranteed: nothing was written\n"
    assert not out.exists()


def test_as_json(cases: Path) -> None:
    """One object with the thresholds, the figures, the whole curve and the policy as text."""
    result = run("calibrate", cases, *WIDE, "--json")
    found = json.loads(result.stdout)

    assert (found["guaranteed"], found["by"], found["cases"]) == (True, "none", 40)
    assert found["before"] == {"escaped": 0, "bad": 20, "refused": 0, "good": 20, "claims_escaped": 0, "claims": 20}
    assert found["settings"]["min_score"] == 0.0
    first = found["groups"][0]["curve"][0]
    assert (first["min_score"], first["escaped"], first["bad"], first["certified"]) == (1.0, 0, 20, True)
    assert first["p"] == pytest.approx(0.8**20)
    assert "calibration:" in found["policy"]


def test_a_file_that_is_there_is_not_overwritten(cases: Path, tmp_path: Path) -> None:
    """Unless that is asked for; it is said before any case is run."""
    out = tmp_path / "policy.yaml"
    out.write_text("mode: warn\n", encoding="utf-8")

    refused = run("calibrate", cases, *WIDE, "--out", out)
    forced = run("calibrate", cases, *WIDE, "--policy", out, "--out", out, "--force")

    assert (refused.exit_code, "exists: choose another name" in refused.stderr) == (3, True)
    assert forced.exit_code == 0
    assert (Policy.load(out).mode, Policy.load(out).calibration is not None) == ("warn", True)


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        pytest.param((), 3, "there are no cases: name a file of them", id="no cases and no store"),
        pytest.param(("none.jsonl",), 3, "none.jsonl", id="no such file"),
        pytest.param(("x", "--policy", "none.yaml"), 4, "there is no policy file", id="no such policy"),
        pytest.param(("x", "--max-escape-rate", "0"), 2, "0", id="no rate at all"),
        pytest.param(("x", "--out", "no/such/folder.yaml"), 3, "there is no folder", id="no such folder"),
    ],
)
def test_what_cannot_be_done(args: tuple[str, ...], code: int, said: str) -> None:
    """A line that says what to do, and the exit code of its kind."""
    result = run("calibrate", *args)

    assert result.exit_code == code
    assert said in result.stderr


# from a store


def store_with(where: Path, verdicts: Sequence[tuple[dict[str, Any], str | None]], policy: Any = None) -> Path:
    """A store of verdicts, reviewed where a label is given."""
    caught = Caught()
    guard = Guard(policy, audit=caught)
    for asked, _ in verdicts:
        guard.verify(asked)
    begin = datetime(2026, 2, 2, tzinfo=UTC)
    with AuditStore(where) as store:
        made = [replace(each, at=begin + timedelta(minutes=n)) for n, each in enumerate(caught.occurrences)]
        store.record(made)
        for each, (_, label) in zip(made, verdicts, strict=True):
            if label is not None:
                review(store, str(each.verdict.validator_trace_id), label, "lan")
    return where


def test_reviewed_verdicts_give_thresholds(tmp_path: Path) -> None:
    """Refusals that people call right are the bad cases, answers the good ones."""
    wrong = [(request("en", n, False), "correct") for n in range(20)]
    right = [(request("en", n, True), "correct") for n in range(5)]
    where = store_with(tmp_path / "audit.db", [*wrong, *right, (request("vi", 1, True), "unclear")])

    result = run("calibrate", "--store", where, *WIDE, "--json")
    found = json.loads(result.stdout)

    assert result.exit_code == 0
    assert found["before"] == {"escaped": 0, "bad": 20, "refused": 0, "good": 5, "claims_escaped": 0, "claims": 20}
    assert found["notes"] == [
        "language 'en': 20 of the cases with an unsupported claim, 30 are needed for its verdicts to count as calibrated",
        "1 reviewed verdicts are left out: labelled unclear",
    ]


def test_a_sample_that_drew_refusals_more_often_is_thinned_out(tmp_path: Path) -> None:
    """Reviewed answers speak for more verdicts than reviewed refusals, so some refusals go."""
    right = [(request("en", n, True), "correct") for n in range(20)]
    where = store_with(tmp_path / "audit.db", [*right, *[(request("en", n, False), "correct") for n in range(20)]])

    result = run("calibrate", "--store", where, *WIDE, "--answers", "4", "--json")
    found = json.loads(result.stdout)

    assert found["before"]["good"] == 4
    assert found["before"]["bad"] < 12
    assert any(
        note.startswith("16 reviewed verdicts are left out: reviewed without being drawn") for note in found["notes"]
    )
    assert any("were thinned out" in note for note in found["notes"])


def test_a_store_without_reviews(tmp_path: Path) -> None:
    """It says so, and not that all is well."""
    where = store_with(tmp_path / "audit.db", [(request("en", 1, True), None)])

    result = run("calibrate", "--store", where)

    assert (result.exit_code, result.stderr) == (3, "error: no reviewed verdict of this store can be used\n")


# drift


@pytest.fixture
def calibrated(cases: Path, tmp_path: Path) -> Path:
    """A policy calibrated on as many cases as a comparison needs."""
    rows = [json.loads(line) for line in cases.read_text("utf-8").splitlines()]
    many = [{**row, "id": f"{row['id']}-{n}"} for n in range(3) for row in rows]
    cases.write_text("".join(json.dumps(row) + "\n" for row in many), encoding="utf-8")
    out = tmp_path / "policy.yaml"
    assert run("calibrate", cases, *WIDE, "--out", out).exit_code == 0
    return out


def traffic(where: Path, policy: Path, similarity: float) -> Path:
    """A hundred verdicts under the policy, like the cases but for the similarity."""
    asked = [(request(language, n, right), None) for language in PASSAGES for right in (True, False) for n in range(25)]
    for each, _ in asked:
        each["retrieved_context"][0]["similarity"] = similarity
    return store_with(where, asked, Policy.load(policy))


def test_traffic_like_the_cases_has_not_drifted(calibrated: Path, tmp_path: Path) -> None:
    """Exit code 0, and the policy file is left alone even with --write."""
    before = calibrated.read_bytes()
    where = traffic(tmp_path / "audit.db", calibrated, 0.9)

    result = run("drift", "--store", where, "--policy", calibrated, "--write", "--human")

    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "no drift is shown by 100 verdicts")
    assert calibrated.read_bytes() == before


def test_shifted_traffic_is_told_and_recorded(calibrated: Path, tmp_path: Path) -> None:
    """Exit code 9; with --write the verdicts of the policy no longer count as calibrated, and nothing else changes."""
    before = Policy.load(calibrated)
    where = traffic(tmp_path / "audit.db", calibrated, 0.5)

    told = run("drift", "--store", where, "--policy", calibrated, "--json")
    assert Policy.load(calibrated) == before
    written = run("drift", "--store", where, "--policy", calibrated, "--write", "--human")

    found = json.loads(told.stdout)
    after = Policy.load(calibrated)
    assert (told.exit_code, written.exit_code, found["outcome"]) == (DRIFTED, DRIFTED, "drifted")
    assert found["reason"].startswith(
        "100 cases of traffic differ from the calibration: similarity below 0.55: 0.0% before, 100.0% now"
    )
    assert after == before.with_changes({"calibration": {"drifted": found["reason"]}})
    assert written.stdout.splitlines()[0] == found["reason"]


def test_a_few_verdicts_say_nothing(calibrated: Path, tmp_path: Path) -> None:
    """Neither drift nor its absence: an exit code of its own."""
    where = traffic(tmp_path / "audit.db", calibrated, 0.5)

    result = run("drift", "--store", where, "--policy", calibrated, "--until", "2026-02-02T00:40", "--human")

    assert (result.exit_code, result.stdout.splitlines()[0]) == (
        TOO_LITTLE,
        "too few to say: 40 verdicts, 60 more are needed",
    )


def test_verdicts_of_another_model_do_not_count(calibrated: Path, tmp_path: Path) -> None:
    """They are counted apart, and named."""
    where = tmp_path / "audit.db"
    with AuditStore(where) as store:
        store.record([occurrence({"grounding": {"model": "none"}})])

    result = run("drift", "--store", where, "--policy", calibrated, "--human")

    assert result.exit_code == TOO_LITTLE
    assert "1 verdicts were made with another model: they do not count as calibrated" in result.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        pytest.param((), "no policy is named", id="no policy"),
        pytest.param(("--policy", "lite"), "this policy was not calibrated", id="a policy without calibration"),
    ],
)
def test_drift_needs_a_calibrated_policy(tmp_path: Path, args: tuple[str, ...], said: str) -> None:
    """There is nothing to drift from without one."""
    where = store_with(tmp_path / "audit.db", [(request("en", 1, True), None)])

    result = run("drift", "--store", where, *args)

    assert (result.exit_code, said in result.stderr) == (3, True)


@pytest.mark.parametrize("language", ["en", "vi"])
def test_similarity_is_raised_between_wrong_and_right_answers(tmp_path: Path, language: str) -> None:
    """Drafts that repeat a passage about something else are told from right ones by their similarity alone; confidence stays."""

    def at(similarity: float, right: bool, number: int) -> dict[str, Any]:
        made = case(language, number, right=True)
        made["id"] = f"{similarity}-{number}"
        made["request"]["retrieved_context"][0]["similarity"] = similarity
        if not right:
            del made["expected"]
            made["claims"] = [{"text": made["request"]["draft_answer"], "supported": False}]
        return made

    file, policy = tmp_path / "cases.jsonl", tmp_path / "policy.yaml"
    lines = [at(0.72, False, n) for n in range(60)] + [at(0.95, True, n) for n in range(30)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    result = run("calibrate", file, "--max-escape-rate", "0.05", "--confidence", "0.9", "--out", policy, "--human")

    found = Settings.of(Policy.load(policy))
    assert result.exit_code == 0
    assert 0.72 < found.factual < 0.95
    assert (found.generation_confidence, found.min_score) == (0.6, 0.0)
