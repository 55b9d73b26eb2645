"""Applies proposed repairs and verifies the patched text once more; nothing unsupported ever gains a citation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Repair

if TYPE_CHECKING:
    from stillme.evidence import Evidence
    from stillme.validators.chain import ValidatorChain

__all__ = ["apply", "left_out", "repair"]

LACKS_EVIDENCE: Final = frozenset(
    {
        Reason.CITATION_MISSING,
        Reason.UNCITED_NUMBER,
        Reason.ENTITY_NOT_IN_SOURCES,
        Reason.LOW_EVIDENCE_OVERLAP,
        Reason.UNCERTAINTY_MISSING,
    }
)
# What stands before the words of a line: indents, quotes, list marks.
BEFORE_WORDS: Final = " \t>-*•+"


def left_out(draft: str, start: int, end: int) -> Repair:
    """The edit that leaves out a sentence: with its line, where it is alone on it, else with the space behind it."""
    line = draft.rfind("\n", 0, start) + 1
    below = draft.find("\n", end)
    below = len(draft) if below < 0 else below
    if not draft[line:start].strip(BEFORE_WORDS) and not draft[end:below].strip():
        return Repair(line, min(below + 1, len(draft)), "")
    if not draft[end:].strip():
        return Repair(len(draft[:start].rstrip()), len(draft), "")
    return Repair(start, end + len(draft[end:below]) - len(draft[end:below].lstrip(" ")), "")


def apply(draft: str, repairs: Sequence[Repair]) -> str:
    """The draft with the repairs applied from the end to the start; of two that overlap only the first counts.

    Insertions at one place all count: a hedge stands before a marker.
    """
    kept: list[Repair] = []
    for edit in sorted(set(repairs), key=lambda r: (r.start, r.end, r.text)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    for edit in reversed(kept):
        draft = draft[: edit.start] + edit.text + draft[edit.end :]
    return draft


def repair(chain: ValidatorChain, evidence: Evidence, findings: list[Finding]) -> tuple[list[Finding], str | None]:
    """The findings with those marked `repaired` that the patched draft no longer has, and the patched draft.

    A patch is taken only if verifying it by the chain shows no flag that the original did not have, and mends at least one. Where all
    the repairs together are not taken, those of hard findings are tried alone: a warning never costs an answer its repair. What
    validators outside of the chain found stays as it is.
    """
    proposed = [f for f in findings if f.outcome == "flagged" and f.repairs and f.validator in chain.names]
    hard = [f for f in proposed if f.gate is Gate.HARD]
    for attempt in (proposed, hard if hard != proposed else []):
        mended, patched = _tried(chain, evidence, findings, attempt)
        if mended:
            return [_mended(f, mended, attempt) for f in findings], patched
    return findings, None


def _tried(
    chain: ValidatorChain, evidence: Evidence, findings: Sequence[Finding], attempt: Sequence[Finding]
) -> tuple[set[tuple[str, str | None]], str]:
    """What the repairs of some findings mend, verified, and the patched draft; nothing if they bring up anything new."""
    patched = apply(evidence.draft.raw, [r for f in attempt for r in f.repairs])
    if not attempt or patched == evidence.draft.raw:
        return set(), patched
    before = {key for key in _flags(findings) if key[0] in chain.names}
    after = _flags(chain.observe(evidence.with_draft(patched)))
    return (set() if after - before else before - after), patched


def _mended(finding: Finding, mended: set[tuple[str, str | None]], attempt: Sequence[Finding]) -> Finding:
    """A finding, repaired if its own edit mended it, or if it only lacked evidence for what another edit took away."""
    taken = finding in attempt or finding.reason in LACKS_EVIDENCE
    return replace(finding, repaired=True) if taken and _key(finding) in mended else finding


def _key(finding: Finding) -> tuple[str, str | None]:
    return finding.validator, finding.reason


def _flags(findings: Sequence[Finding]) -> set[tuple[str, str | None]]:
    return {_key(f) for f in findings if f.outcome in ("flagged", "errored")}
