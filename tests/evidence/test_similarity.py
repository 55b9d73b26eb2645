"""Similarity where the caller gave none: near for what answers, far for what does not, in both languages and across them."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence

MARS = "Mars takes about 687 Earth days to orbit the Sun. The planet has two small moons, Phobos and Deimos."
SCHOOL = "Lessons begin at 8:15 a.m. Pupils wear the school uniform from Monday to Thursday. The library is open until 5 p.m."
VE = "Giá vé người lớn của bảo tàng là 40.000 đồng. Bảo tàng mở cửa từ 8 giờ đến 17 giờ."


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        pytest.param("How many moons does Mars have?", MARS, SCHOOL, id="English"),
        pytest.param("When does the library close?", SCHOOL, MARS, id="other words for the same"),
        pytest.param("Giá vé bảo tàng là bao nhiêu?", VE, MARS, id="Vietnamese"),
        pytest.param("gia ve bao tang la bao nhieu", VE, SCHOOL, id="Vietnamese without accents"),
        pytest.param("How much is a ticket for the museum?", VE, MARS, id="English question, Vietnamese passage"),
        pytest.param("Sao Hỏa có bao nhiêu mặt trăng?", MARS, VE, id="Vietnamese question, English passage"),
    ],
)
def test_near_and_far(query: str, near: str, far: str) -> None:
    """The right passage passes the factual threshold of 0.45, the wrong one does not."""
    close, distant = Evidence.of(query, passages=[near, far]).similarities

    assert close >= 0.45 > distant


def test_given_and_computed_may_mix() -> None:
    """A given figure is kept as it is."""
    passages = [
        RetrievedPassage(source_id="a", text=MARS, similarity=-0.25),
        RetrievedPassage(source_id="b", text=MARS),
    ]

    given, computed = Evidence.of("How many moons does Mars have?", passages=passages).similarities

    assert given == -0.25
    assert computed > 0.45
