"""A case study from hand-made records: every table by hand, the same figures in Markdown and HTML, nothing hostile gets out."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from stillme.errors import InputError
from stillme.evaluation.runs.case_files import CaseFile, checked
from stillme.evaluation.runs.records import CaseRecord, ClaimRecord, RunHeading
from stillme.evaluation.runs.run import Run, read_run
from stillme.pages.case_study import DISCLOSURES, NOTES, CaseStudy, case_study
from stillme.pages.document import ByHand, Example, ExampleText, Heading, Paragraph, Plot, Table
from stillme.pages.text import Code
from stillme.policy import Policy
from stillme.reasons import Decision

HOSTILE = "</td><script>alert(1)</script> | **x** \u202e`\n# y"
DRAFT = "It has 12 days. It has 99 seats."
SECTIONS = [
    *(
        "Dataset protocol",
        "Setup",
        "Baseline",
        "Results",
        "Error analysis",
        "Limits",
        "How to reproduce it",
        "Decision",
    ),
]


def claim(
    start: int, end: int, supported: bool | None, score: float | None, status: str = "supported", **rest: Any
) -> ClaimRecord:
    """A claim of a verdict."""
    given: dict[str, Any] = {"status": status, "score": score, "supported": supported, **rest}
    return ClaimRecord(start=start, end=end, **given)


def case(name: str, expected: str | None, decision: str | None, *claims: ClaimRecord, **rest: Any) -> CaseRecord:
    """A verified case in English, ten milliseconds long."""
    scores = [c.score for c in claims if c.score is not None]
    base: dict[str, Any] = {"language": "en", "verified": decision is not None, "elapsed_ms": 10.0}
    given = {**base, "probability": min(scores, default=None), **rest}
    return CaseRecord(id=name, expected=expected, decision=decision, claims=claims, **given)


# One right answer, one escape, one false refusal, one right refusal, one without labels, one that could not be run.
TABLE = [
    case("right", "answer", "answer", claim(0, 15, True, 0.9, cited=True), category="plain"),
    case(
        "escape",
        "refuse",
        "answer",
        claim(16, 32, False, 0.8),
        category="made-up",
        expected_reasons=("unsupported_claim",),
    ),
    case(
        "held",
        "answer",
        "refuse",
        claim(0, 15, True, 0.6, "unsupported"),
        reasons=("unsupported_claim",),
        language="vi",
    ),
    case("caught", "refuse", "refuse", claim(0, 15, False, 0.1, "contradicted"), reasons=("contradicted_claim",)),
    case("bare", None, "answer"),
    case("broken", "answer", None, error="RuntimeError: 'no'"),
]


def write(path: Path, records: Sequence[CaseRecord], policy: str = "lite", **heading: Any) -> Run:
    """A run file of these records under a preset."""
    chosen = Policy.load(policy)
    given: dict[str, Any] = {
        "name": policy,
        "cases": "cases.jsonl",
        "cases_sha256": "c" * 64,
        "count": len(records),
        "policy_hash": chosen.hash,
        "policy": chosen.model_dump(mode="json", exclude_unset=True),
        "model_id": "model/1",
        "version": "0.1.0",
        "started": "2026-02-01T09:00:00+00:00",
    }
    lines = [RunHeading(**{**given, **heading}), *records]
    path.write_text("".join(line.model_dump_json() + "\n" for line in lines), encoding="utf-8")
    return read_run(path)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The run of the table."""
    return write(tmp_path / "run.jsonl", TABLE)


@pytest.fixture
def cases(tmp_path: Path) -> CaseFile:
    """The cases of the table, as far as a report reads them."""
    path = tmp_path / "cases.jsonl"
    rows = []
    for record in TABLE:
        request = {
            "query": f"What of {record.id}?",
            "draft_answer": DRAFT,
            "retrieved_context": [{"source_id": "s", "text": "12 days."}],
        }
        rows.append(
            {
                "id": record.id,
                "request": request,
                "claims": [{"text": "99 seats", "supported": False}],
                "why": "It says so.",
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return checked(path)


def tables(report: CaseStudy) -> dict[str, Table]:
    """The tables by their first head."""
    return {block.heads[0]: block for block in report.blocks if isinstance(block, Table)}


def rows(report: CaseStudy, head: str) -> list[list[str]]:
    """The rows of a table, as lists."""
    return [list(row) for row in tables(report)[head].rows]


def words(text: Any) -> str:
    """A text without what is set apart in it."""
    return text if isinstance(text, str) else "".join(text)


def cells_in_html(page: str) -> list[str]:
    """Every cell of the page, as text."""
    found = re.findall(r"<td[^>]*>(.*?)</td>", page, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]+>", "", cell)).replace("\u00a0", " ") for cell in found]


def cells_in_markdown(page: str) -> list[str]:
    """Every cell below a head, as text."""
    lines = [line for line in page.split("\n") if line.startswith("| ") and not line.startswith("| ---")]
    found = [cell.strip() for line in lines for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    plain = [re.sub(r"\\(.)", r"\1", cell).strip("`") for cell in found]
    return [cell.replace(":&#47;/", "://") for cell in plain]


# the whole


def test_the_sections_are_those_of_the_template(run: Run) -> None:
    """In its order, and in the file that people fill in."""
    report = case_study([run])
    template = (Path(__file__).parents[2] / "docs" / "CASE_STUDY_TEMPLATE.md").read_text(encoding="utf-8")

    assert [b.text for b in report.blocks if isinstance(b, Heading) and b.level == 2] == SECTIONS
    assert [line[3:] for line in template.splitlines() if line.startswith("## ")][: len(SECTIONS)] == SECTIONS
    assert [key for key in NOTES if f"`{key}`" not in template] == []


def test_a_study_opens_with_the_rates_that_matter_and_its_plots(run: Run) -> None:
    """Before its first section: the mandatory metrics, what strictness costs, and every plot."""
    blocks = case_study([run]).blocks
    first = next(n for n, block in enumerate(blocks) if isinstance(block, Heading))

    opening = blocks[:first]

    assert [name for name, _, _ in opening[0].tiles] == [
        "hallucination_escape_rate",
        "refusal_precision",
        "source_coverage",
        "false_refusal_rate",
    ]
    assert [block.name for block in opening if isinstance(block, Plot)] == [
        "risk-coverage",
        "reliability",
        "threshold-sweep",
        "reasons",
    ]
    assert not [block for block in blocks[first:] if isinstance(block, Plot)]


def test_the_same_runs_give_the_same_report(run: Run) -> None:
    """Byte for byte."""
    first, second = case_study([run]), case_study([run])

    assert (first.html(), first.markdown(), dict(first.charts)) == (
        second.html(),
        second.markdown(),
        dict(second.charts),
    )


def test_markdown_and_html_hold_the_same_figures(run: Run, tmp_path: Path) -> None:
    """Cell for cell, with one run and with two."""
    other = write(tmp_path / "other.jsonl", TABLE, "strict")
    for runs in ([run], [run, other]):
        report = case_study(runs)
        shown = [b for b in report.blocks if isinstance(b, Table)] + [
            b.table for b in report.blocks if isinstance(b, Plot)
        ]
        heads = {head for table in shown for head in table.heads}

        in_html = cells_in_html(report.html())
        in_markdown = [cell for cell in cells_in_markdown(report.markdown()) if cell not in heads]

        assert [cell for cell in in_html if cell not in heads] == in_markdown
        assert len(in_html) > 100


def test_every_table_names_its_file_and_its_counts(run: Run) -> None:
    """The hash is that of the file, and the counts are those of its records."""
    digest = hashlib.sha256(run.path.read_bytes()).hexdigest()
    report = case_study([run])
    found = [*tables(report).values(), *(b.table for b in report.blocks if isinstance(b, Plot))]

    assert all(digest[:12] in words(table.source) for table in found)
    assert words(tables(report)["Mandatory metrics"].source) == (
        f"From run lite, file sha256 {digest[:12]}: 6 records, 1 error, 1 without labels."
    )
    assert [Code("lite"), "file sha256", Code(digest)] in rows(report, "Run")


# figures by hand


def test_the_dataset_by_hand(run: Run) -> None:
    """What is labelled, what is expected, how many of each language and category."""
    report = case_study([run])

    assert rows(report, "What is labelled") == [
        ["cases", "6"],
        ["cases that expect a decision", "4"],
        ["cases that expect reason codes", "1"],
        ["cases that have labelled claims", "4"],
        ["claims labelled supported", "2"],
        ["claims labelled unsupported", "2"],
        ["claims without a label", "0"],
        ["cases with nothing labelled", "1"],
        ["cases that could not be run, in no count above but the first", "1"],
    ]
    assert rows(report, "Expected decision") == [["answer", "2"], ["ask_clarify", "0"], ["refuse", "2"]]
    assert dict(zip(("heads", "rows"), _language_counts(report), strict=True)) == {
        "heads": ["Language", "cases", "scored", "errors"],
        "rows": [["en", "5", "3", "1"], ["vi", "1", "1", "0"]],
    }


def _language_counts(report: CaseStudy) -> tuple[list[str], list[list[str]]]:
    table = next(b for b in report.blocks if isinstance(b, Table) and b.heads[0] == "Language")
    return list(table.heads), [list(row) for row in table.rows]


def test_the_results_by_hand(run: Run) -> None:
    """Numerators, denominators and intervals of the table above."""
    report = case_study([run])

    assert rows(report, "Mandatory metrics") == [
        ["hallucination_escape_rate", "lite", "50 %", "1 / 2", "1 to 99 %"],
        ["refusal_precision", "lite", "50 %", "1 / 2", "1 to 99 %"],
        ["source_coverage", "lite", "50 %", "1 / 2", "1 to 99 %"],
    ]
    assert rows(report, "Further metrics")[:4] == [
        ["false_refusal_rate", "lite", "50 %", "1 / 2", "1 to 99 %"],
        ["refusal_recall", "lite", "50 %", "1 / 2", "1 to 99 %"],
        ["clarify_precision", "lite", "–", "0 / 0", "nothing to count"],
        ["clarify_recall", "lite", "–", "0 / 0", "nothing to count"],
    ]
    assert rows(report, "Run lite") == [
        ["expected answer", "1", "0", "1"],
        ["expected ask_clarify", "0", "0", "0"],
        ["expected refuse", "1", "0", "1"],
    ]
    assert rows(report, "Time for a case, on the machine of the run") == [
        ["50 % of cases within", "lite", "10.0", "5", "10.0 to 10.0"],
        ["95 % of cases within", "lite", "10.0", "5", "10.0 or more"],
    ]


def test_one_run_is_compared_with_delivering_everything(run: Run) -> None:
    """Worked out from the labels: everything passes, nothing is refused."""
    report = case_study([run])

    assert rows(report, "Metric") != []
    assert [
        list(r) for b in report.blocks if isinstance(b, Table) and "every draft delivered" in b.heads for r in b.rows
    ] == [
        ["hallucination_escape_rate", "100 % (2 / 2; 15 to 100 %)", "50 % (1 / 2; 1 to 99 %)"],
        ["false_refusal_rate", "0 % (0 / 2; 0 to 85 %)", "50 % (1 / 2; 1 to 99 %)"],
        ["decision_accuracy", "50 % (2 / 4; 6 to 94 %)", "50 % (2 / 4; 6 to 94 %)"],
    ]


def test_two_runs_are_compared_case_by_case(run: Run, tmp_path: Path) -> None:
    """The escape is caught in the second: one case of four that ran in both, which shows nothing yet."""
    caught = TABLE[1].model_copy(update={"decision": Decision.REFUSE})
    other = write(tmp_path / "other.jsonl", [TABLE[0], caught, *TABLE[2:]], "strict")
    report = case_study([run, other])

    assert rows(report, "strict less lite")[0] == [
        "hallucination_escape_rate",
        "50 % (1 / 2; 1 to 99 %)",
        "0 % (0 / 2; 0 to 85 %)",
        "-50.0",
        *rows(report, "strict less lite")[0][4:6],
        rows(report, "strict less lite")[0][6],
    ]
    assert rows(report, "strict less lite")[0][6] not in ("better", "worse")
    assert rows(report, "Decision in lite") == [["answer", "refuse", "1"]]
    assert words(tables(report)["Decision in lite"].source).endswith(
        " Of 1 case decided differently 0 were right before, 1 after, 0 in neither, and 0 expect nothing."
    )
    assert [row[1] for row in rows(report, "Mandatory metrics")] == ["lite", "strict"] * 3
    assert rows(report, "Differs from lite")[0] == ["mode", "monitor", "enforce"]


def test_runs_of_one_name_are_told_apart(run: Run, tmp_path: Path) -> None:
    """By their number."""
    report = case_study([run, write(tmp_path / "again.jsonl", TABLE)])

    assert [row[1] for row in rows(report, "Mandatory metrics")][:2] == ["lite #1", "lite #2"]


def test_the_plots_show_what_the_tables_say(run: Run) -> None:
    """Four plots, sound as files; the numbers behind them by hand."""
    report = case_study([run])
    shown = {b.name: [list(row) for row in b.table.rows] for b in report.blocks if isinstance(b, Plot)}

    assert list(report.charts) == ["risk-coverage", "reliability", "threshold-sweep", "reasons"]
    assert all(ElementTree.fromstring(svg) is not None for svg in report.charts.values())  # noqa: S314
    assert shown["risk-coverage"] == [
        ["lite", "100 %", "50 %", "2 / 4", "6 to 94 %"],
        ["lite", "50 %, as it ran", "50 %", "1 / 2", "1 to 99 %"],
    ]
    assert shown["reliability"] == [
        ["0.10", "0 %", "0 / 1", "0 to 98 %"],
        ["0.60", "100 %", "1 / 1", "2 to 100 %"],
        ["0.80", "0 %", "0 / 1", "0 to 98 %"],
        ["0.90", "100 %", "1 / 1", "2 to 100 %"],
    ]
    assert shown["threshold-sweep"][-3:] == [
        ["0.80", "50 %", "1 / 2", "1 to 99 %", "50 %", "1 / 2", "1 to 99 %"],
        ["0.90", "0 %", "0 / 2", "0 to 85 %", "50 %", "1 / 2", "1 to 99 %"],
        ["1.00", "0 %", "0 / 2", "0 to 85 %", "100 %", "2 / 2", "15 to 100 %"],
    ]
    assert [row[:1] + row[2:] for row in shown["reasons"]] == [
        ["contradicted_claim", "1", "1", "0", "0"],
        ["unsupported_claim", "1", "0", "1", "0"],
    ]


def test_a_threshold_that_was_in_force_is_where_the_sweep_starts(tmp_path: Path) -> None:
    """What a lower one would do is not in the records."""
    policy = Policy.load({"validators": {"FactualHallucinationValidator": {"min_score": 0.5}}})
    settings = policy.model_dump(mode="json", exclude_unset=True)
    run = write(tmp_path / "run.jsonl", TABLE, policy=policy.extends, policy_hash=policy.hash, name="own")
    text = run.path.read_text(encoding="utf-8").splitlines()
    heading = json.loads(text[0]) | {"policy": settings}
    run.path.write_text("\n".join([json.dumps(heading), *text[1:]]) + "\n", encoding="utf-8")
    sweep = next(
        b for b in case_study([read_run(run.path)]).blocks if isinstance(b, Plot) and b.name == "threshold-sweep"
    )

    assert [row[0] for row in sweep.table.rows] == ["0.50", "0.60", "0.70", "0.80", "0.90", "1.00"]


def test_a_policy_that_cannot_be_read_is_shown_as_recorded(tmp_path: Path) -> None:
    """And nothing is said that rests on reading it."""
    run = write(tmp_path / "run.jsonl", TABLE, policy_hash="0" * 64)
    report = case_study([run])

    assert "threshold-sweep" not in report.charts
    assert "does not read the policy as the run did" in report.markdown()


# errors


def test_errors_by_hand(run: Run, cases: CaseFile) -> None:
    """Where they happen, which codes, and the cases themselves with their texts."""
    run = write(run.path, TABLE, cases_sha256=cases.sha256)
    report = case_study([run], cases=cases)
    examples = [b for b in report.blocks if isinstance(b, Example)]

    assert rows(report, "Code that was expected and not named") == [
        ["unsupported_claim", "100 %", "1 / 1", "2 to 100 %"]
    ]
    assert rows(report, "Code that was named") == [["unsupported_claim", "100 %", "1 / 1", "2 to 100 %"]]
    assert [[list(r) for r in b.rows] for b in report.blocks if isinstance(b, Table) and b.heads[0] == "By"] == [
        [["category", "made-up", "100 %", "1 / 1", "2 to 100 %"], ["language", "en", "50 %", "1 / 2", "1 to 99 %"]],
        [["language", "vi", "100 %", "1 / 1", "2 to 100 %"]],
    ]
    assert examples[0] == Example(
        Code("escape"),
        [
            ("expected", "refuse"),
            ("decided", "answer"),
            ("category", "made-up"),
            ("language", "en"),
            ("least score", "0.80"),
            ("reasons", "(none)"),
        ],
        [
            ExampleText("Question", "What of escape?"),
            ExampleText("Draft, what is labelled unsupported marked", DRAFT, [(23, 31)]),
            ExampleText("Source s", "12 days."),
            ExampleText("Why", "It says so."),
        ],
    )
    assert [example.title for example in examples] == ["escape", "held"]


def test_examples_have_bounded_texts(tmp_path: Path) -> None:
    """A long draft is shown around what matters, with how much was left out; of many sources three are shown."""
    path = tmp_path / "cases.jsonl"
    answer = "x" * 5_000 + "wrong" + "y" * 5_000
    sources = [{"source_id": str(n), "text": "z" * 1_000} for n in range(5)]
    request = {"query": "q" * 1_000, "draft_answer": answer, "retrieved_context": sources}
    path.write_text(
        json.dumps({"id": "escape", "request": request, "claims": [{"text": "wrong", "supported": False}]}),
        encoding="utf-8",
    )
    found = checked(path)
    run = write(tmp_path / "run.jsonl", [TABLE[1]], cases_sha256=found.sha256)

    example = next(b for b in case_study([run], cases=found).blocks if isinstance(b, Example))

    assert [(text.label, len(text.text)) for text in example.texts] == [
        ("Question", 600 + len("… (400 more characters)")),
        ("Draft, what is labelled unsupported marked", len("… ") + 600 + len("… (4,505 more characters)")),
        *((f"Source {n}", 300 + len("… (700 more characters)")) for n in range(3)),
        ("Sources left out", len("2 more sources")),
    ]
    draft = example.texts[1]
    assert [draft.text[start:end] for start, end in draft.spans] == ["wrong"]


def test_no_errors_is_no_proof(tmp_path: Path) -> None:
    """A rate of nothing wrong comes with how much may still be wrong."""
    report = case_study([write(tmp_path / "run.jsonl", [TABLE[0], TABLE[3]])])
    said = [words(b.text) for b in report.blocks if isinstance(b, Paragraph)]

    assert "There are none among 1: the true rate may still be up to 98 %." in said


# limits


def test_limits_are_counted_and_disclosed(run: Run) -> None:
    """Errors with their message, unscored cases, too little data and how much more, and what spec 1 wants said."""
    page = case_study([run]).markdown()
    small = ["language `en`", "language `vi`", "category `made-up`", "category `plain`"]

    for line in (
        "- Run `lite`: 1 case of 6 could not be run and is in no figure.",
        "- Run `lite`: 1 case ended with `RuntimeError: 'no'`.",
        "- Run `lite`: 1 case had nothing labelled and counts in no figure that needs a label.",
        "- Run `lite`: 0 verdicts not verified to the end, 0 of them answers, which are never counted as right.",
        "- Run `lite`: `hallucination_escape_rate` rests on 2: its interval is 97 points wide. About 400 more make it ten points.",
        "- Run `lite`: fewer than 30 scored cases in " + ", ".join(small) + ". Their figures say little.",
        *(f"- {disclosure}" for disclosure in DISCLOSURES),
    ):
        assert line in page.splitlines()
    assert "> **1 case could not be run and 0 answers passed without being verified: see the limits.**" in page


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([], id="no case"),
        pytest.param([TABLE[0]], id="one case"),
        pytest.param([TABLE[5]], id="one error"),
        pytest.param([TABLE[4]], id="one without labels"),
    ],
)
def test_little_is_reported_as_little(records: list[CaseRecord], tmp_path: Path) -> None:
    """A report of nothing says so in every figure, and is whole."""
    report = case_study([write(tmp_path / "run.jsonl", records)])
    page, text = report.html(), report.markdown()

    assert all(ElementTree.fromstring(svg) is not None for svg in report.charts.values())  # noqa: S314
    assert page.endswith("</html>\n")
    assert text.count("\n## ") == len(SECTIONS)
    assert ("nothing to count" in text) is True


# notes and texts


def test_what_people_wrote_stands_where_it_was_asked_for(run: Run) -> None:
    """And what they did not is marked."""
    report = case_study([run], title="Trial", notes={"owner": "The desk", "decision": "Ở lại monitor"})
    asked = {b.prompt: b.text for b in report.blocks if isinstance(b, ByHand)}

    assert report.title == "Trial"
    assert asked == {
        prompt: {"owner": "The desk", "decision": "Ở lại monitor"}.get(key) for key, prompt in NOTES.items()
    }
    assert "**What was decided:** Ở lại monitor" in report.markdown()
    assert report.markdown().count("_Not filled in._") == len(NOTES) - 2


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    """Ids, categories, codes, names, notes, errors and texts of cases: none of them is markup in any form."""
    path = tmp_path / "cases.jsonl"
    request = {"query": HOSTILE, "draft_answer": HOSTILE, "retrieved_context": [{"source_id": "s", "text": HOSTILE}]}
    path.write_text(json.dumps({"id": HOSTILE, "request": request, "why": HOSTILE}) + "\n", encoding="utf-8")
    found = checked(path)
    bad = {
        "category": HOSTILE,
        "domain": HOSTILE,
        "tags": (HOSTILE,),
        "reasons": (HOSTILE,),
        "expected_reasons": (HOSTILE + "2",),
    }
    records = [case(HOSTILE, "refuse", "answer", claim(0, 4, False, 0.9), **bad)]
    run = write(
        tmp_path / "run.jsonl",
        records,
        name=HOSTILE,
        cases=HOSTILE,
        model_id=HOSTILE,
        version=HOSTILE,
        cases_sha256=found.sha256,
    )
    report = case_study([run], title=HOSTILE, notes=dict.fromkeys(NOTES, HOSTILE), cases=found)
    page, text = report.html(), report.markdown()

    assert "<script" not in page
    assert "\u202e" not in page + text
    assert "<script" not in re.sub(r"(`+).*?\1", "", text).replace("\\<", "")
    assert all("<script" not in svg and ElementTree.fromstring(svg) is not None for svg in report.charts.values())  # noqa: S314


def test_the_page_needs_nothing_else(run: Run) -> None:
    """No script, no address, no file; its one style is the one its guard allows, and its ink can be read."""
    page = case_study([run]).html()

    assert not re.search(r"<(script|link|img|iframe|object|base)\b|https?://|\bon\w+=|url\(|@import", page)
    assert page.count("<style>") == 1
    assert "default-src 'none'" in page


# what cannot be reported


def test_runs_of_other_cases_are_refused(run: Run, tmp_path: Path) -> None:
    """One study is of one set of cases."""
    other = write(tmp_path / "other.jsonl", TABLE, cases_sha256="d" * 64)

    with pytest.raises(InputError, match="a case study is of one set of cases"):
        case_study([run, other])


def test_other_cases_are_refused(run: Run, cases: CaseFile) -> None:
    """Texts that were not run are not shown beside what was."""
    with pytest.raises(InputError, match="does not hold the cases of the run"):
        case_study([run], cases=cases)


@pytest.mark.parametrize("count", [0, 7])
def test_too_few_or_too_many_runs_are_refused(run: Run, count: int) -> None:
    """Between one and six."""
    with pytest.raises(InputError, match=f"1 to 6 runs, got {count}"):
        case_study([run] * count)


def test_an_unknown_note_is_refused(run: Run) -> None:
    """With the nearest key."""
    with pytest.raises(InputError, match="'onwer' is no note: did you mean owner"):
        case_study([run], notes={"onwer": "x"})


def test_a_run_that_was_cut_is_refused(tmp_path: Path) -> None:
    """Half a run has no figures."""
    run = write(tmp_path / "run.jsonl", TABLE, count=7)

    with pytest.raises(InputError, match="has 6 of 7 records"):
        case_study([run])
