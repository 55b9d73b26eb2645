"""A name of the claim objects where the source has another in its place, and only there."""

from __future__ import annotations

import pytest

from stillme.grounding.objections.names import other_names, other_subject
from tests.grounding.objections.support import laid, raised

ROWS = [
    pytest.param(
        "The mill was built by Oskar Lind.",
        "The mill was built by Petra Holm.",
        [("name", "Oskar Lind")],
        id="another name in its place",
    ),
    pytest.param("The mill was built by Oskar Lind.", "The mill was built by Oskar Lind in spring.", [], id="the name"),
    pytest.param(
        "The mill was built by Oskar Lind.",
        "Oskar Lind came to the valley in spring. The mill was built by Lind.",
        [],
        id="a part of a name that the passage has in full",
    ),
    pytest.param(
        "The mill was built by Oskar Lind.",
        "The mill was built by a farmer.",
        [("name missing", "Oskar Lind")],
        id="a name in no source",
    ),
    pytest.param(
        "Cối xay do Trần Văn Khoa dựng.",
        "Cối xay do Lê Thị Mận dựng.",
        [("name", "Trần Văn Khoa")],
        id="another name in Vietnamese",
    ),
    pytest.param("Cối xay do Trần Văn Khoa dựng.", "Cối xay do ông Khoa, tức Trần Văn Khoa, dựng.", [], id="vi name"),
]


@pytest.mark.parametrize(("claim", "source", "expected"), ROWS)
def test_other_names(claim: str, source: str, expected: list[tuple[str, str]]) -> None:
    """Each name of the claim is looked for in the statements."""
    assert raised(other_names, laid(claim, source)) == expected


@pytest.mark.parametrize(
    ("about", "source", "expected"),
    [
        pytest.param("Oskar Lind", "Petra Holm opened in May.", ["name"], id="the source names somebody else"),
        pytest.param("Oskar Lind", "Oskar Lind opened in May.", [], id="the source names it too"),
        pytest.param("Oskar Lind", "They opened in May.", [], id="the source names nobody"),
    ],
)
def test_other_subject(about: str, source: str, expected: list[str]) -> None:
    """A short claim without a name is about what was named before it."""
    alignment = laid("They opened in May.", source, about=about)

    assert [kind for kind, _ in raised(other_subject, alignment)] == expected
