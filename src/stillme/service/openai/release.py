"""Text that is let through claim by claim, each as soon as it is verified and never before.

A claim is complete when the next one has begun: citation markers behind a full stop belong to it. What goes out ends where a sentence
of the package's own splitter ends. The draft so far is verified at each such place, so that no claim is judged without what stands
before it, as far back as it may refer; what was judged already is remembered, so that a long answer costs no more than its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final, Protocol

from stillme.contract import Action, RetrievedPassage, VerifyRequest
from stillme.decision import decide
from stillme.errors import InputError
from stillme.evidence import Evidence
from stillme.grounding.citations import find_markers
from stillme.grounding.grounder import Grounder, GroundingTask, Judgement
from stillme.grounding.passage import Passage
from stillme.guard import Guard, grounder_for
from stillme.limits import Amount, check_work, context_amount
from stillme.models.embedding import embed
from stillme.policy import Policy
from stillme.reasons import Decision, Gate, Reason
from stillme.response import delivered, respond
from stillme.text.sentences import Sentence, split
from stillme.text.tokens import QUOTES, Text
from stillme.validators.base import Finding
from stillme.validators.chain import ConfiguredValidator, ValidatorChain, attempt
from stillme.validators.registry import BUILT_IN
from stillme.validators.repairs import repair

__all__ = [
    "WHOLE_ANSWER",
    "ClaimEnds",
    "ClaimGate",
    "Look",
    "Looking",
    "Rehearsal",
    "Step",
    "holds_to_the_end",
    "whole_look",
]

WHOLE_ANSWER: Final = frozenset({"PhilosophicalDepthValidator", "SchemaFormat", "VerbosityValidator"})
"""They can judge a whole answer only: they have their say at the end."""
MAY_END: Final = frozenset(".!?…。！？;\n")
LEAD_IN_WORDS: Final = 2
LONGEST_BRACKET: Final = 200
LONGEST_LINK: Final = 2_000
LONGEST_PARENTHESES: Final = 400
LONGEST_GAP: Final = 100
FENCES: Final = ("```", "~~~")
KEPT: Final = 8
"""How many claims that went out are read again before a new one: it may refer to them."""
SHARED: Final = (
    "query", "query_language", "passages", "conversation", "language", "need", "known_names", "library", "similarities",
    "ambiguity", "conflicts",
)  # fmt: skip


# where claims end


class ClaimEnds:
    """Finds where claims end in a text that is still growing: an end that was found never moves, whatever comes behind it."""

    def __init__(self, passages: Sequence[RetrievedPassage] = ()) -> None:
        self._given = len(passages)
        self._passages = [Passage(number, p) for number, p in enumerate(passages, 1) if p.text.strip()]

    def found(self, raw: str, *, complete: bool) -> list[int]:
        """The ends, in order. A complete text ends where it ends; a growing one is settled as far as nothing can change it."""
        text = Text(raw)
        sentences = split(text, self._markers(raw))
        settled = len(raw) if complete else _settled(raw)
        open_quotes = _open_quotes(text)
        ends = [
            here.end
            for here, behind in pairwise(sentences)
            if text.ends[behind.first] <= settled and not _goes_on(text, here, behind, open_quotes)
        ]
        return [*ends, len(raw)] if complete and raw else ends

    def _markers(self, raw: str) -> list[tuple[int, int]]:
        """The markers, those in code too: whether a backtick is closed again is not known yet."""
        return [m.span for m in find_markers(Text(raw.replace("`", "'")), self._passages, self._given)]


def _settled(raw: str) -> int:
    """Up to where a growing text is read the same whatever follows: to its last white space, and to a bracket that may close yet."""
    end = len(raw)
    while end > 0 and not raw[end - 1].isspace():
        end -= 1
    return min(end, _open_bracket(raw, "[", "[]\n", LONGEST_BRACKET), _open_bracket(raw, "【", "【】\n", LONGEST_BRACKET),
               _open_bracket(raw, "(", "()", LONGEST_PARENTHESES), _open_link(raw))  # fmt: skip


def _open_bracket(raw: str, opening: str, ending: str, longest: int) -> int:
    """Where the last bracket stands that may still become a marker; the end of the text if there is none."""
    at = raw.rfind(opening, max(0, len(raw) - longest - 2))
    if at < 0 or any(mark in raw[at + 1 :] for mark in ending):
        return len(raw)
    return at


def _open_link(raw: str) -> int:
    """The bracket before a link address that is still being written: '[title](https://…'."""
    at = raw.rfind("](", max(0, len(raw) - LONGEST_LINK - 2))
    if at < 0 or any(mark in raw[at + 2 :] for mark in "() \t\n"):
        # ']' may be followed by its address yet
        return raw.rfind("[") if raw.endswith("]") and "[" in raw else len(raw)
    opening = raw.rfind("[", 0, at)
    return opening if opening >= 0 else at


def _goes_on(text: Text, here: Sentence, behind: Sentence, open_quotes: Sequence[bool]) -> bool:
    """Whether a sentence is only understood with the one behind it: it is let through with that one."""
    raw = text.raw
    if raw[here.end - 1] == ";" or sum(w.word or w.number for w in text.words[here.first : here.last]) <= LEAD_IN_WORDS:
        return True  # a semicolon shares the markers behind it; 'Yes.' leads in to what it affirms
    between = raw[here.end : behind.start]
    if open_quotes[here.last - 1] and "\n\n" not in between:
        return True
    opening = raw[text.line(here.start)[0] : here.start + 2].lstrip()
    if opening.startswith("|"):  # whether a row is the heading of a table is seen in the next one
        return raw[text.line(behind.start)[0] : behind.start + 1].lstrip().startswith("|")
    return (
        opening.startswith(("**", "__")) and "\n" not in between
    )  # whether bold text is a heading is seen at the end of the line


def _open_quotes(text: Text) -> list[bool]:
    """For each token, whether a quotation that was opened in its paragraph is still open behind it."""
    found: list[bool] = []
    opened: set[str] = set()
    for word, gap in zip(text.words, text.gaps, strict=False):
        if "\n\n" in gap:
            opened.clear()
        mark = word.text
        closed = next((o for o, c in QUOTES.items() if c == mark and o in opened), None)
        if closed is not None:
            opened.discard(closed)
        elif mark in QUOTES:
            opened.add(mark)
        found.append(bool(opened))
    return found


# what is seen at each end


@dataclass(frozen=True, slots=True)
class Look:
    """What a verification of a draft comes to: whether it may go out, and as what text."""

    action: Action
    text: str
    """What goes out; where the action is block or clarify, what is said instead."""
    waits: bool = False
    """Whether nothing that could be checked has been said yet: it goes out with the first claim that does, or not at all."""

    @property
    def stops(self) -> bool:
        """Whether nothing of what is new in the draft may go out."""
        return self.action in ("block", "clarify")


class Looking(Protocol):
    """Verifies a draft and keeps no record; `upto` is how many characters of what the model wrote it holds."""

    def __call__(self, draft: str, upto: int) -> Look:
        """What the draft comes to."""
        ...


def whole_look(guard: Guard, request: VerifyRequest, draft: str) -> Look:
    """A whole draft under the whole policy, unrecorded."""
    verdict = guard.examine(request.model_copy(update={"draft_answer": draft}), record=False).verdict
    stops = verdict.action in ("block", "clarify")
    repaired = verdict.mode != "monitor" and any(f.repaired for f in verdict.findings)
    text = delivered(verdict, draft) if stops or (repaired and verdict.decision is Decision.ANSWER) else draft
    if verdict.warning is not None:  # it stands behind the whole answer, not in its text
        text = text.removesuffix(f"\n\n{verdict.warning}")
    return Look(verdict.action, text)


class Restarts:
    """Where reading a growing text may begin anew, as if nothing stood before: ends of claims behind which nothing is open."""

    def __init__(self) -> None:
        self._places = [0]
        self._seen = self._fences = 0

    def note(self, text: str, end: int) -> None:
        """An end of a claim, once what follows it is known; ends come in order."""
        self._fences += sum(text.count(fence, self._seen, end) for fence in FENCES)
        self._seen = end
        following = text[end : end + LONGEST_GAP]
        begins = following.lstrip()[:1]
        anew = (
            begins not in ("", "|")
            if "\n" in following[: len(following) - len(following.lstrip())]
            else begins.isalpha()
        )
        if anew and not self._fences % 2:
            self._places.append(end)

    def before(self, claims: int) -> int:
        """The place that so many claims stand behind; the beginning where there are not as many."""
        return self._places[-1 - claims] if len(self._places) > claims else 0


class Rehearsal:
    """Verifies a growing draft again and again: what was read of question and passages, and each claim once judged, is kept.

    Only the end of the draft is read each time, with the claims before the new one that it may refer to, so that a long answer costs
    as much a claim as a short one. What stops there is looked at once more as a whole. A policy that counts over the whole answer, and
    validators that are not ours, always see all of it.
    """

    def __init__(
        self, guard: Guard, request: VerifyRequest, confidence: Callable[[int], float | None] = lambda _: None
    ) -> None:
        policy = guard.policy
        # What the program gave the guard in place of the policy's own belongs to the rehearsal too.
        grounder = _Remembering(guard.grounder or grounder_for(policy))
        nearness = None if policy.grounding.model == "none" else embed
        self._policy = policy
        self._chain = ValidatorChain([c for c in policy.build(guard.added) if _name(c) not in WHOLE_ANSWER])
        self._confidence = confidence
        self._grounder, self._context = grounder, context_amount(request)
        self._whole = bool(guard.added) or _counts_over_all(policy)
        self._restarts, self._kept = Restarts(), KEPT
        self._before = ""
        self._amount = Amount()
        blank = request.model_copy(update={"draft_answer": ""})
        self._evidence = Evidence(blank, request.as_of or datetime.now(UTC), grounder, nearness)
        for name in SHARED:  # read once, for every draft to come; what fails fails again in the validator that needs it
            attempt(lambda name=name: getattr(self._evidence, name))  # type: ignore[misc]

    def __call__(self, draft: str, upto: int) -> Look:
        """What the draft comes to under the policy, but for the validators that judge whole answers; over the limit is an InputError."""
        begin = self._begin(draft)
        look = self._look(draft, begin, upto)
        if look.stops and begin:
            look = self._look(draft, 0, upto)
            if not look.stops:
                self._kept *= 2  # what stands further back matters here
        self._before = draft if look.stops else look.text
        return look

    def _begin(self, draft: str) -> int:
        """From where the draft is read; what was looked at before stands at its start."""
        if not draft.startswith(self._before):
            self._before, self._amount, self._restarts = "", Amount(), Restarts()
        settled = len(self._before)
        self._amount += Amount.of(draft[settled:])
        check_work(self._amount.against(self._context), self._policy)
        if settled:
            self._restarts.note(draft, settled)
        return 0 if self._whole else self._restarts.before(self._kept)

    def _look(self, whole: str, begin: int, upto: int) -> Look:
        draft, self._grounder.offset = whole[begin:], begin
        evidence = self._evidence.with_draft(draft)
        told = {"generation_confidence": self._confidence(upto)}
        evidence.request = evidence.request.model_copy(update=told)
        seen = self._chain.observe(evidence, lambda: evidence.judgements)
        # That an answer states something is asked of the whole of it: until it does, nothing goes out.
        waits = begin == 0 and self._policy.mode == "enforce" and any(map(_finds_no_claim, seen))
        seen = [f for f in seen if not _finds_no_claim(f)]
        findings, patched = repair(self._chain, evidence, seen)
        left_out = any(f.outcome == "skipped" and (f.detail or "").startswith("not run: ") for f in findings)
        unjudged = left_out or (evidence.has_draft and attempt(lambda: evidence.judged)[1] is not None)
        claims_made = evidence.has_draft and (unjudged or bool(evidence.factual_claims))
        supported = claims_made and not unjudged and all(judged.supported for judged in evidence.judgements)
        ruling = decide(findings, self._policy, claims_made=claims_made, all_supported=supported)
        response = respond(ruling, evidence, self._policy, patched)
        if response.action in ("block", "clarify"):
            return Look(response.action, response.safe_response or "")
        is_repaired = patched is not None and self._policy.mode != "monitor" and ruling.decision is Decision.ANSWER
        return Look(response.action, whole[:begin] + (patched if is_repaired and patched is not None else draft), waits)


def _finds_no_claim(finding: Finding) -> bool:
    return finding.reason == Reason.NO_VERIFIABLE_CLAIM and finding.gate is Gate.HARD


class _Remembering:
    """A grounder that judges a claim once: what stands before it in the draft is the same each time.

    `offset` is where the draft that is given begins in the whole one: a claim is known by its place there and by what it says.
    """

    def __init__(self, inner: Grounder) -> None:
        self._inner = inner
        self._known: dict[tuple[object, ...], Judgement] = {}
        self.offset = 0

    @property
    def id(self) -> str:
        """What decides."""
        return self._inner.id

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """For each task, one judgement a claim, in order."""
        return [self._judged(task) for task in tasks]

    def _judged(self, task: GroundingTask) -> list[Judgement]:
        raw, offset = task.draft.text.raw, self.offset
        keys: list[tuple[object, ...]] = [
            (offset + c.start, raw[c.start : c.end], c.kind, c.assent, c.cited) for c in task.claims
        ]
        new = [claim for claim, key in zip(task.claims, keys, strict=True) if key not in self._known]
        judged = self._inner.judge([replace(task, claims=new)])[0] if new else []
        if len(judged) != len(new):
            return judged  # not one for each: whoever asked is told by the evidence
        fresh = iter(judged)
        self._known.update((key, _moved(next(fresh), offset)) for key in keys if key not in self._known)
        return [_moved(self._known[key], -offset) for key in keys]


def _moved(judged: Judgement, by: int) -> Judgement:
    """A judgement whose places in the draft are told from another beginning; whatever is no judgement is left as it is."""
    if not by or not isinstance(judged, Judgement) or not judged.unsupported:
        return judged
    return replace(judged, unsupported=tuple((start + by, end + by) for start, end in judged.unsupported))


def _counts_over_all(policy: Policy) -> bool:
    """Whether a validator is not ours, or allows so many claims of an answer what it allows no others."""
    configured = policy.build()
    allows = any(getattr(c.validator, "allowed_uncited", 0) for c in configured)
    return allows or not policy.validators.keys() <= set(BUILT_IN)


def holds_to_the_end(policy: Policy) -> bool:
    """Whether the policy demands something of every answer that only its end can show: required sections, as a hard gate."""

    def demands(configured: ConfiguredValidator) -> bool:
        sections = getattr(configured.validator, "required_sections", ())
        return _name(configured) == "SchemaFormat" and bool(sections) and configured.gate is not Gate.SOFT

    return any(map(demands, policy.build()))


def _name(configured: ConfiguredValidator) -> str:
    return getattr(configured.validator, "name", type(configured.validator).__name__)


# the gate


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one claim: text that goes out now, or (`stopped`) the words that take the place of all the rest."""

    text: str
    end: int
    """Characters of what the model wrote that are settled with it."""
    stopped: Action | None = None


class ClaimGate:
    """Holds a growing text back and lets it through claim by claim.

    `look` verifies the draft so far, `whole` the finished one. Feed it, `close` it at the end, and after each of both take steps
    until there is none. It is used by one thread at a time.
    """

    def __init__(
        self,
        look: Looking,
        whole: Callable[[str], Look],
        ends: ClaimEnds,
        *,
        most_characters: int,
        hold: bool = False,
    ) -> None:
        self._look, self._whole, self._ends = look, whole, ends
        self._most, self._hold = most_characters, hold
        self._pieces: list[str] = []
        self._text = ""
        self._length = 0
        self._scanned = 0
        self._restarts = Restarts()
        self._may_end = False
        self._waiting: list[int] = []
        self._complete = False
        self.sent = ""
        """What went out."""
        self.released = 0
        """Characters of what the model wrote that went out."""
        self._held = 0
        self.stopped_at: int | None = None
        """The end of the claim that stopped it."""
        self.fits = True
        """Whether the text is within the limits of the policy."""

    @property
    def text(self) -> str:
        """What the model wrote so far."""
        if self._pieces:
            self._text += "".join(self._pieces)
            self._pieces.clear()
        return self._text

    def feed(self, piece: str) -> bool:
        """Take a piece in; whether a claim may have become complete. A text over the policy's limit is an InputError."""
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length > self._most:
            self.fits = False
            raise InputError(
                f"the model's answer has more than {self._most} characters (limits.draft_chars): "
                "ask for a shorter one, or raise the limit in the policy"
            )
        spaced = any(map(str.isspace, piece))
        ready = self._may_end and spaced and not self._hold
        self._may_end = self._may_end or not MAY_END.isdisjoint(piece)
        return ready or (spaced and self._may_end and not self._hold)

    def close(self) -> None:
        """The text is complete."""
        self._complete = True
        self._may_end = True
        self._scanned = -1

    def step(self) -> Step | None:
        """Verify the next complete claim; None when there is none, or when nothing goes out any more."""
        if self.stopped_at is not None:
            return None
        if not self._waiting:
            self._scan()
        if not self._waiting:
            return None
        end = self._waiting.pop(0)
        last = self._complete and end == len(self.text)
        return self._taken(end, last=last)

    def _scan(self) -> None:
        text = self.text
        if self._scanned == len(text) or not self._may_end:
            return
        self._scanned = len(text)
        if self._hold:
            self._waiting = [len(text)] if self._complete and text else []
        else:
            begin = self._restarts.before(KEPT)
            found = (begin + end for end in self._ends.found(text[begin:], complete=self._complete))
            self._waiting = [end for end in found if end > max(self.released, self._held)]
        self._may_end = not MAY_END.isdisjoint(text[max([self.released, *self._waiting]) :])

    def _taken(self, end: int, *, last: bool) -> Step:
        new = self.text[self.released : end]
        draft = self.sent + new
        look = self._looked(draft, end, last=last)
        if not look.stops and not look.text.startswith(self.sent):
            look = Look(
                "block", ""
            )  # a repair of what is gone already cannot be made, and without it nothing may follow
        if look.stops:
            self.stopped_at = end
            self._waiting.clear()
            return Step(look.text, end, look.action)
        if look.waits:
            self._held = end
            return Step("", self.released)
        text = look.text[len(self.sent) :]
        if self.released:
            self._restarts.note(self.text, self.released)
        self.sent, self.released = look.text, end
        return Step(text, end)

    def _looked(self, draft: str, end: int, *, last: bool) -> Look:
        try:
            look = self._whole(self.text) if last else self._look(draft, end)
            if last and self.released and not look.stops:
                look = self._look(
                    draft, end
                )  # the whole may go out; how its last claim reads is seen behind what went out
        except InputError:
            self.fits = False
            raise
        return look
