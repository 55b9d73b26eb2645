"""Grounding: for each claim whether the passages support it, contradict it or say nothing of it, and where.

A grounder sits behind a small protocol, so that a trained model can take the place of the exact features (or stand behind them):
tasks in, one judgement a claim out. Batches come first: a model may score the claims of many requests in one pass.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, Literal, Protocol

from stillme.grounding.alignment import Alignment, align
from stillme.grounding.claims import Claim
from stillme.grounding.passage_index import Library
from stillme.grounding.scoring import probability
from stillme.grounding.statements import Reading, Statement, cues
from stillme.grounding.word_order import differs_only
from stillme.grounding.working import asked_figures
from stillme.grounding.wrapping import denies_assent, exchange_words
from stillme.languages import is_served
from stillme.lazy import lazy
from stillme.stopping import watched
from stillme.text.names import Name, find_names
from stillme.text.sentences import Sentence
from stillme.text.tokens import Text
from stillme.version import __version__

__all__ = ["ExactGrounder", "Grounder", "GroundingTask", "Judgement", "Quote", "moved"]

Status = Literal["supported", "contradicted", "unsupported"]
SUPPORT_AT: Final = 0.5
MOST_STATEMENTS: Final = 3
WORTH_ALIGNING: Final = 0.5
COMMON: Final = 512
MOST_LEADING: Final = 10


@dataclass(frozen=True, slots=True)
class Quote:
    """Characters `start` to `end` of a passage's text; copied, never paraphrased."""

    passage: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a grounder says of one claim; `score` is the probability that it is supported."""

    status: Status
    score: float
    passages: tuple[int, ...] = ()
    """Indices of the passages that support it (or, if contradicted, speak against it)."""
    quote: Quote | None = None
    unsupported: tuple[tuple[int, int], ...] = ()
    """Character ranges of the draft that lack support."""
    decided_by: str = "exact"
    detail: str = ""
    objection: str = ""
    """What a rule has against the claim, by kind: a figure, a name, a negation."""
    only_objection: bool = False
    """Whether the source says everything else that the claim says."""
    complete: bool = False
    """Whether every word that the claim says stands in the source that supports it."""
    verbatim: bool = False
    """Whether a sentence of that source says it word for word."""
    in_order: bool = False
    """Whether a sentence of that source says it in the same words in the same order, figures by value; of a claim that a source
    contradicts, whether it does so but for what there is an objection to."""
    is_translation: bool = False
    """Whether a source in another language has all of its words."""

    @property
    def supported(self) -> bool:
        """Whether a passage supports the claim."""
        return self.status == "supported"


@dataclass(frozen=True, slots=True)
class GroundingTask:
    """The claims of one draft and the passages they are judged against."""

    draft: Reading
    """The draft, each of its sentences a statement."""
    claims: Sequence[Claim]
    """The factual claims; `Claim.index` is the number of its statement in the draft."""
    library: Library
    query: Text
    conversation: Sequence[Text]


class Grounder(Protocol):
    """Judges claims against passages; the same task gives the same judgements, whatever else is in the batch."""

    @property
    def id(self) -> str:
        """What decided, by name and version: it is recorded in every verdict."""
        ...

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """For each task, one judgement a claim, in order."""
        ...


class ExactGrounder:
    """Alignment by words, names, figures, negation, quantifiers and roles; no model."""

    @property
    def id(self) -> str:
        """Name and version of the rules."""
        return f"exact-features/{__version__}"

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """For each task, one judgement a claim, in order."""
        return [_Bench(task).judgements() if task.claims else [] for task in tasks]


@dataclass(slots=True)
class _Candidate:
    """A passage that shares words with a claim, and its statements that share most."""

    passage: int
    statements: list[Statement] = field(default_factory=list)
    shared: float = 0.0


class _Bench:
    """The passages of one task, indexed by word and by meaning, so that a claim finds its statements without reading all."""

    def __init__(self, task: GroundingTask) -> None:
        self.task = task
        self.library = task.library
        self.memo: dict[tuple[object, ...], tuple[int, Judgement]] = {}

    def judgements(self) -> list[Judgement]:
        """One judgement a claim, in order."""
        return [self._judge(claim) for claim in watched(self.task.claims)]

    def _judge(self, claim: Claim) -> Judgement:
        if not self.library.places:
            return Judgement("unsupported", 0.0, unsupported=(claim.span,), detail="no passage to stand on")
        if claim.assent:
            return self._judge_assent(claim)
        statement = self.task.draft.statements[claim.index]
        return self._decide(statement, self._subjects(claim.index, statement), claim)

    def _judge_assent(self, claim: Claim) -> Judgement:
        """A bare yes or no claims what the question asks, or its opposite."""
        query = self.task.query
        whole = Sentence(0, len(query), 0, len(query.raw))
        reading = Reading(query, [whole], self.task.draft.language, self.task.draft.known_names)
        asked = self._decide(reading.statements[0], (), claim)
        negative = denies_assent(self.task.draft.text, claim.first, claim.last)
        status: Status = asked.status
        if negative and status != "unsupported":
            status = "supported" if status == "contradicted" else "contradicted"
        score = asked.score if not negative or status == "unsupported" else round(1 - asked.score, 4)
        lacking = () if status == "supported" else (claim.span,)
        return Judgement(
            status, score, asked.passages, asked.quote, lacking, detail=asked.detail, objection=asked.objection,
            only_objection=asked.only_objection,
        )  # fmt: skip

    def _subjects(self, n: int, statement: Statement) -> tuple[Name, ...]:
        """Names a claim speaks of without repeating them: of the claim before it, or of the question."""
        if statement.names:
            return ()
        if statement.refers_back and n > 0 and self.task.draft.statements[n - 1].names:
            return tuple(self.task.draft.statements[n - 1].names)
        return self.asked_names

    @lazy
    def asked_names(self) -> tuple[Name, ...]:
        """The names of the question; where it only refers back, those of the turn it refers to."""
        task = self.task
        for text in (task.query, *reversed(task.conversation)):
            whole = Sentence(0, len(text), 0, len(text.raw))
            names = find_names(text, [whole], task.draft.known_names) if len(text) else []
            if names:
                return tuple(names)
            if cues().words("anaphora").isdisjoint(text.lowers):
                break
        return ()

    # finding statements

    def _candidates(self, claim: Statement) -> list[_Candidate]:
        """For each passage that shares words with the claim, its statements that share most, best first."""
        halves = self._shared_halves(claim)
        ranked = sorted(sorted(halves), key=halves.__getitem__, reverse=True)  # of equals the first one stands first
        found: dict[int, _Candidate] = {}
        least, taking = 0.0, set(range(len(self.library.passages)))
        for place in ranked:
            if not taking:
                break
            passage, statement = self.library.places[place]
            if passage not in taking or (statement.dictates and statement.dictates not in claim.stems):
                continue  # that a reader is to say it does not make it so
            if statement.asks_in_vain:
                continue  # nor does a question
            shared = halves[place] / 2
            if passage not in found:
                if shared < least:
                    taking &= found.keys()  # neither this passage nor one behind it is worth aligning
                    continue
                found[passage] = _Candidate(passage, shared=shared)
                least = max(least, shared * WORTH_ALIGNING)
            found[passage].statements.append(statement)
            if len(found[passage].statements) == MOST_STATEMENTS * 2:
                taking.discard(passage)
        return list(found.values())

    def _shared_halves(self, claim: Statement) -> Counter[int]:
        """For each place how much of the claim its statement holds, in halves: a word counts two, a name or a figure three."""
        words = claim.reading.text.words
        found_at = [(i, self._where(claim, i)) for i in claim.content]
        rare = any(0 < len(places) <= COMMON for _, places in found_at)
        rows = [
            places
            for i, places in found_at
            if not rare or len(places) <= COMMON  # a word that is everywhere finds nothing that the rarer ones do not
            for _ in range(3 if words[i].capital or words[i].number else 2)
        ]
        halves = Counter(chain.from_iterable(rows))
        if self._elliptic(claim):
            for place, count in self.library.sharing(w.stem for w in self.task.query.words if w.content).items():
                halves[place] += 4 * count
        return halves

    def _elliptic(self, claim: Statement) -> bool:
        """'£5.' says nothing without its question: then the question finds the statement."""
        return (
            claim.reading is self.task.draft and sum(not claim.reading.text.words[i].number for i in claim.content) <= 1
        )

    def _where(self, claim: Statement, i: int) -> Collection[int]:
        """The statements that hold a word of the claim, or where none does, another word for it."""
        direct = self.library.index.get(claim.reading.text.words[i].stem)
        if direct:
            return direct
        concepts = claim.reading.concepts[i]
        if not concepts:
            return ()
        meanings = self.library.meanings
        return set().union(*(meanings.get(c, ()) for c in concepts))

    # judging

    def _decide(self, statement: Statement, subjects: Sequence[Name], claim: Claim) -> Judgement:
        text = statement.reading.text
        leading = 0 if claim.assent else text.starts[statement.first] - claim.start
        said = text.slice(statement.first, statement.last), claim.end - claim.start, leading
        key = (*said, tuple(n.parts for n in subjects), claim.assent)
        if key not in self.memo:
            judged = self._weigh([self._align(statement, c, subjects) for c in self._candidates(statement)], claim)
            self.memo[key] = claim.start, judged
        start, judged = self.memo[key]
        return moved(judged, claim.start - start)

    def _align(self, claim: Statement, candidate: _Candidate, subjects: Sequence[Name]) -> tuple[int, Alignment]:
        chosen = _enough(claim, candidate.statements)
        passage = candidate.passage
        source, heading = self.library.readings[passage], self.library.headings[passage]
        return passage, align(claim, source, chosen, heading, subjects, asked_figures(self.task.query))

    def _weigh(self, aligned: Sequence[tuple[int, Alignment]], claim: Claim) -> Judgement:
        """Supported if one passage supports it; contradicted if none does and one is incompatible; else unsupported."""
        scored = sorted(((probability(a), n, a) for n, a in aligned), key=lambda item: (-item[0], item[1]))
        if not scored:
            return Judgement("unsupported", 0.02, unsupported=(claim.span,), detail="no passage speaks of it")
        supporting = [item for item in scored if item[0] >= SUPPORT_AT]
        if supporting and not (supporting[0][2].missing and any(_turns(a) for _, _, a in scored)):
            score, passage, best = supporting[0]
            return Judgement(
                "supported", score, tuple(n for _, n, _ in supporting), _quote(passage, best),
                objection=best.objections[0].kind if best.objections else "", complete=not best.missing,
                verbatim=best.verbatim, in_order=best.in_order,
                is_translation=_is_across(best) and not best.missing,
            )  # fmt: skip
        reported = _reported(aligned)
        if reported is not None:
            passage, best = reported
            sources = tuple(n for n, a in aligned if _states_a_figure(a))
            score = probability(best)
            if score >= SUPPORT_AT:
                return Judgement(
                    "supported",
                    score,
                    sources,
                    _quote(passage, best),
                    complete=not best.missing and not best.objections,
                )
        against = [item for item in scored if item[2].incompatible]
        score, passage, best = against[0] if against else scored[0]
        status: Status = "contradicted" if against else "unsupported"
        sources = tuple(n for _, n, _ in against)
        return Judgement(
            status, score, sources, _quote(passage, best) if against else None, _lacking(best, claim),
            detail=_why(best), objection=best.objections[0].kind if best.objections else "",
            only_objection=_says_the_rest(best), in_order=_is_near_copy(best),
        )  # fmt: skip


def _reported(aligned: Sequence[tuple[int, Alignment]]) -> tuple[int, Alignment] | None:
    """A claim that tells what several sources say, laid against all of them together; None where no source states one of its figures."""
    if len(aligned) < 2 or not aligned[0][1].claim.has("reporting"):
        return None
    claim = aligned[0][1].claim
    covered = set[int]().union(*(a.covered for _, a in aligned))
    figures = {i for q in claim.quantities for i in range(q.first, q.last)}
    if len(claim.quantities) < 2 or not figures <= covered:
        return None
    passage, chief = max(aligned, key=lambda item: (len(item[1].covered), -item[0]))
    lowers = claim.reading.text.lowers
    telling = {i for i in claim.content if lowers[i] in cues().words("report")}
    left = [o for o in chief.objections if not o.kind.startswith("figure")]
    return passage, Alignment(claim, chief.source, chief.statements, covered, chief.context | telling, left)


def _states_a_figure(found: Alignment) -> bool:
    return any(q.first in found.covered for q in found.claim.quantities)


def _enough(claim: Statement, statements: Sequence[Statement]) -> list[Statement]:
    """The best statement, and up to two more that share two words with the claim, one of them not shared before."""
    chosen = [statements[0]]
    have = set(claim.stems & statements[0].stems)
    for other in statements[1:]:
        shared = claim.stems & other.stems
        more = shared - have
        if more and len(shared) > 1 and len(chosen) < MOST_STATEMENTS:
            chosen.append(other)
            have |= more
    return chosen


def moved(judged: Judgement, by: int) -> Judgement:
    """The judgement of a claim that stands so many characters further on in a draft."""
    if not by or not judged.unsupported:
        return judged
    return replace(judged, unsupported=tuple((start + by, end + by) for start, end in judged.unsupported))


def _quote(passage: int, found: Alignment) -> Quote:
    """The best statement, with a second one where it stands next to it."""
    chosen = [found.best.sentence]
    if len(found.statements) == 1:
        return Quote(passage, chosen[0].start, chosen[0].end)
    order = found.source.statements
    at = bisect_left(order, found.best.first, key=lambda s: s.first)
    near = order[max(0, at - 1) : at] + order[at + 1 : at + 2]
    chosen += [s.sentence for s in found.statements[1:2] if s in near]
    return Quote(passage, min(s.start for s in chosen), max(s.end for s in chosen))


def _lacking(found: Alignment, claim: Claim) -> tuple[tuple[int, int], ...]:
    """Character ranges of what the source does not carry: objections and missing words, joined where they touch."""
    if claim.assent:
        return (claim.span,)
    text = found.claim.reading.text
    tokens = set(found.missing)
    for objection in found.objections:
        tokens.update(range(objection.first, objection.last))
    tokens -= found.claim.reading.skipped
    ranges: list[tuple[int, int]] = []
    for i in sorted(tokens):
        start, end = text.starts[i], text.ends[i]
        if ranges and not text.raw[ranges[-1][1] : start].strip():
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((start, end))
    return tuple(ranges) or (claim.span,)


def _says_the_rest(found: Alignment) -> bool:
    """Whether the best statement says all of the claim but what there is an objection to, and but for what stands around it."""
    if _is_across(found):
        return any(objection.kind in ("figure", "figure apart") for objection in found.objections)
    disputed = _disputed(found)
    core = _core(found)
    lowers, hedging = found.claim.reading.text.lowers, cues().words("hedging")
    missing = [i for i in found.missing_in_best if i in core and lowers[i] not in hedging]
    left = set(missing) - disputed - found.claim.bounds
    most = 1 if any(objection.kind in ("figure", "figure apart") for objection in found.objections) else 0
    return len(left) <= most and any(i in core and i not in disputed for i in found.claim.content)


def _is_across(found: Alignment) -> bool:
    """Whether claim and source are in two languages that are served."""
    languages = {found.claim.reading.language, found.source.language}
    return len(languages) > 1 and all(map(is_served, languages))


def _turns(found: Alignment) -> bool:
    """Whether a source says the very opposite: what another one only touches upon does not outweigh it."""
    return bool(found.incompatible) and _is_near_copy(found)


def _is_near_copy(found: Alignment) -> bool:
    """Whether the best statement says the claim in its words and order but for what there is an objection to, and what stands around it."""
    return differs_only(found.claim, found.best, _disputed(found), _core(found)) or _holds_turned(found)


def _holds_turned(found: Alignment) -> bool:
    """Whether the claim has everything that a statement of the source says, but for a negation that only one of them has."""
    claim = found.claim
    if not any(objection.kind == "negation" for objection in found.objections):
        return False
    turned = (source for source in found.statements if bool(source.negations) != bool(claim.negations))
    return any(len(source.content) > 1 and _has_in_one_piece(claim, source.stems) for source in turned)


def _has_in_one_piece(claim: Statement, stems: frozenset[str]) -> bool:
    """Whether a claim has all of some words, and no other content words between them."""
    words = claim.reading.text.words
    held = [n for n, i in enumerate(claim.content) if words[i].stem in stems]
    return stems <= claim.stems and held == list(range(held[0], held[-1] + 1))


def _disputed(found: Alignment) -> set[int]:
    """The tokens of the claim that there is an objection to."""
    return {i for objection in found.objections for i in range(objection.first, objection.last)}


def _core(found: Alignment) -> range:
    """The tokens of the claim without words at either end that the source has not, or that speak of documents: what leads in to it
    or ends it, and names nothing."""
    claim = found.claim
    lowers = claim.reading.text.lowers
    about_exchange = {i for i in claim.content if lowers[i] in exchange_words()}
    around = (about_exchange | set(found.missing)) - claim.named - claim.figured

    def edge(content: Sequence[int]) -> int:
        """How many content words stand at this end that are not in the source."""
        words = next((n for n, i in enumerate(content) if i not in around), 0)
        return words if words <= MOST_LEADING else 0

    before, behind = edge(claim.content), edge(claim.content[::-1])
    first = claim.content[before] if before else claim.first
    return range(first, claim.content[-1 - behind] + 1 if behind else claim.last)


def _why(found: Alignment) -> str:
    """In words, what speaks against the claim or is missing."""
    text = found.claim.reading.text
    for objection in found.objections:
        said = text.slice(objection.first, objection.last)
        if objection.instead and objection.kind in ("figure", "figure apart", "name", "name elsewhere"):
            return f"{objection.kind.partition(' ')[0]}: claim says {said!r}, source says {objection.instead!r}"
        return (
            f"{objection.kind}: {said!r}"
            if objection.kind not in ("certainty", "exclusivity", "quantifier")
            else objection.kind
        )
    missing = ", ".join(repr(text.words[i].text) for i in found.missing[:6])
    return f"not in the sources: {missing}" if missing else "too little in common with any passage"
