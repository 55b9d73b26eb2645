"""Sets are read strictly, systems are measured as stated, and a record is kept, complete and resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.grounding_metrics import Example, Said

from benchmarks import grounding
from stillme.errors import InputError

CONTEXT = [{"source_id": "a", "text": "The museum was opened in 1968 by Anna Lee. It has 40 rooms."}]
VI_CONTEXT = [{"source_id": "a", "text": "Bảo tàng mở cửa năm 1968 và có 40 phòng trưng bày."}]


def row(number: int, **other: Any) -> dict[str, Any]:
    """A sound row."""
    return {
        "id": str(number),
        "dataset": "tiny",
        "lang": "en",
        "kind": "grounding",
        "query": "When was the museum opened?",
        "context": CONTEXT,
        "answer": "The museum was opened in 1968.",
        "label": "supported",
        "spans": [],
        "licence": "MIT",
        **other,
    }


WRONG = {"answer": "The museum was opened in 1971.", "label": "unsupported", "spans": [[25, 29]]}
ROWS = [
    row(1),
    row(2, **WRONG),
    row(3, answer="The museum has 40 rooms."),
    row(4, answer="The museum has 52 rooms.", label="unsupported", spans=[[15, 17]]),
    row(5, answer="Hello! How can I help you?"),
    row(6, lang="vi", query=None, context=VI_CONTEXT, answer="Bảo tàng mở cửa năm 1968."),
    row(7, lang="vi", query=None, context=VI_CONTEXT, answer="Bảo tàng mở cửa năm 1975.", label="unsupported", spans=[[20, 24]]),
]  # fmt: skip
SIDES = [
    {"source_id": "a", "text": "The museum was opened in 1968."},
    {"source_id": "b", "text": "The museum was opened in 1971."},
]
CONFLICTS = [
    row(1, kind="conflict", answer=None, spans=None, context=SIDES, label="conflicting"),
    row(2, kind="conflict", answer=None, spans=None, context=[SIDES[0], {**SIDES[0], "source_id": "b"}], label="consistent"),
]  # fmt: skip
RULES = ["--systems", "majority", "overlap", "exact", "conflicts", "relevant"]


def written(folder: Path, name: str, rows: list[Any]) -> Path:
    """A file of these rows."""
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in rows), encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a grounding set, a conflict set and one of another kind."""
    folder = tmp_path / "sets" / "dev"
    folder.mkdir(parents=True)
    written(folder, "tiny", ROWS)
    written(folder, "sides", CONFLICTS)
    written(folder, "other", [row(1, kind="safety", label="safe")])
    return tmp_path / "sets"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        pytest.param({"lang": "fr"}, "bad.jsonl line 2: lang must be en or vi, got 'fr'", id="another language"),
        pytest.param({"label": "no"}, "bad.jsonl line 2: label must be supported or unsupported, got 'no'", id="another label"),
        pytest.param({"answer": None}, "bad.jsonl line 2: answer must be a text, got None", id="no answer"),
        pytest.param({"query": 3}, "bad.jsonl line 2: query must be a text, got 3", id="a question that is no text"),
        pytest.param({"id": "1"}, "bad.jsonl line 2: id must be unique in the file, got '1'", id="an id twice"),
        pytest.param({"id": 2}, "bad.jsonl line 2: id must be a text, got 2", id="an id that is no text"),
        pytest.param({"kind": "conflict"}, "bad.jsonl line 2: kind must be 'grounding' as in the first row, got 'conflict'", id="kinds mixed"),
        pytest.param({"context": "text"}, "bad.jsonl line 2: context must be a list of objects with source_id and text, got 'text'", id="a context that is no list"),
        pytest.param({"context": [{"source_id": "a"}]}, "bad.jsonl line 2: context[0].text must be a text, got None", id="a passage without text"),
        pytest.param({"context": [{"source_id": "", "text": "x"}]}, "bad.jsonl line 2: context.0.source_id: String should have at least 1 character, got ''", id="a passage without a name"),
        pytest.param({"spans": [[0, 99]]}, "bad.jsonl line 2: spans[0] must be [start, end] within the 30 characters of the answer, got [0, 99]", id="a span beyond the answer"),
        pytest.param({"spans": [[0, 2], [5, 3]]}, "bad.jsonl line 2: spans[1] must be [start, end] within the 30 characters of the answer, got [5, 3]", id="a span that ends before it starts"),
        pytest.param({"spans": "0-3"}, "bad.jsonl line 2: spans must be a list of [start, end] or null, got '0-3'", id="spans that are no list"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    """File, line, field and value are in the message."""
    path = written(tmp_path, "bad", [row(1), row(2, **changed)])

    with pytest.raises(InputError) as raised:
        grounding.read_set(path, "grounding")

    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(b"{", "bad.jsonl line 1: not a JSON object in UTF-8", id="half an object"),
        pytest.param(b"\xff\xfe", "bad.jsonl line 1: not a JSON object in UTF-8", id="another encoding"),
        pytest.param(b"[1]", "bad.jsonl line 1: must be a JSON object, got [1]", id="a list"),
        pytest.param(b'{"id": "1"}', "bad.jsonl line 1: kind must be a text, got None", id="another form"),
    ],
)
def test_a_line_that_is_no_row_ends_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: bytes, message: str
) -> None:
    """With exit code 2 and one sentence."""
    path = tmp_path / "bad.jsonl"
    path.write_bytes(line + b"\n")

    assert grounding.main([str(path), *RULES]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "name the data", id="no data"),
        pytest.param(["{data}/none"], "there is no ", id="a folder that is not there"),
        pytest.param(["{data}", "--sets", "tinny"], "there is no set 'tinny': did you mean 'tiny'?", id="a set that is not there"),
        pytest.param(["{data}", "--limit", "0"], "--limit must be at least 1, got 0", id="a sample of none"),
        pytest.param(["{data}", "{data}/dev/tiny.jsonl"], "two files are called 'tiny'", id="a set twice"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_used(
    data: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Exit code 2, and what to do instead."""
    assert grounding.main([each.format(data=data) for each in arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_run_is_recorded_by_set_system_and_language(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Data hash, model, version and machine, and every figure; files of other kinds are named and left out."""
    out = data / "record.json"

    assert grounding.main([str(data), "--out", str(out), *RULES]) == 0

    record = json.loads(out.read_text(encoding="utf-8"))
    printed = capsys.readouterr().out
    assert set(record) == {"version", "code_sha256", "model", "python", "platform", "machine", "sets"}
    assert {name: (found["kind"], found["limit"], len(found["sha256"])) for name, found in record["sets"].items()} == {
        "tiny": ("grounding", None, 64),
        "sides": ("conflict", None, 64),
    }
    assert {name: set(of_lang) for name, of_lang in record["sets"]["tiny"]["systems"].items()} == {
        "majority": {"en", "vi"},
        "overlap": {"en", "vi"},
        "exact": {"en", "vi"},
    }
    assert "left out, of other kinds: other (safety)" in printed
    assert "tiny, en: 5 rows of 1 contexts, 2 unsupported, 3 supported" in printed
    assert "1 without factual claims" in printed


def test_exact_features_find_changed_figures(data: Path) -> None:
    """Rows where a figure was changed are told from the others in both languages, and the figure is marked."""
    out = data / "record.json"

    grounding.main([str(data), "--out", str(out), *RULES])

    systems = json.loads(out.read_text(encoding="utf-8"))["sets"]["tiny"]["systems"]
    keys = ("rows", "without_claims", "balanced_accuracy", "auc", "f1", "span_recall", "settled")
    assert {lang: tuple(systems["exact"][lang][key] for key in keys) for lang in ("en", "vi")} == {
        "en": (5, 1, 1.0, 1.0, 1.0, 1.0, 1.0),
        "vi": (2, 0, 1.0, 1.0, 1.0, 1.0, 1.0),
    }
    assert (systems["majority"]["en"]["balanced_accuracy"], systems["majority"]["en"]["auc"]) == (0.5, 0.5)
    assert systems["overlap"]["en"]["recall"] == 0.0


def test_conflicts_are_told_by_the_evidence(data: Path) -> None:
    """Two passages with two years conflict; a passage and its copy do not."""
    out = data / "record.json"

    grounding.main([str(data), "--sets", "sides", "--out", str(out), *RULES])

    systems = json.loads(out.read_text(encoding="utf-8"))["sets"]["sides"]["systems"]
    assert {name: of_lang["en"]["balanced_accuracy"] for name, of_lang in systems.items()} == {
        "majority": 0.5,
        "conflicts": 1.0,
        "relevant": 1.0,
    }


def edited(out: Path, **changed: Any) -> None:
    """The record with a figure that no run would give, and with other keys changed."""
    record = json.loads(out.read_text(encoding="utf-8"))
    record["sets"]["tiny"]["systems"]["exact"]["en"]["f1"] = 0.123
    out.write_text(json.dumps({**record, **changed}), encoding="utf-8")


def f1_after_a_second_run(data: Path, out: Path, *arguments: str) -> float:
    """What the record says when the benchmark has run once more."""
    assert grounding.main([str(data), "--sets", "tiny", "--out", str(out), *arguments]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    return float(found["sets"]["tiny"]["systems"]["exact"]["en"]["f1"])


def test_a_finished_set_is_not_run_again(data: Path) -> None:
    """Nor are its systems when others are added."""
    out = data / "record.json"
    grounding.main([str(data), "--out", str(out), "--systems", "exact"])
    edited(out)

    kept = f1_after_a_second_run(data, out, "--systems", "exact", "majority")

    systems = json.loads(out.read_text(encoding="utf-8"))["sets"]["tiny"]["systems"]
    assert (kept, list(systems)) == (0.123, ["majority", "exact"])


def test_a_set_is_run_again_when_something_changed(data: Path) -> None:
    """Other data, another sample, other code: nothing of before is kept."""
    out = data / "record.json"
    grounding.main([str(data), "--out", str(out), "--systems", "exact"])

    edited(out, code_sha256="0")
    after_code = f1_after_a_second_run(data, out, "--systems", "exact")
    edited(out)
    after_limit = f1_after_a_second_run(data, out, "--systems", "exact", "--limit", "6")
    edited(out)
    written(data / "dev", "tiny", ROWS[:4])
    after_data = f1_after_a_second_run(data, out, "--systems", "exact", "--limit", "6")

    assert 0.123 not in (after_code, after_limit, after_data)


def test_a_file_that_is_no_record_is_left_alone(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not written over."""
    out = data / "notes.json"
    out.write_text("[]", encoding="utf-8")

    assert grounding.main([str(data), "--out", str(out), *RULES]) == 2
    assert "is not a run record of this benchmark" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "[]"


def test_a_sample_is_the_same_each_time(data: Path) -> None:
    """So many rows in their order; a limit above the size takes all."""
    examples = grounding.read_set(data / "dev" / "tiny.jsonl", "grounding")

    drawn = grounding.sample(examples, 3, "tiny")

    assert len(drawn) == 3
    assert drawn == grounding.sample(examples, 3, "tiny")
    assert drawn == [each for each in examples if each in drawn]
    assert grounding.sample(examples, 99, "tiny") == examples


def test_the_halves_part_the_documents(data: Path) -> None:
    """Each example is in one of them, and those of one document are together."""
    rows = [row(n, context=[{"source_id": "a", "text": f"The museum has {n // 3} rooms."}]) for n in range(30)]
    examples = grounding.read_set(written(data, "many", rows), "grounding")

    parts = [grounding.half(examples, name) for name in grounding.HALVES]

    assert sorted((e.id for part in parts for e in part), key=int) == [e.id for e in examples]
    assert all(parts)
    assert {e.document for e in parts[0]}.isdisjoint(e.document for e in parts[1])
    assert grounding.half(examples, None) == examples


def test_the_half_is_recorded(data: Path) -> None:
    """What was measured on one half is not taken for the other."""
    out = data / "record.json"
    grounding.main([str(data), "--out", str(out), "--systems", "majority", "--half", "choosing"])
    first = json.loads(out.read_text(encoding="utf-8"))["sets"]["tiny"]
    grounding.main([str(data), "--out", str(out), "--systems", "majority", "--half", "measuring"])
    second = json.loads(out.read_text(encoding="utf-8"))["sets"]["tiny"]

    assert (first["half"], second["half"]) == ("choosing", "measuring")
    assert first["systems"] != second["systems"]


@pytest.mark.parametrize(
    ("answer", "positive"),
    [("I have never been to the seaside.", True), ("Hello! How can I help you?", False), ("I don't know.", False)],
)
def test_what_is_said_in_the_first_person_is_judged_and_courtesies_are_not(
    tmp_path: Path, answer: str, positive: bool
) -> None:
    """A set of sentences may say 'I'; a greeting and a refusal claim nothing."""
    example = grounding.read_set(written(tmp_path, "one", [row(1, answer=answer, spans=None)]), "grounding")[0]

    said = grounding.judged(grounding.grounder("exact"), example)

    assert (said.positive, said.factual) == (positive, positive)


def test_an_example_that_raises_is_noted(data: Path) -> None:
    """The others are scored, and each system is asked about each example once."""
    examples = grounding.read_set(data / "dev" / "tiny.jsonl", "grounding")

    def stumbles(example: Example) -> Said:
        if example.id == "2":
            raise ValueError("cannot read this")
        return Said(True, 0.9)

    tried = grounding.run_systems(examples, {"steady": lambda _: Said(False, 0.1), "stumbles": stumbles})

    assert [each.problem for each in tried["steady"]] == [None] * 7
    assert [each.problem for each in tried["stumbles"]] == [None, "ValueError: 'cannot read this'", *[None] * 5]
    assert [each.said is None for each in tried["stumbles"]] == [False, True, *[False] * 5]


@pytest.mark.skipif(grounding.missing_model() is not None, reason="this installation has no model")
def test_model_and_cascade_are_measured(data: Path) -> None:
    """Both give figures for every row; the cascade settles claims that the model alone has to read."""
    out = data / "record.json"

    grounding.main([str(data), "--sets", "tiny", "--out", str(out), "--systems", "model", "cascade"])

    record = json.loads(out.read_text(encoding="utf-8"))
    systems = record["sets"]["tiny"]["systems"]
    assert {name: (of["en"]["rows"], of["vi"]["rows"], of["en"]["errors"]) for name, of in systems.items()} == {
        "model": (5, 2, {}),
        "cascade": (5, 2, {}),
    }
    assert systems["cascade"]["en"]["settled"] > systems["model"]["en"]["settled"]
    assert all(len(digest) == 64 for digest in record["model"]["files"].values())
