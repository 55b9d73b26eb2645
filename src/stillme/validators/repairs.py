"""Applies proposed repairs and verifies the patched text once more; nothing unsupported ever gains a citation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from stillme.validators.base import Finding, Repair

if TYPE_CHECKING:
    from stillme.evidence import Evidence
    from stillme.validators.chain import ValidatorChain

__all__ = ["apply", "repair"]


def apply(draft: str, repairs: Sequence[Repair]) -> str:
    """The draft with the repairs applied from the end to the start; of two that overlap only the first counts."""
    kept: list[Repair] = []
    for edit in sorted(set(repairs), key=lambda r: (r.start, r.end, r.text)):
        if not kept or (edit.start >= kept[-1].end and edit.start > kept[-1].start):
            kept.append(edit)
    for edit in reversed(kept):
        draft = draft[: edit.start] + edit.text + draft[edit.end :]
    return draft


def repair(chain: ValidatorChain, evidence: Evidence, findings: list[Finding]) -> tuple[list[Finding], str | None]:
    """The findings with those marked `repaired` that the patched draft no longer has, and the patched draft.

    The patch is taken only if verifying it shows no flag that the original did not have, and mends at least one.
    """
    proposed = [r for f in findings if f.outcome == "flagged" for r in f.repairs]
    if not proposed:
        return findings, None
    patched = apply(evidence.draft.raw, proposed)
    again = chain.observe(evidence.with_draft(patched))
    before, after = _flags(findings), _flags(again)
    mended = before - after
    if not mended or after - before:
        return findings, None
    return [replace(f, repaired=True) if f.repairs and _key(f) in mended else f for f in findings], patched


def _key(finding: Finding) -> tuple[str, str | None]:
    return finding.validator, finding.reason


def _flags(findings: Sequence[Finding]) -> set[tuple[str, str | None]]:
    return {_key(f) for f in findings if f.outcome in ("flagged", "errored")}
