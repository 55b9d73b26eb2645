"""`stillme eval` as a user calls it: figures, bars, comparison, runs that go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stillme.cli.commands import Commands
from stillme.cli.evaluation.eval import evaluate

COMMANDS = Commands(commands=[evaluate])
LEAVE = {"source_id": "leave", "text": "Every employee has 12 days of annual leave.", "similarity": 0.9}
CAPITAL = {"source_id": "địa-lý", "text": "Thủ đô của Việt Nam là Hà Nội.", "similarity": 0.9}
PLAIN = "grounding:\n  model: none\n"


def case(number: int, draft: str, supported: bool, language: str = "en") -> dict[str, Any]:
    """A draft that is right or wrong, in English or Vietnamese."""
    query, passage = ("How many days of annual leave are there?", LEAVE)
    if language == "vi":
        query, passage = ("Thủ đô của Việt Nam là thành phố nào?", CAPITAL)
    return {
        "id": f"{language}-{number}",
        "request": {"query": query, "draft_answer": draft, "retrieved_context": [passage]},
        "expected": "answer" if supported else "refuse",
        "claims": [{"text": draft, "supported": supported}],
        "tags": ["sample"],
    }


CASES = [
    case(1, "Every employee has 12 days of annual leave [1].", True),
    case(2, "Every employee has 15 days of annual leave [1].", False),
    case(3, "Thủ đô của Việt Nam là Hà Nội [1].", True, "vi"),
    case(4, "Thủ đô của Việt Nam là Huế [1].", False, "vi"),
    # the policy below cannot know that this is wrong: the passage says so
    {**case(5, "Every employee has 12 days of annual leave [1].", False), "why": "labelled wrong on purpose"},
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STILLME_POLICY", "plain.yaml")
    monkeypatch.setenv("COLUMNS", "140")
    (tmp_path / "plain.yaml").write_text(PLAIN, encoding="utf-8")
    (tmp_path / "hard.yaml").write_text(PLAIN + "thresholds:\n  min_similarity_for_factual: 0.95\n", encoding="utf-8")
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(c) + "\n" for c in CASES), encoding="utf-8")


def run(*args: str, stdin: str = "") -> Result:
    """The result of the command in this process, its figures as JSON."""
    return CliRunner().invoke(COMMANDS, ["eval", "--json", *args], input=stdin, catch_exceptions=False)


def shares(result: Result, place: int = 0) -> dict[str, tuple[int, int]]:
    """What was counted in a run."""
    rates = json.loads(result.stdout)["runs"][place]["metrics"]["rates"]
    return {name: (rate["numerator"], rate["denominator"]) for name, rate in rates.items()}


def test_a_summary_is_printed_into_a_pipe() -> None:
    """JSON is for whoever asks for it: the standard output of this run is no terminal."""
    result = CliRunner().invoke(COMMANDS, ["eval", "cases.jsonl"], catch_exceptions=False)

    assert result.exit_code == 0
    assert "5 cases: 0 errors, 0 unscored" in result.stdout
    assert "hallucination_escape_rate  33.3 %" in result.stdout
    assert not result.stdout.startswith("{")


def test_the_figures_are_printed_as_json() -> None:
    """Counted by hand: five cases, one of them wrong on purpose and answered."""
    result = run("cases.jsonl")

    assert result.exit_code == 0
    assert shares(result) == {
        "hallucination_escape_rate": (1, 3),
        "refusal_precision": (2, 2),
        "source_coverage": (2, 3),
        "false_refusal_rate": (0, 2),
        "refusal_recall": (2, 3),
        "clarify_precision": (0, 0),
        "clarify_recall": (0, 0),
        "decision_accuracy": (4, 5),
        "claim_precision": (2, 2),
        "claim_recall": (2, 3),
        "claim_specificity": (2, 2),
    }
    found = json.loads(result.stdout)
    assert (found["cases"]["name"], found["cases"]["count"]) == ("cases.jsonl", 5)
    assert {v: s["cases"] for v, s in found["runs"][0]["metrics"]["slices"]["language"].items()} == {"en": 3, "vi": 2}
    assert found["comparisons"] == []


@pytest.mark.parametrize(
    ("bars", "code", "said"),
    [
        pytest.param(["--max", "escape_rate=0.4"], 0, "", id="met"),
        pytest.param(
            ["--max", "escape_rate=0.1", "--min", "refusal_precision=0.9"],
            12,
            "error: bar missed by plain: --max hallucination_escape_rate=0.1: 0.3333 (1 of 3)\n",
            id="one of two missed",
        ),
        pytest.param(
            ["--min", "refusal_precision=90%", "--strict"],
            12,
            "error: bar missed by plain: --min refusal_precision=0.9: 1 (2 of 2), 95 % interval 0.1581 to 1; "
            "at this rate about 36 would show it, 34 more\n",
            id="too few to show it",
        ),
        pytest.param(
            ["--min", "clarify_recall=0"],
            12,
            "error: bar missed by plain: --min clarify_recall=0: nothing was counted",
            id="nothing counted",
        ),
        pytest.param(["--max", "escapes=1"], 3, "'escapes' is no metric", id="no metric"),
    ],
)
def test_bars_hold_up_a_deployment(bars: list[str], code: int, said: str) -> None:
    """The exit code tells, and standard error says which."""
    result = run("cases.jsonl", *bars)

    assert result.exit_code == code
    assert said in result.stderr


def test_several_policies_are_compared() -> None:
    """With the first, on the same cases; the figures stand side by side."""
    result = run("cases.jsonl", "--policy", "plain.yaml", "--policy", "hard.yaml")

    found = json.loads(result.stdout)
    (comparison,) = found["comparisons"]
    assert [r["heading"]["name"] for r in found["runs"]] == ["plain", "hard"]
    assert (comparison["before"], comparison["after"], comparison["changed"]) == ("plain", "hard", 3)
    assert comparison["flips"] == [{"before": "answer", "after": "refuse", "cases": 3}]
    assert comparison["directions"] == {"before": 2, "after": 1, "neither": 0, "unknown": 0}
    assert shares(result, 1)["false_refusal_rate"] == (2, 2)


def test_a_run_is_kept_and_goes_on() -> None:
    """A file that was cut is completed; the figures are the same."""
    first = run("cases.jsonl", "--out", "run.jsonl")
    path = Path("run.jsonl")
    path.write_bytes(path.read_bytes()[:-200])

    again = run("cases.jsonl", "--out", "run.jsonl")

    assert shares(first) == shares(again)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 6


def test_a_run_of_another_policy_is_not_gone_on_with() -> None:
    """The message says what to do."""
    run("cases.jsonl", "--out", "run.jsonl")

    result = run("cases.jsonl", "--out", "run.jsonl", "--policy", "hard.yaml")

    assert result.exit_code == 3
    assert "run.jsonl is a run of another policy: name another file, or remove it" in result.stderr


def test_several_runs_are_kept_under_their_names() -> None:
    """One file a policy; policies of one name are told apart."""
    run("cases.jsonl", "--policy", "plain.yaml", "--policy", "hard.yaml", "--policy", "hard.yaml", "--out", "run.jsonl")

    assert sorted(p.name for p in Path().glob("run*")) == ["run-hard-2.jsonl", "run-hard.jsonl", "run-plain.jsonl"]


def test_an_earlier_run_is_compared_with() -> None:
    """It comes first, and has to be of the same cases."""
    run("cases.jsonl", "--out", "run.jsonl", "--policy", "hard.yaml")

    same = run("cases.jsonl", "--against", "run.jsonl")
    other = run("cases.jsonl", "--against", "run.jsonl", "--limit", "2")

    (comparison,) = json.loads(same.stdout)["comparisons"]
    assert (comparison["before"], comparison["after"], comparison["changed"]) == ("hard", "plain", 3)
    assert (other.exit_code, "'run.jsonl' is a run of other cases" in other.stderr) == (3, True)


def test_processes_change_nothing() -> None:
    """Two of them give what one gives."""
    alone, together = run("cases.jsonl"), run("cases.jsonl", "--jobs", "2")

    assert (shares(alone), together.exit_code) == (shares(together), 0)


def test_cases_may_come_from_standard_input() -> None:
    """Or be limited to a sample of them."""
    lines = Path("cases.jsonl").read_text(encoding="utf-8")

    assert shares(run("-", stdin=lines)) == shares(run("cases.jsonl"))
    assert json.loads(run("-", "--limit", "2", stdin=lines).stdout)["cases"]["count"] == 2


def test_a_limit_of_the_bundled_cases_has_every_kind_of_case() -> None:
    """Forty cases of the starter set: each decision expected, both languages, every category."""
    result = run("starter", "--limit", "40")

    found = json.loads(result.stdout)
    slices = found["runs"][0]["metrics"]["slices"]
    confusion = found["runs"][0]["metrics"]["confusion"]
    assert (result.exit_code, found["cases"]["name"], found["cases"]["count"]) == (0, "starter", 40)
    assert all(18 <= row["cases"] <= 22 for row in slices["language"].values())
    assert all(sum(confusion[expected].values()) for expected in ("answer", "refuse", "ask_clarify"))
    assert len(slices["category"]) == 9


def test_a_public_set_can_be_run() -> None:
    """Files of another layout are named and left out."""
    Path("public").mkdir()
    rows = [
        {"claim": c["request"]["draft_answer"], "evidence": LEAVE["text"], "label": str(c["expected"] == "answer")}
        for c in CASES[:2]
    ]
    Path("public/dev.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    Path("public/other.json").write_text("[]", encoding="utf-8")

    result = run("--public", "public")

    assert (result.exit_code, shares(result)["decision_accuracy"]) == (0, (2, 2))
    assert "left out, its layout is not known: 'other.json'" in result.stderr


def test_cases_that_could_not_be_run_are_told() -> None:
    """By the exit code, unless a bar says how many may fail."""
    long = case(6, "x" * 70_000, True)
    Path("long.jsonl").write_text(json.dumps(CASES[0]) + "\n" + json.dumps(long) + "\n", encoding="utf-8")

    results = [
        run("long.jsonl"),
        run("long.jsonl", "--max", "errors=1"),
        run("long.jsonl", "--min", "refusal_recall=0"),
    ]

    assert [r.exit_code for r in results] == [5, 0, 12]
    assert "1 case could not be run, in no figure: see `error` in its record" in results[0].stderr
    assert "--max errors=0: 1 of 2 cases" in results[2].stderr


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        pytest.param([], 3, "name the cases", id="no cases"),
        pytest.param(["cases.jsonl", "--public", "x"], 3, "name the cases", id="two kinds of cases"),
        pytest.param(["none.jsonl"], 3, "none.jsonl cannot be read: No such file", id="no such file"),
        pytest.param(["plain.yaml"], 3, "plain.yaml line 1: not valid JSON", id="a file of another kind"),
        pytest.param(["cases.jsonl", "--policy", "none.yaml"], 4, "none.yaml", id="no such policy"),
        pytest.param(["cases.jsonl", "--against", "cases.jsonl"], 3, "cases.jsonl is no run file", id="no run"),
        pytest.param(
            ["cases.jsonl", "--out", "cases.jsonl"], 3, "cases.jsonl is no run file", id="cases are not overwritten"
        ),
        pytest.param(["cases.jsonl", "--jobs", "-1"], 2, "-1 is not in the range", id="fewer processes than none"),
    ],
)
def test_what_cannot_be_done_is_said(args: list[str], code: int, said: str) -> None:
    """In a line, with its exit code."""
    result = run(*args)

    assert (result.exit_code, said in result.stderr) == (code, True), result.stderr
