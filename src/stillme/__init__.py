"""StillMe: a verification layer for answers of language models.

>>> from stillme import Guard
>>> Guard().verify({"query": "Hello there!", "draft_answer": "Hello! How can I help you?"}).decision.value
'answer'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stillme.version import __version__

if TYPE_CHECKING:
    from stillme.audit import AuditStore
    from stillme.contract import Verdict, VerifyRequest
    from stillme.errors import BackendError, InputError, PolicyError, StillMeError
    from stillme.evidence import Evidence
    from stillme.guard import Guard
    from stillme.policy import Policy, PolicyWatcher
    from stillme.reasons import Decision, Gate, Reason
    from stillme.validators.base import Finding, Observer, Repair, Validator
    from stillme.validators.chain import ValidationResult, ValidatorChain
    from stillme.validators.citation_required import CitationRequired
    from stillme.validators.ethics_adapter import EthicsAdapter
    from stillme.validators.evidence_overlap import EvidenceOverlap
    from stillme.validators.numeric_units_basic import NumericUnitsBasic

_HOMES = {
    "AuditStore": "audit",
    "BackendError": "errors",
    "CitationRequired": "validators.citation_required",
    "Decision": "reasons",
    "EthicsAdapter": "validators.ethics_adapter",
    "Evidence": "evidence",
    "EvidenceOverlap": "validators.evidence_overlap",
    "Finding": "validators.base",
    "Gate": "reasons",
    "Guard": "guard",
    "InputError": "errors",
    "NumericUnitsBasic": "validators.numeric_units_basic",
    "Observer": "validators.base",
    "Policy": "policy",
    "PolicyError": "errors",
    "PolicyWatcher": "policy",
    "Reason": "reasons",
    "Repair": "validators.base",
    "StillMeError": "errors",
    "ValidationResult": "validators.chain",
    "Validator": "validators.base",
    "ValidatorChain": "validators.chain",
    "Verdict": "contract",
    "VerifyRequest": "contract",
}

__all__ = [
    "AuditStore",
    "BackendError",
    "CitationRequired",
    "Decision",
    "EthicsAdapter",
    "Evidence",
    "EvidenceOverlap",
    "Finding",
    "Gate",
    "Guard",
    "InputError",
    "NumericUnitsBasic",
    "Observer",
    "Policy",
    "PolicyError",
    "PolicyWatcher",
    "Reason",
    "Repair",
    "StillMeError",
    "ValidationResult",
    "Validator",
    "ValidatorChain",
    "Verdict",
    "VerifyRequest",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """A public name is imported when it is first used, so that importing the package costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"stillme.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
