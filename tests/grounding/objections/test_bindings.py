"""Words that all stand in the source object where they belong together there in another way."""

from __future__ import annotations

import pytest

from stillme.grounding.objections.bindings import figure_owners, name_bindings, roles, swapped_figures
from tests.grounding.objections.support import laid, raised

ROLES = [
    pytest.param("The council sued the builder.", "The builder sued the council.", True, id="turned round"),
    pytest.param("The council was sued by the builder.", "The builder sued the council.", False, id="passive"),
    pytest.param(
        "The builder sued the council.", "The builder sued the council twice.", False, id="as the source says"
    ),
]


@pytest.mark.parametrize(("claim", "source", "objects"), ROLES)
def test_roles(claim: str, source: str, objects: bool) -> None:
    """Who does what to whom."""
    assert [kind for kind, _ in raised(roles, laid(claim, source))] == ["roles"] * objects


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        pytest.param(
            "Holm designed the tower.",
            "Lind designed the tower, Holm the bridge.",
            [("binding", "Holm")],
            id="what another name did",
        ),
        pytest.param("Lind designed the tower.", "Lind designed the tower, Holm the bridge.", [], id="as it is said"),
        pytest.param(
            "Khoa thiết kế tòa tháp.", "Mận thiết kế tòa tháp, Khoa xây cây cầu.", [("binding", "Khoa")], id="vi"
        ),
    ],
)
def test_name_bindings(claim: str, source: str, expected: list[tuple[str, str]]) -> None:
    """What a name is given to."""
    assert raised(name_bindings, laid(claim, source)) == expected


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        pytest.param(
            "Adults pay 9 euros.", "Adults pay 12 euros, children pay 9 euros.", [("owner", "9 euros")], id="another's"
        ),
        pytest.param("Children pay 9 euros.", "Adults pay 12 euros, children pay 9 euros.", [], id="its own"),
        pytest.param(
            "Người lớn trả 9 euro.", "Người lớn trả 12 euro, trẻ em trả 9 euro.", [("owner", "9 euro")], id="vi"
        ),
    ],
)
def test_figure_owners(claim: str, source: str, expected: list[tuple[str, str]]) -> None:
    """What a figure is said of."""
    assert raised(figure_owners, laid(claim, source)) == expected


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        pytest.param(
            "Orla guarantees the pump for nine years.", "Orla guarantees the pump for nine years and the hose for two years.", [], id="its own figure",
        ),
        pytest.param(
            "Orla grants nine years on hoses.", "Orla grants nine years on pumps and two years on hoses.",
            [("figure", "nine years")], id="the figure of what stands beside it",
        ),
        pytest.param(
            "Phí gửi xe tải là 90.000 đồng.", "Phí gửi xe tải là 400.000 đồng, xe đạp 90.000 đồng.",
            [("figure", "90.000 đồng")], id="a Vietnamese list",
        ),
        pytest.param(
            "In 2021 the mill ground 300 tonnes.", "The mill ground 500 tonnes in 2022, compared with 300 tonnes in 2021.", [], id="another figure of the claim stands with it",
        ),
        pytest.param("Lane 5 is shorter than lane 3.", "Lane 5 is shorter, lane 3 comes later.", [], id="names of things are no figures"),
    ],
)  # fmt: skip
def test_swapped_figures(claim: str, source: str, expected: list[tuple[str, str]]) -> None:
    """One of two figures that stand side by side, given to what the other is said of."""
    assert raised(swapped_figures, laid(claim, source)) == expected
