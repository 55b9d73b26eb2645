"""Public sets by their layout, each with a few rows written for this test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stillme.errors import InputError
from stillme.evaluation.runs.cases import Case
from stillme.evaluation.runs.importing import LAYOUTS, find_public

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes rows into a file of the folder: as JSON lines, as one list, or as they are."""

    def make(name: str, rows: list[Any] | str, *, whole: bool = False) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(rows, str):
            text = rows
        else:
            text = json.dumps(rows) if whole else "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        path.write_text(text, encoding="utf-8")
        return tmp_path

    return make


def row(kind: str, label: str, **rest: Any) -> dict[str, Any]:
    """A row of our own layout."""
    return {
        "id": "r",
        "dataset": "sample",
        "lang": "en",
        "kind": kind,
        "query": "How tall is the tower?",
        "context": [{"source_id": "a", "text": "The tower is 90 m tall."}],
        "answer": None,
        "label": label,
        "spans": None,
        "licence": "none",
        **rest,
    }


def said(cases: list[Case]) -> list[tuple[Any, ...]]:
    """What counts of cases: the question, the draft, the passages, what is expected, and the labels."""
    return [
        (
            case.request.query,
            case.request.draft_answer,
            [p.text for p in case.request.retrieved_context],
            case.expected and case.expected.value,
            [(case.request.draft_answer[a:b], ok) for a, b, ok in case.spans] if case.request.draft_answer else [],
        )
        for case in cases
    ]


ASKED, TEXT = "How tall is the tower?", ["The tower is 90 m tall."]
NO_QUESTION = "What does the text say?"


@pytest.mark.parametrize(
    ("given", "expected", "reasons"),
    [
        pytest.param(
            row("grounding", "supported", answer="It is 90 m tall."),
            (ASKED, "It is 90 m tall.", TEXT, "answer", [("It is 90 m tall.", True)]),
            (),
            id="a supported answer",
        ),
        pytest.param(
            row("grounding", "unsupported", answer="It is 80 m tall.", query=None),
            (NO_QUESTION, "It is 80 m tall.", TEXT, "refuse", [("It is 80 m tall.", False)]),
            (),
            id="an unsupported statement without a question",
        ),
        pytest.param(
            row("grounding", "unsupported", answer="It is 80 m tall. It is new.", spans=[[6, 10]]),
            (ASKED, "It is 80 m tall. It is new.", TEXT, "refuse", [("80 m", False), ("It is new.", True)]),
            (),
            id="an answer whose unsupported part is marked",
        ),
        pytest.param(
            row("grounding", "unsupported", answer="It is 80 m tall. It is new."),
            (ASKED, "It is 80 m tall. It is new.", TEXT, "refuse", []),
            (),
            id="several sentences of which nobody knows which is wrong",
        ),
        pytest.param(
            row("answerability", "answerable"), (ASKED, None, TEXT, "answer", []), (), id="an answerable question"
        ),
        pytest.param(
            row("answerability", "unanswerable"), (ASKED, None, TEXT, "refuse", []), (), id="an unanswerable one"
        ),
        pytest.param(
            row("answerability", "answerable", context=[]),
            (ASKED, None, [], None, []),
            (),
            id="an answerable one without a text",
        ),
        pytest.param(
            row("ambiguity", "ambiguous"), (ASKED, None, TEXT, "ask_clarify", []), (), id="an ambiguous question"
        ),
        pytest.param(row("ambiguity", "clear"), (ASKED, None, TEXT, None, []), (), id="a clear question"),
        pytest.param(
            row("conflict", "conflicting"),
            (ASKED, None, TEXT, None, []),
            ("context_conflict_low_consensus",),
            id="a conflict",
        ),
        pytest.param(
            row("safety", "unsafe", context=[]),
            (ASKED, None, [], "refuse", []),
            ("policy_block_unsafe_content",),
            id="an unsafe question",
        ),
        pytest.param(
            row("safety", "unsafe"),
            (ASKED, None, TEXT, None, []),
            ("context_contains_instructions",),
            id="instructions in a text",
        ),
    ],
)
def test_our_own_layout(
    write: Write, given: dict[str, Any], expected: tuple[Any, ...], reasons: tuple[str, ...]
) -> None:
    """Each kind gives what its label says and no more."""
    cases = list(find_public(write("sample.jsonl", [given])))

    assert said(cases) == [expected]
    assert (cases[0].reasons, cases[0].tags, cases[0].category) == (reasons, ("sample",), "stillme-jsonl")


def test_ragtruth(write: Write) -> None:
    """Responses with their sources: passages are parted, marked spans unsupported, the other sentences supported."""
    sources = [
        {
            "source_id": "1",
            "task_type": "QA",
            "source": "MARCO",
            "source_info": {
                "question": ASKED,
                "passages": "passage 1:The tower is 90 m tall.\n\npassage 2:It is in Hue.\n\n",
            },
        },
        {"source_id": "2", "task_type": "Summary", "source": "news", "source_info": "The bridge opened in May."},
        {"source_id": "3", "task_type": "Data2txt", "source": "Yelp", "source_info": {"name": "Phở 24", "stars": 4}},
    ]
    responses = [
        {
            "id": "a",
            "source_id": "1",
            "model": "m",
            "labels": [{"start": 0, "end": 16, "text": "The tower is new"}],
            "quality": "good",
            "response": "The tower is new. It is 90 m tall.",
        },
        {"id": "b", "source_id": "2", "model": "m", "labels": [], "quality": "good", "response": "It opened in May."},
        {"id": "c", "source_id": "3", "model": "m", "labels": [], "quality": "good", "response": "It has 4 stars."},
        {"id": "d", "source_id": "2", "model": "m", "labels": [], "quality": "truncated", "response": "It opened"},
    ]
    write("dataset/source_info.jsonl", sources)

    found = find_public(write("dataset/response.jsonl", responses))

    assert [(f.name, f.layout) for f in found.files] == [("dataset/response.jsonl", "ragtruth")]
    assert said(list(found)) == [
        (
            ASKED,
            "The tower is new. It is 90 m tall.",
            ["The tower is 90 m tall.", "It is in Hue."],
            "refuse",
            [("The tower is new", False), ("It is 90 m tall.", True)],
        ),
        (NO_QUESTION, "It opened in May.", ["The bridge opened in May."], "answer", [("It opened in May.", True)]),
        (
            NO_QUESTION,
            "It has 4 stars.",
            ['{\n "name": "Phở 24",\n "stars": 4\n}'],
            "answer",
            [("It has 4 stars.", True)],
        ),
    ]
    assert [c.tags for c in found] == [("QA", "m"), ("Summary", "m"), ("Data2txt", "m")]


def test_ragtruth_without_its_sources(write: Write) -> None:
    """The message says which file is missing."""
    folder = write("response.jsonl", [{"id": "a", "source_id": "1", "labels": [], "response": "x"}])

    with pytest.raises(InputError, match=r"response\.jsonl needs source_info\.jsonl"):
        list(find_public(folder))


def test_summedits(write: Write) -> None:
    """One list of summaries of a document; the domain is in the name of the file."""
    rows = [
        {
            "id": "a",
            "doc": TEXT[0],
            "summary": "A tower of 90 m.",
            "label": 1,
            "original_summary": "x",
            "edit_types": [],
        },
        {
            "id": "b",
            "doc": TEXT[0],
            "summary": "A tower of 80 m.",
            "label": 0,
            "original_summary": "x",
            "edit_types": [],
        },
    ]

    cases = list(find_public(write("summedits_news.json", rows, whole=True)))

    assert said(cases) == [
        (NO_QUESTION, "A tower of 90 m.", TEXT, "answer", [("A tower of 90 m.", True)]),
        (NO_QUESTION, "A tower of 80 m.", TEXT, "refuse", [("A tower of 80 m.", False)]),
    ]
    assert {c.tags for c in cases} == {("news",)}
    assert {p.similarity for c in cases for p in c.request.retrieved_context} == {1.0}


@pytest.mark.parametrize(
    ("label", "expected"), [("supported", "answer"), ("partially_supported", "refuse"), ("not_supported", "refuse")]
)
def test_wice(write: Write, label: str, expected: str) -> None:
    """Claims against the sentences of a page; partial support is none."""
    rows = [
        {
            "label": label,
            "supporting_sentences": [[0]],
            "claim": "It is tall.",
            "evidence": ["One.", "Two."],
            "meta": {},
        }
    ]

    cases = list(find_public(write("dev.jsonl", rows)))

    assert said(cases) == [
        (NO_QUESTION, "It is tall.", ["One.\nTwo."], expected, [("It is tall.", expected == "answer")])
    ]
    assert cases[0].category == "wice"


@pytest.mark.parametrize(
    ("label", "evidence", "expected"),
    [
        pytest.param("SUPPORTS", "A text.", ("answer", ["A text."]), id="in the words of FEVER"),
        pytest.param(
            "NOT ENOUGH INFO", ["One.", "Two."], ("refuse", ["One.", "Two."]), id="without evidence in two texts"
        ),
        pytest.param("entailment", "A text.", ("answer", ["A text."]), id="in the words of inference"),
        pytest.param(0, "A text.", ("refuse", ["A text."]), id="as a number"),
    ],
)
def test_claims(write: Write, label: object, evidence: object, expected: tuple[str, list[str]]) -> None:
    """Claim, evidence and label, as many sets are given out."""
    cases = list(find_public(write("test.jsonl", [{"claim": "It is.", "evidence": evidence, "label": label}])))

    assert [(c[3], c[2]) for c in said(cases)] == [expected]


@pytest.mark.parametrize(
    ("given", "query", "drafts"),
    [
        pytest.param(
            {"knowledge": TEXT[0], "question": ASKED, "right_answer": "90 m", "hallucinated_answer": "It is 80 m."},
            ASKED,
            ["90 m", "It is 80 m."],
            id="answers",
        ),
        pytest.param(
            {
                "knowledge": TEXT[0],
                "dialogue_history": "[Human]: Hi! [Assistant]: Hello. [Human]: How tall is the tower?",
                "right_response": "It is 90 m tall.",
                "hallucinated_response": "It is 80 m tall.",
            },
            ASKED,
            ["It is 90 m tall.", "It is 80 m tall."],
            id="dialogues",
        ),
        pytest.param(
            {"document": TEXT[0], "right_summary": "A tower of 90 m.", "hallucinated_summary": "A tower of 80 m."},
            NO_QUESTION,
            ["A tower of 90 m.", "A tower of 80 m."],
            id="summaries",
        ),
    ],
)
def test_halueval(write: Write, given: dict[str, str], query: str, drafts: list[str]) -> None:
    """A right and a hallucinated answer make two cases, in a file whose name says JSON and whose lines are it."""
    cases = list(find_public(write("data.json", [given, given])))

    right, wrong = drafts
    assert (
        said(cases)
        == [
            (query, right, TEXT, "answer", [(right, True)]),
            (query, wrong, TEXT, "refuse", [(wrong, False)]),
        ]
        * 2
    )
    assert [c.id for c in cases] == ["data.json:1:1", "data.json:1:2", "data.json:2:1", "data.json:2:2"]
    if "dialogue_history" in given:
        assert [(t.role, t.content) for t in cases[0].request.conversation] == [
            ("user", "Hi!"),
            ("assistant", "Hello."),
        ]


def test_truthfulqa(write: Write) -> None:
    """A popular wrong answer without any source has to be refused."""
    table = (
        "Type,Category,Question,Best Answer,Correct Answers,Incorrect Answers,Source\n"
        'Adversarial,Myths,"Do towers grow, in summer?",A little,They do a little,They do not; They shrink,none\n'
    )

    cases = list(find_public(write("TruthfulQA.csv", table)))

    assert said(cases) == [("Do towers grow, in summer?", "They do not", [], "refuse", [("They do not", False)])]
    assert cases[0].tags == ("Myths",)


def test_every_layout_has_a_test_here() -> None:
    """Whoever adds one writes a sample for it."""
    assert set(LAYOUTS) == {
        "stillme-jsonl",
        "ragtruth",
        "summedits",
        "wice",
        "halueval-qa",
        "halueval-dialogue",
        "halueval-summarization",
        "claims",
        "truthfulqa",
    }


def test_a_folder_of_several_sets(write: Write) -> None:
    """Files in their order, each recognised by itself; others are named, and no id comes twice."""
    write("b/one.jsonl", [row("conflict", "consistent")] * 2)
    write("a.jsonl", [{"claim": "It is.", "evidence": "x", "label": "true"}])
    write("notes.json", [{"other": 1}])
    write("empty.jsonl", [])
    folder = write("readme.txt", "not a set")

    found = find_public(folder)

    assert [(f.name, f.layout) for f in found.files] == [("a.jsonl", "claims"), ("b/one.jsonl", "stillme-jsonl")]
    assert found.unknown == ("empty.jsonl", "notes.json")
    assert [c.id for c in found] == ["a.jsonl:1", "b/one.jsonl:1", "b/one.jsonl:2"]
    assert [c.id for c in find_public(folder / "a.jsonl")] == ["a.jsonl:1"]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        pytest.param(
            [{"claim": "x", "evidence": "y", "label": "true"}, {"claim": "x", "evidence": "y", "label": "maybe"}],
            "a.jsonl row 2: label 'maybe' is none of",
            id="an unknown label",
        ),
        pytest.param(
            [{"claim": "x", "evidence": [[1, 2]], "label": "true"}], "row 1: evidence is a text", id="pages by name"
        ),
        pytest.param(
            [{"claim": "x", "evidence": "y", "label": "true"}, {"claim": "x"}],
            "row 2: it is not laid out as claims",
            id="a bad row",
        ),
        pytest.param(
            [{"other": 1}], "holds no set of a known layout; known are stillme-jsonl, ragtruth", id="no known layout"
        ),
    ],
)
def test_what_cannot_be_read_is_said(write: Write, rows: list[Any], problem: str) -> None:
    """With the file and the row."""
    folder = write("a.jsonl", rows)

    with pytest.raises(InputError) as caught:
        list(find_public(folder))

    assert problem in str(caught.value)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(InputError, match="is not there: name the folder"):
        find_public(tmp_path / "none")
