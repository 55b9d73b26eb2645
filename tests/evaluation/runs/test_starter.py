"""The bundled starter set: well-formed, varied, and composed as its datasheet says."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

import stillme.evaluation.runs
from stillme.evaluation.runs.cases import Case
from stillme.reasons import Decision, Reason

STARTER = Path(stillme.evaluation.runs.__file__).with_name("starter.jsonl")
DATASHEET = Path(__file__).parents[3] / "docs" / "starter-set.md"
CATEGORIES = (
    "factual-in-context",
    "out-of-context",
    "contradicted",
    "source-required",
    "ambiguous",
    "conflicting",
    "adversarial",
    "policy-block",
    "not-factual",
)
DOMAINS = ("bank", "city", "hospital", "hr", "publisher", "school", "shop", "telecom")
LANGUAGES = ("en", "vi")
LEAST_CASES, LEAST_OF_EACH, LEAST_WITHOUT_DRAFT = 320, 12, 24
MOST_BYTES = 1_000_000
NGRAM = 8
MOST_SHARED = 0.25
"""Of the 8-grams of a draft, the share that may stand in any other draft."""

Gram = tuple[str, ...]


@cache
def starter() -> tuple[Case, ...]:
    """Every case of the file, in its order."""
    with STARTER.open(encoding="utf-8", newline="\n") as lines:
        return tuple(Case.model_validate_json(line) for line in lines)


def language(case: Case) -> str:
    return case.request.metadata.language


def grams(text: str) -> set[Gram]:
    """The runs of eight words in a text."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[at : at + NGRAM]) for at in range(len(words) - NGRAM + 1)}


def drafts() -> dict[str, str]:
    return {case.id: case.request.draft_answer for case in starter() if case.request.draft_answer}


def table(heading: str, rows: Iterable[tuple[str, Sequence[Case]]]) -> str:
    """A Markdown table of how many cases a row has: by language, by expected decision, without draft, labelled parts."""
    lines = [
        f"| {heading} | en | vi | all | answer | ask_clarify | refuse | no draft | supported parts | unsupported parts |",
        "|---|" + "---:|" * 9,
    ]
    for name, cases in rows:
        spoken = Counter(map(language, cases))
        expected = Counter(case.expected for case in cases)
        parts = Counter(label.supported for case in cases for label in case.claims)
        counts = [*(spoken[key] for key in LANGUAGES), len(cases), *(expected[key] for key in Decision)]
        counts += [sum(not case.request.draft_answer for case in cases), parts[True], parts[False]]
        lines.append(f"| {name} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)


def composition() -> str:
    """What the datasheet shows of the file."""
    by_category = [(name, [case for case in starter() if case.category == name]) for name in CATEGORIES]
    by_domain = [(name, [case for case in starter() if case.request.metadata.domain == name]) for name in DOMAINS]
    return f"{table('category', [*by_category, ('all', starter())])}\n\n{table('domain', by_domain)}"


def test_every_line_is_a_case_with_all_that_is_needed_to_score_it() -> None:
    """Each has a category, a domain, a language, a fixed point in time, an expected decision and a reason why."""
    lacking = [
        case.id
        for case in starter()
        if case.category not in CATEGORIES
        or case.request.metadata.domain not in DOMAINS
        or language(case) not in LANGUAGES
        or case.request.as_of is None
        or case.expected is None
        or not case.why
    ]

    assert lacking == []


def test_ids_are_unique_and_say_category_language_and_number() -> None:
    """The cases of a category and language are numbered from 001 without a gap, in the order of the file."""
    numbers: Counter[tuple[str | None, str]] = Counter()
    expected = []
    for case in starter():
        numbers[case.category, language(case)] += 1
        expected.append(f"{case.category}-{language(case)}-{numbers[case.category, language(case)]:03d}")

    assert [case.id for case in starter()] == expected


@pytest.mark.parametrize("spoken", LANGUAGES)
@pytest.mark.parametrize("category", CATEGORIES)
def test_there_are_enough_cases_of_each_kind(category: str, spoken: str) -> None:
    """Every category has at least a dozen cases in each language."""
    assert sum(case.category == category and language(case) == spoken for case in starter()) >= LEAST_OF_EACH


def test_there_are_enough_cases_in_all() -> None:
    """The set is large enough, about half of it in each language, and some of it is Pattern B."""
    spoken = Counter(map(language, starter()))

    assert len(starter()) >= LEAST_CASES
    assert abs(spoken["en"] - spoken["vi"]) <= len(starter()) // 10
    assert sum(not case.request.draft_answer for case in starter()) >= LEAST_WITHOUT_DRAFT


def test_labels_are_verbatim_and_apart() -> None:
    """A labelled part stands in the draft where it says, and no two labels of a case overlap."""
    wrong = []
    for case in starter():
        ends = 0
        draft = case.request.draft_answer or ""
        for (start, end, _), label in zip(case.spans, case.claims, strict=True):
            if draft[start:end] != label.text or start < ends:
                wrong.append((case.id, label.text))
            ends = end

    assert wrong == []


@pytest.mark.parametrize(
    "holds",
    [
        pytest.param(
            lambda case: case.category != "factual-in-context" or case.expected is Decision.ANSWER,
            id="what the passages say is to be answered",
        ),
        pytest.param(
            lambda case: case.category not in ("out-of-context", "contradicted") or case.expected is Decision.REFUSE,
            id="what the passages do not say is to be refused",
        ),
        pytest.param(
            lambda case: case.category != "not-factual" or (case.expected is Decision.ANSWER and not case.claims),
            id="what claims nothing is to be answered",
        ),
        pytest.param(
            lambda case: case.expected is Decision.REFUSE or all(label.supported for label in case.claims),
            id="an unsupported part is never to be answered",
        ),
        pytest.param(
            lambda case: (Reason.AMBIGUOUS_QUERY in case.reasons) == (case.expected is Decision.ASK_CLARIFY),
            id="only an ambiguous question asks back",
        ),
        pytest.param(
            lambda case: set(case.reasons) <= {str(code) for code in Reason},
            id="every expected reason is a reason code",
        ),
        pytest.param(
            lambda case: ("pattern-b" in case.tags) == (not case.request.draft_answer),
            id="a case without a draft is tagged so",
        ),
    ],
)
def test_labels_agree_with_each_other(holds: Callable[[Case], bool]) -> None:
    """Category, decision, reasons and labelled parts of a case do not contradict each other."""
    assert [case.id for case in starter() if not holds(case)] == []


def test_a_case_with_claims_to_score_has_labels() -> None:
    """Every draft in the three categories about grounding has at least one labelled part."""
    about_grounding = {"factual-in-context", "out-of-context", "contradicted"}

    assert [case.id for case in starter() if case.category in about_grounding and not case.claims] == []


def test_no_case_stands_there_twice() -> None:
    """Question and draft together are never the same in two cases."""
    seen = Counter((case.request.query, case.request.draft_answer) for case in starter())

    assert [pair for pair, times in seen.items() if times > 1] == []


def test_drafts_are_not_filled_in_templates() -> None:
    """Of the 8-grams of a draft at most a quarter stand in another, and hardly any draft shares one at all."""
    owners: defaultdict[Gram, set[str]] = defaultdict(set)
    for name, draft in drafts().items():
        for gram in grams(draft):
            owners[gram].add(name)
    shared = {
        name: sum(len(owners[gram]) > 1 for gram in own) / len(own)
        for name, draft in drafts().items()
        if (own := grams(draft))
    }

    assert {name: share for name, share in shared.items() if share > MOST_SHARED} == {}
    assert sum(share > 0 for share in shared.values()) <= len(shared) // 50


def test_drafts_begin_in_many_ways() -> None:
    """No three opening words are used by more than three drafts."""
    openings = Counter(" ".join(re.findall(r"\w+", draft.lower())[:3]) for draft in drafts().values())

    assert {opening: times for opening, times in openings.items() if times > 3} == {}


def test_a_source_id_names_one_text() -> None:
    """Cases share passages; one that has the id of another has its text too."""
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for case in starter():
        for passage in case.request.retrieved_context:
            texts[passage.source_id].add(passage.text)

    assert [name for name, found in texts.items() if len(found) > 1] == []


def test_the_file_is_small_and_plain() -> None:
    """Under a megabyte, one line a case, Unicode as it is written, in composed form, and no Windows line ends."""
    held = STARTER.read_bytes()

    assert len(held) < MOST_BYTES
    assert held.count(b"\n") == len(starter())
    assert b"\r" not in held
    assert b"\\u" not in held
    assert unicodedata.is_normalized("NFC", held.decode())


def test_the_datasheet_shows_the_composition_of_the_file() -> None:
    """The tables in docs/starter-set.md are what `composition` counts; on a change, print it and paste it there."""
    page = DATASHEET.read_text(encoding="utf-8")
    shown = page.partition("<!-- composition of starter.jsonl -->\n")[2].partition("\n<!-- end of composition -->")[0]

    assert shown == composition()


def test_the_datasheet_names_every_category_and_domain() -> None:
    """Nothing in the set goes unmentioned."""
    page = DATASHEET.read_text(encoding="utf-8")

    assert [name for name in (*CATEGORIES, *DOMAINS) if f"`{name}`" not in page] == []
