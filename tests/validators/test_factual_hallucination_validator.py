"""FactualHallucinationValidator: every factual claim stands on a passage."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.validators.factual_hallucination_validator import FactualHallucinationValidator
from tests.validators.support import DOI_TRA, PASSED, RETURNS, SKIPPED, flagged, observe

STUDY = "Lewis et al. (2020) followed 412 office workers. The paper has the DOI 10.5555/jwh.2020.04, see https://a.example/lewis."
CONTRADICTED, UNSUPPORTED, FABRICATED = (
    flagged("contradicted_claim"),
    flagged("unsupported_claim"),
    flagged("fabricated_reference"),
)


@pytest.mark.parametrize(
    ("draft", "source", "expected"),
    [
        pytest.param("Gift cards never expire [1].", RETURNS, PASSED, id="supported"),
        pytest.param(
            "Returns are accepted within 90 days of delivery [1].", RETURNS, CONTRADICTED, id="another figure"
        ),
        pytest.param("Gift cards are refundable [1].", RETURNS, CONTRADICTED, id="a dropped negation"),
        pytest.param("Members get a free tent with every kayak [1].", RETURNS, UNSUPPORTED, id="an invention"),
        pytest.param("Sản phẩm đặt làm riêng không được đổi trả [1].", DOI_TRA, PASSED, id="supported Vietnamese"),
        pytest.param(
            "Sản phẩm đặt làm riêng được đổi trả [1].", DOI_TRA, CONTRADICTED, id="a dropped Vietnamese negation"
        ),
        pytest.param("Mộc An tặng quà sinh nhật cho hội viên [1].", DOI_TRA, UNSUPPORTED, id="a Vietnamese invention"),
        pytest.param(
            "Lewis et al. (2020) followed 412 office workers [1].", STUDY, PASSED, id="a study that the source names"
        ),
        pytest.param("The DOI is 10.5555/jwh.2020.04 [1].", STUDY, PASSED, id="a DOI that the source gives"),
        pytest.param("Hello! How can I help?", RETURNS, SKIPPED, id="a greeting"),
        pytest.param("I could not find that in the documents.", RETURNS, SKIPPED, id="a refusal"),
        pytest.param("", RETURNS, SKIPPED, id="no draft"),
    ],
)
def test_claims(draft: str, source: str, expected: list[tuple[str, str | None]]) -> None:
    """One draft against one passage."""
    assert observe(FactualHallucinationValidator(), Evidence.of("q", draft, [source])) == expected


@pytest.mark.parametrize(
    "draft",
    [
        "Workers who walk have less pain (Miller, 2018) [1].",
        "Okafor et al. (2019) followed 412 office workers [1].",
        "Phạm và cộng sự (2021) theo dõi 412 người [1].",
        "See more at https://invented.example/report.",
        "The DOI is 10.1000/made.up.1 [1].",
    ],
)
def test_invented_references(draft: str) -> None:
    """A reference that no source has is flagged by its own code."""
    codes = [reason for _, reason in observe(FactualHallucinationValidator(), Evidence.of("q", draft, [STUDY]))]

    assert "fabricated_reference" in codes


@pytest.mark.parametrize("draft", ["The paper clip was invented in 1899.", "Sông Mê Kông chảy qua Việt Nam.", "Yes."])
def test_a_claim_without_context_is_never_waved_through(draft: str) -> None:
    """Nothing to stand on is not a reason to pass."""
    assert observe(FactualHallucinationValidator(), Evidence.of("Who invented it?", draft)) == UNSUPPORTED
