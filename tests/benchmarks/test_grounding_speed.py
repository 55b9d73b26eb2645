"""The speed part runs on a small scale, its requests are what they are called, and nothing it measures comes from memory."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.grounding import grounder, main, missing_model
from benchmarks.grounding_speed import ALONE, KINDS, RULES, WHOLE, Forgetting, claims, composed, started_once
from benchmarks.grounding_tables import parts
from benchmarks.texts import LANGUAGES, Size, words_in

from stillme import BackendError, Guard

pytest.importorskip("onnxruntime")
needs_model = pytest.mark.skipif(missing_model() is not None, reason="this installation has no model")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """What one quick run prints, and the record it writes."""
    out = tmp_path_factory.mktemp("speed") / "record.json"
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main(["--speed", "--quick", "--out", str(out)]) == 0
    return said.getvalue(), json.loads(out.read_text(encoding="utf-8"))


def test_every_section_is_printed(run: tuple[str, dict[str, Any]]) -> None:
    """In order, with what the encoders are and what the answers are made of."""
    sections = [
        "drawn at random (speed does not depend on them)",
        "1. A fresh process",
        "2. Typical requests",
        "3. Throughput of the whole chain",
    ]
    places = [run[0].find(section) for section in sections]

    assert -1 not in places
    assert places == sorted(places)
    assert all(f"{name}: {what}" in run[0] for name, what in KINDS.items())


@needs_model
def test_the_record_has_every_way_and_every_ratio(run: tuple[str, dict[str, Any]]) -> None:
    """Each kind of request is verified whole, by rules alone and by the grounder alone; encoders are set against all of it."""
    speed = run[1]["speed"]
    ways = {WHOLE, RULES, ALONE}
    encoders = {"2 layers, 64 wide (full)", "2 layers, 64 wide (blocks)"}

    assert set(speed) == {"quick", "threads", "texts_hash", "requests", "ratios", "batch", "start"}
    assert {(r["request"], r["way"]) for r in speed["requests"] if r["answer"] == "all"} == {
        ("typical", way) for way in ways | encoders
    }
    assert {(r["answer"], r["language"]) for r in speed["requests"] if r["answer"] != "all"} == {
        (kind, language) for kind in ("verbatim", "half") for language in LANGUAGES
    }
    assert {(r["encoder"], r["way"]) for r in speed["ratios"]} == {(name, way) for name in encoders for way in ways}
    assert [r["way"] for r in speed["batch"]] == ["one by one", "verify_batch"]


@needs_model
def test_the_model_is_really_asked(run: tuple[str, dict[str, Any]]) -> None:
    """In a fresh process with the model it reads claims; without it nothing does."""
    start = {row["grounder"]: row["by_model"] for row in run[1]["speed"]["start"]}

    assert (start["exact grounding only"], start["with the model"] > 0) == (0, True)


def test_the_record_becomes_tables(run: tuple[str, dict[str, Any]]) -> None:
    """With the warning that a quick run is not for comparing."""
    said = parts(run[1])["speed"]

    assert said.startswith("A quick run, with small comparison encoders: not for comparing.\n")
    assert [line.split(" | ")[0] for line in said.splitlines() if line.startswith("| ") and "p50" in line] == [
        "| request",
        "| request",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", ["typical", "long"])
def test_kinds_of_answers_are_as_verbatim_as_they_say(language: str, size: Size) -> None:
    """All, half or none of the sentences stand in the passages, and all kinds share their passages."""
    found = {kind: composed(language, size, kind, 3) for kind in KINDS}
    held = " ".join(p.text for p in found["verbatim"].retrieved_context)
    sentences = 4 if size == "typical" else 12

    def copied(kind: str) -> int:
        said = (found[kind].draft_answer or "").split("].")
        return sum(part.rpartition(" [")[0].strip() in held for part in said if part)

    assert len({request.retrieved_context for request in found.values()}) == 1
    assert {kind: copied(kind) for kind in KINDS} == {
        "verbatim": sentences,
        "half": sentences // 2,
        "paraphrased": 0,
        "wrong figure": sentences - 1,
    }


def test_requests_have_the_stated_size() -> None:
    """About 360 words of context and 60 of answer, and 1,800 and 200 for the long one."""
    for size, context, answer in (("typical", 360, 60), ("long", 1800, 200)):
        for kind in KINDS:
            given = composed("en", size, kind, 2)  # type: ignore[arg-type]
            assert sum(words_in(p.text) for p in given.retrieved_context) == pytest.approx(context, rel=0.15)
            assert words_in(given.draft_answer or "") == pytest.approx(answer, rel=0.35)


@needs_model
def test_what_models_remember_is_dropped() -> None:
    """After a verdict something is remembered; after forgetting nothing is, and the verdict is the same."""
    guard = Guard(grounder=grounder("model"))
    passage = {"source_id": "a", "text": "Cửa hàng đóng cửa lúc chín giờ tối vào ngày thường."}
    draft = "Ngày thường, khách có thể mua sắm đến chín giờ tối."
    given = {"query": "Cửa hàng mở đến mấy giờ?", "draft_answer": draft, "retrieved_context": [passage]}

    before = guard.verify(given)
    forget = Forgetting()
    remembered = len(forget)
    forget()

    assert (remembered > 0, len(forget)) == (True, 0)
    assert guard.verify(given).claims == before.claims


@needs_model
def test_claims_are_counted_by_what_decided_them() -> None:
    """The model alone reads what the cascade settles without it."""
    given = composed("en", "typical", "verbatim", 4)

    alone, cascade = (claims([Guard(grounder=grounder(name)).verify(given)]) for name in ("model", "cascade"))

    assert (alone.judged, alone.settled) == (4, 0)
    assert (cascade.judged, cascade.settled, cascade.share) == (4, 4, 1.0)


def test_a_broken_process_is_an_error(tmp_path: Path) -> None:
    """What a fresh process said last is in the message."""
    with pytest.raises(BackendError, match="a fresh process gave no verdict: ValueError: no"):
        started_once("raise ValueError('no')", str(tmp_path))
