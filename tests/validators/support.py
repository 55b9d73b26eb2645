"""What the tests of single validators share: evidence from plain texts, and findings as short rows."""

from __future__ import annotations

from collections.abc import Sequence

from stillme.evidence import Evidence
from stillme.validators.base import Finding, Validator

RETURNS = (
    "Larkfield Outdoor accepts returns of unused gear within 30 days of delivery. The customer pays the return postage. "
    "Gift cards are not refundable, but they never expire."
)
DELIVERY = (
    "Standard delivery costs £4.50 and takes three to five working days. Orders above £60 are delivered free of charge."
)
DOI_TRA = (
    "Mộc An nhận đổi trả sản phẩm trong vòng 15 ngày kể từ ngày giao hàng. Phí vận chuyển do khách hàng chi trả. "
    "Sản phẩm đặt làm riêng không được đổi trả."
)


def observe(validator: Validator, evidence: Evidence) -> list[tuple[str, str | None]]:
    """What a validator says, as (outcome, reason) rows."""
    made = validator.run(evidence)
    findings: Sequence[Finding] = [made] if isinstance(made, Finding) else made
    return [(f.outcome, str(f.reason) if f.reason else None) for f in findings]


PASSED = [("passed", None)]
SKIPPED = [("skipped", None)]


def flagged(*reasons: str) -> list[tuple[str, str | None]]:
    """The rows of a validator that flagged these reasons."""
    return [("flagged", reason) for reason in reasons]
