"""FactualHallucinationValidator: every factual claim stands on a passage."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from stillme import VerifyRequest
from stillme.evidence import Evidence
from stillme.grounding.grounder import Judgement
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
        pytest.param(
            "Hello! How can I help?", RETURNS, [("flagged", "no_verifiable_claim")], id="a greeting is no answer"
        ),
        pytest.param("I could not find that in the documents.", RETURNS, SKIPPED, id="a refusal"),
        pytest.param(
            "Tôi không tìm thấy thông tin này trong tài liệu.", RETURNS, SKIPPED, id="a refusal in Vietnamese"
        ),
        pytest.param("Which order do you mean?", RETURNS, SKIPPED, id="a question back"),
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


@pytest.mark.parametrize(
    ("options", "domain", "expected"),
    [
        pytest.param({}, None, PASSED, id="nothing more is asked by default"),
        pytest.param({"min_score": 0.9}, None, flagged("unsupported_claim"), id="more than its score is asked"),
        pytest.param({"min_score": 0.5}, None, PASSED, id="less than its score is asked"),
        pytest.param({"min_score": 0.7}, None, PASSED, id="just its score is asked"),
        pytest.param({"min_score_by_language": {"en": 0.9}}, None, flagged("unsupported_claim"), id="in its language"),
        pytest.param({"min_score_by_language": {"vi": 0.9}}, None, PASSED, id="in the other language"),
        pytest.param({"min_score": 0.9, "min_score_by_language": {"en": 0.1}}, None, PASSED, id="the language's wins"),
        pytest.param(
            {"min_score": 0.9, "min_score_by_domain": {"shop": 0.1}}, "shop", PASSED, id="the domain's comes first"
        ),
        pytest.param({"min_score_by_domain": {"shop": 0.9}}, "bank", PASSED, id="another domain's does not count"),
    ],
)
def test_support_can_be_asked_to_be_stronger(options: dict[str, Any], domain: str | None, expected: Any) -> None:
    """`min_score` is compared with the score of claims that are supported; below fails, equal passes."""
    request = {
        "query": "What about gift cards?",
        "draft_answer": "Gift cards never expire [1].",
        "retrieved_context": [{"source_id": "returns", "text": RETURNS}],
        "metadata": {"domain": domain},
    }
    evidence = Evidence(VerifyRequest.model_validate(request), datetime(2026, 2, 1, tzinfo=UTC), Certain(0.7))

    assert observe(FactualHallucinationValidator(**options), evidence) == expected


class Certain:
    """A grounder that supports everything with one score."""

    id = "certain"

    def __init__(self, score: float) -> None:
        self.score = score

    def judge(self, tasks: Any) -> Any:
        return [[Judgement("supported", self.score, (0,)) for _ in task.claims] for task in tasks]
