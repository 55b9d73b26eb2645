"""The classifier of talk: a score belongs to its text alone, the weights fit their texts, and what states something is not talk."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import pytest

from stillme.models import bundle
from stillme.models.embedding import embed
from stillme.models.talk import talk_model, word_features

TEXTS = Path(__file__).parents[2] / "training" / "talk"

TALK = [
    "Sorry it took me a while to get back to you.",
    "Right, that is the whole of it.",
    "Before we get into that",
    "Em cảm ơn chị đã kiên nhẫn chờ ạ.",
    "Có gì chị cứ nhắn em nhé.",
    "Để em tóm gọn lại cho anh dễ theo dõi",
]
STATED = [
    "Feel free to stop the antibiotics early.",
    "You are welcome to keep the change of ownership from the bank.",
    "Good news, the toll has been scrapped.",
    "Unless you live abroad",
    "Vaccines cause harm.",
    "Chị cứ yên tâm bỏ thuốc nhé.",
    "Tin vui là phí gửi xe được miễn ạ.",
    "Trừ người dưới 16 tuổi",
    "Loại này không gây hại.",
]


def held() -> list[dict[str, str]]:
    """The texts that were held back."""
    with (TEXTS / "held" / "talk.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("text", TALK)
def test_unlisted_talk_is_seen(text: str) -> None:
    """In wordings that no list has, both languages, sentences and clauses; thresholds are set in hundredths."""
    assert round(talk_model().score(text, embed), 2) >= talk_model().apart_at


@pytest.mark.parametrize("text", STATED)
def test_what_states_or_advises_something_is_not_talk(text: str) -> None:
    """However politely it is said: below both thresholds."""
    assert talk_model().score(text, embed) < talk_model().apart_at < talk_model().talk_at


def test_few_statements_that_were_held_back_are_taken_for_talk() -> None:
    """At most 3 of 100 at the lower threshold, most of them written to sound like it; and most of the talk is seen."""
    scored = [(row["label"], talk_model().score(row["text"], embed)) for row in held()]
    stated = [score >= talk_model().apart_at for label, score in scored if label == "0"]
    talk = [score >= talk_model().apart_at for label, score in scored if label == "1"]

    assert sum(stated) <= 0.03 * len(stated)
    assert sum(talk) >= 0.8 * len(talk)


def test_a_last_mark_and_a_first_capital_change_nothing() -> None:
    """A clause before a comma is read like a sentence."""
    scores = {talk_model().score(text, embed) for text in ("before I forget,", "Before I forget", "Before I forget.")}

    assert len(scores) == 1


def test_a_text_without_words_has_no_features_of_words() -> None:
    """Its edges alone: nothing is divided by zero."""
    assert len(word_features("")) == 1


def test_the_weights_were_made_from_the_texts_in_the_repository() -> None:
    """Whoever changes a text trains again: `python -m training.fit_talk --write`."""
    assert bundle.manifest()["talk"]["texts_sha256"] == hashlib.sha256((TEXTS / "talk.tsv").read_bytes()).hexdigest()


def test_no_held_back_text_is_trained_on() -> None:
    """What measures the classifier is not what it learned from."""
    trained = {line.split("\t")[2].lower() for line in (TEXTS / "talk.tsv").read_text("utf-8").splitlines()}

    assert not trained & {row["text"].lower() for row in held()}
