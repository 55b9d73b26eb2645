"""What the record says against a claim, as a reader of either language gets it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stillme.console.details import UNREAD, worded
from stillme.console.words import ConsoleWords
from stillme.grounding import cascade, objections
from tests.console.conftest import NewVisitor
from tests.service.conftest import Service

EN, VI = ConsoleWords("en"), ConsoleWords("vi")


@pytest.mark.parametrize(
    ("recorded", "english", "vietnamese"),
    [
        pytest.param(
            "figure: claim says '90 days', source says '30 days'",
            "The claim says “90 days”, the source says “30 days”.",
            "Ý nói “90 days”, nguồn nói “30 days”.",
            id="a figure in the place of another",
        ),
        pytest.param(
            """name: claim says "O'Neill", source says 'Miller'""",
            "The claim names “O'Neill”, the source names “Miller”.",
            "Ý nêu tên “O'Neill”, nguồn nêu tên “Miller”.",
            id="a name with a quote in it",
        ),
        pytest.param(
            "figure missing: '12'", "The figure “12” stands in no source.", "Con số “12” không có trong nguồn nào.",
            id="a figure that is nowhere",
        ),
        pytest.param(
            "not in the sources: 'sold', 'euros'", "In no source: “sold”, “euros”", "Không có trong nguồn nào: “sold”, “euros”",
            id="words that are nowhere",
        ),
        pytest.param(
            "quantifier",
            "The claim says it of all, the source only of some.",
            "Ý nói về tất cả, nguồn chỉ nói về một phần.",
            id="a kind alone",
        ),
        pytest.param(
            f"model: no passage supports it (0.12){UNREAD}",
            "The model read the passages: none supports it (0.12). The model did not read everything: there was more than grounding.most_tokens allows.",
            "Mô hình đã đọc các đoạn: không đoạn nào xác nhận (0.12). Mô hình chưa đọc hết: nội dung dài hơn mức grounding.most_tokens cho phép.",
            id="what the model says",
        ),
        pytest.param("", "", "", id="nothing"),
        pytest.param("not in the sources: 'half", "In no source: “'half”", "Không có trong nguồn nào: “'half”", id="cut off"),
        pytest.param("told: by another version", *["told: by another version"] * 2, id="unknown, as it is recorded"),
    ],
)  # fmt: skip
def test_a_detail_is_a_sentence_of_the_readers_language(recorded: str, english: str, vietnamese: str) -> None:
    """Figures and names stay as they stand in the texts."""
    assert worded(EN, recorded) == english
    assert worded(VI, recorded) == vietnamese


def test_every_objection_has_words() -> None:
    """A new kind of objection needs a sentence for the reader."""
    folder = Path(str(objections.__file__)).parent
    source = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
    made = re.findall(r'(?:Objection\(|_whole\(alignment, |_bound_elsewhere\(alignment, )"([a-z ]+)"', source)
    kinds = {*made, "name elsewhere", "figure missing"}

    assert len(kinds) >= 10
    assert {kind for kind in kinds if not EN.knows(f"detail.{kind.replace(' ', '_')}")} == set()
    assert UNREAD == cascade.UNREAD


def test_a_vietnamese_reader_is_told_in_vietnamese(console: Service, visitor: NewVisitor) -> None:
    """On the first page they see, with what the checks recorded folded below it."""
    shown, _, folded = visitor(console, "vi").get("/").text.partition('<details class="fold">')

    assert "Ý nói “" in shown
    assert "1 trên 2 ý trái với nguồn" in folded
    assert "claim says" not in folded.partition('<details class="fold">')[0]
    assert 'lang="en">' not in folded.partition('<details class="fold">')[0]
