"""Applies proposed repairs and verifies the patched text once more; nothing unsupported ever gains a citation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Repair

if TYPE_CHECKING:
    from stillme.evidence import Evidence
    from stillme.validators.chain import ValidatorChain

__all__ = ["apply", "left_out", "repair", "without_lead"]

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
BEFORE_WORDS: Final = " \t>-*•+#"
PAIRED: Final = ("**", "__", "`", '"', "*")
BRACKETS: Final = ("()", "[]", "{}", "“”", "<>")
# One edit may uncover what another mends: what is left behind a lead-in lacks its citation.
MOST_ROUNDS: Final = 2


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


def without_lead(draft: str, start: int, behind: int) -> Repair | None:
    """The edit that leaves out what leads in to a sentence and lets the rest open it; None where marks would lose their other half."""
    lead = draft[start:behind]
    if any(lead.count(mark) % 2 for mark in PAIRED) or any(lead.count(a) != lead.count(b) for a, b in BRACKETS):
        return None
    return Repair(start, behind + 1, draft[behind].upper())


def apply(draft: str, repairs: Sequence[Repair]) -> str:
    """The draft with the repairs applied; of two that overlap only the first counts.

    Insertions at one place all count: a hedge stands before a marker.
    """
    parts: list[str] = []
    at = 0
    for edit in sorted(set(repairs), key=lambda r: (r.start, r.end, r.text)):
        if edit.start >= at:
            parts += (draft[at : edit.start], edit.text)
            at = edit.end
    return "".join((*parts, draft[at:]))


def repair(chain: ValidatorChain, evidence: Evidence, findings: list[Finding]) -> tuple[list[Finding], str | None]:
    """The findings with those marked `repaired` that the patched draft no longer has, and the patched draft.

    A patch is taken only if verifying it by the chain shows no flag that the original did not have, and mends at least one. Where all
    the repairs together are not taken, those of hard findings are tried alone: a warning never costs an answer its repair, nor does one
    that only what was left out kept from view; it stands among the findings then. What validators outside of the chain found stays
    as it is. What a patch uncovers is repaired once more.
    """
    here, left, patched, taken = evidence, findings, None, list[Finding]()
    for _ in range(MOST_ROUNDS):
        if patched is not None and not _holds(left) and not any(map(_is_repairable, _uncovered(left, findings))):
            break
        best = _best(chain, here, left, findings)
        if best is None:
            break
        here, left, patched = evidence.with_draft(best.draft), best.after, best.draft
        taken += best.attempt
    if patched is None:
        return findings, None
    mended = _own_flags(chain, findings) - _flags(left)
    return _with([_mended(f, mended, taken) for f in findings], _uncovered(left, findings)), patched


def _holds(findings: Sequence[Finding]) -> bool:
    """Whether something that can be repaired still keeps the answer back."""
    return any(_is_repairable(f) and f.gate is Gate.HARD for f in findings)


def _is_repairable(finding: Finding) -> bool:
    """Whether it is a flag with edits that would mend it."""
    return finding.outcome == "flagged" and bool(finding.repairs)


@dataclass(frozen=True, slots=True)
class _Patch:
    """A draft with some repairs: what the chain finds in it, which of its flags are gone, and which are new."""

    attempt: Sequence[Finding]
    draft: str
    after: list[Finding]
    gone: set[tuple[str, str | None]]
    new: list[Finding]

    @property
    def mends(self) -> bool:
        """Whether something is gone for nothing new."""
        return bool(self.gone) and not self.new

    @property
    def mends_for_a_warning(self) -> bool:
        """Whether something that kept the answer back is gone, and what is new only warns."""
        mended = [f for f in self.attempt if f.gate is Gate.HARD and _key(f) in self.gone]
        return bool(mended) and all(map(_only_warns, self.new))


def _best(chain: ValidatorChain, here: Evidence, left: Sequence[Finding], findings: Sequence[Finding]) -> _Patch | None:
    """The patch that is taken; none if none mends anything."""
    proposed = [f for f in left if _is_repairable(f) and f.validator in chain.names]
    hard = [f for f in proposed if f.gate is Gate.HARD]
    known = _own_flags(chain, findings) | _own_flags(chain, left)
    warned = None
    for attempt in [proposed] if hard == proposed else [proposed, hard]:
        patch = _patch(chain, here, attempt, left, known)
        if patch is not None and patch.mends:
            return patch
        if patch is not None and patch.mends_for_a_warning:
            warned = patch
    return warned


def _patch(
    chain: ValidatorChain,
    here: Evidence,
    attempt: Sequence[Finding],
    left: Sequence[Finding],
    known: set[tuple[str, str | None]],
) -> _Patch | None:
    """The draft with the repairs of some findings; none where they change nothing."""
    draft = apply(here.draft.raw, [repair for f in attempt for repair in f.repairs])
    if draft == here.draft.raw:
        return None
    after = chain.observe(here.with_draft(draft))
    new = [f for f in after if _is_flag(f) and _key(f) not in known]
    return _Patch(attempt, draft, after, _own_flags(chain, left) - _flags(after), new)


def _is_flag(finding: Finding) -> bool:
    return finding.outcome in ("flagged", "errored")


def _only_warns(finding: Finding) -> bool:
    return finding.outcome == "flagged" and finding.gate is Gate.SOFT


def _uncovered(left: Sequence[Finding], findings: Sequence[Finding]) -> list[Finding]:
    """What a patched draft shows and the original did not."""
    known = _flags(findings)
    return [f for f in left if _is_flag(f) and _key(f) not in known]


def _with(findings: Sequence[Finding], uncovered: Sequence[Finding]) -> list[Finding]:
    """The findings, with those that a patch uncovered in the place of what their validators said before."""
    again = {f.validator for f in uncovered}
    return [*(f for f in findings if _is_flag(f) or f.validator not in again), *uncovered]


def _mended(finding: Finding, mended: set[tuple[str, str | None]], taken: Sequence[Finding]) -> Finding:
    """A finding, repaired if its own edit mended it, or if it only lacked evidence for what another edit took away."""
    own = finding in taken or finding.reason in LACKS_EVIDENCE
    return replace(finding, repaired=True) if own and _key(finding) in mended else finding


def _key(finding: Finding) -> tuple[str, str | None]:
    return finding.validator, finding.reason


def _own_flags(chain: ValidatorChain, findings: Sequence[Finding]) -> set[tuple[str, str | None]]:
    return {key for key in _flags(findings) if key[0] in chain.names}


def _flags(findings: Sequence[Finding]) -> set[tuple[str, str | None]]:
    return {_key(f) for f in findings if _is_flag(f)}
