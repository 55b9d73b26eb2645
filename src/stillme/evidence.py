"""What the answer claims and what it may stand on: computed once, lazily, and shared by every validator."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain, takewhile
from numbers import Real
from typing import Any, Final, Literal, get_args

from stillme.conduct.classifiers import Conduct, Scored, judge_draft, judge_query
from stillme.contract import RetrievedPassage, Turn, VerifyRequest
from stillme.errors import BackendError, shown
from stillme.figures.arithmetic import gives, sum_of
from stillme.figures.comparing import agrees
from stillme.figures.quantity import Quantity
from stillme.grounding.citations import Marker, find_markers
from stillme.grounding.claims import Claim, asks_for_opinion, find_claims
from stillme.grounding.grounder import ExactGrounder, Grounder, GroundingTask, Judgement, Status
from stillme.grounding.hedges import find_hedges
from stillme.grounding.passage import Passage
from stillme.grounding.passage_index import Library
from stillme.grounding.question_reading import QuestionReading, read_question
from stillme.grounding.references import Reference, find_references
from stillme.grounding.similarity import Embed, legible, similarities
from stillme.grounding.statements import Reading, Statement
from stillme.grounding.talk import (
    behind_foreign_lead,
    behind_remark,
    beside_denial,
    find_directions,
    is_manners,
    is_remark,
    names_an_element,
    only_talks,
    run_on_talk,
)
from stillme.grounding.wrapping import Asked, asked_by, denies_what_follows, known_from, may_assent
from stillme.languages import has, is_served
from stillme.lazy import lazy, share, shared
from stillme.questions.ambiguity import Ambiguity, find_ambiguity, find_picked
from stillme.questions.answer_language import requested_language
from stillme.questions.conflicts import PassageConflict, find_conflicts
from stillme.questions.need import Need, need_of
from stillme.questions.openness import find_open, find_plain
from stillme.stopping import checkpoint
from stillme.text.language import identify
from stillme.text.markup import Markup, read_markup
from stillme.text.names import Name, capitalised_words
from stillme.text.sentences import Sentence, split
from stillme.text.spelling import respelt
from stillme.text.tokens import Text, within

__all__ = ["DEFAULT_GROUNDER", "EarlierDrafts", "Evidence"]

DEFAULT_GROUNDER: Final[Grounder] = ExactGrounder()
STATUSES: Final = get_args(Status)
NO_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
MANNERS: Final = frozenset({"announcement", "courtesy", "refusal", "disclaimer", "fragment", "lead-in"})
NAMES_A_VALUE: Final = '":'
DANGER: Final[tuple[Literal["given"]]] = ("given",)
MANNERLY: Final = ("sell", "person", "choice")
DECLINING: Final = frozenset({"refusal", "question"})
BESIDE_DECLINING: Final = frozenset({"courtesy", "disclaimer", "announcement", "layout", "self", "heading"})
LEAD_MARKS: Final = frozenset(":—–=])}>")
DENIED: Final = "what stands before it denies it"
# Marks that lay a text out and say nothing.
LAYOUT: Final = frozenset("*_#`~>")
# So many sentences at the end of a beginning may be read otherwise once it is known what follows.
UNSETTLED: Final = 2


@dataclass
class Evidence:
    """One request, read. Every property is computed on first use and never changes."""

    request: VerifyRequest
    as_of: datetime
    grounder: Grounder = DEFAULT_GROUNDER
    embed: Embed | None = None
    """Asked how near a passage is to the question where shared words leave it in doubt; None: words decide alone."""
    earlier: EarlierDrafts | None = None
    """The beginnings of the draft that were read before, where it grows."""

    @classmethod
    def of(
        cls,
        query: str = "",
        draft: str = "",
        passages: Sequence[str | RetrievedPassage] = (),
        as_of: datetime = NO_TIME,
        conversation: Sequence[str] = (),
        generation_confidence: float | None = None,
    ) -> Evidence:
        """Evidence from plain texts: what the spec's `ValidatorChain.run` and the tests of a validator need."""
        request = VerifyRequest(
            query=query,
            draft_answer=draft,
            retrieved_context=tuple(_numbered(n, p) for n, p in enumerate(passages, 1)),
            conversation=tuple(Turn(role="user", content=text) for text in conversation),
            generation_confidence=generation_confidence,
        )
        return cls(request, as_of)

    def with_draft(self, draft: str, **changes: Any) -> Evidence:
        """The same request with another draft; what was read of question and passages is kept."""
        other = replace(self, request=self.request.model_copy(update={"draft_answer": draft, **changes}))
        share(self, other)
        return other

    # what was given

    @shared
    def query(self) -> Text:
        """The user's question."""
        return Text(self.request.query)

    @lazy
    def draft(self) -> Text:
        """The draft answer; blank in Pattern B. Vietnamese without accents is read in the spelling of the passages."""
        return respelt(Text(self.request.draft_answer or ""), [passage.text for passage in self.passages])

    @shared
    def passages(self) -> list[Passage]:
        """The passages that can be read: those of white space are no evidence."""
        given = self.request.retrieved_context
        return [Passage(number, p) for number, p in enumerate(given, 1) if p.text.strip()]

    @shared
    def conversation(self) -> list[Text]:
        """Earlier turns, oldest first; they resolve references and are never evidence."""
        return [Text(turn.content) for turn in self.request.conversation]

    @property
    def has_draft(self) -> bool:
        """False in Pattern B."""
        return bool((self.request.draft_answer or "").strip())

    # the question

    @shared
    def query_language(self) -> str:
        """The language the question is written in."""
        return identify(self.query)

    @shared
    def language(self) -> str:
        """The language the user is to be answered in."""
        asked = requested_language(self.query)
        if asked:
            return asked
        stated = self.request.metadata.language
        if stated != "auto":
            return stated
        if self.query_language != "unknown":
            return self.query_language
        return next(filter(is_served, map(identify, reversed(self.conversation))), "unknown")

    @shared
    def need(self) -> Need:
        """What the question asks for, and whether that needs a source."""
        return need_of(self.query)

    @shared
    def query_conduct(self) -> Conduct:
        """What the classifiers suspect of the question."""
        return judge_query(self.query, self.query_language, self.embed)

    @shared
    def similarities(self) -> list[float]:
        """For each passage, the given similarity or the computed one."""
        embed = self.embed if self.need.source_required else None  # else no threshold is asked
        return similarities(self.query, self.passages, self.query_language, embed)

    @property
    def max_similarity(self) -> float | None:
        """The best similarity, or None without passages."""
        return max(self.similarities, default=None)

    @property
    def ambiguity(self) -> Ambiguity | None:
        """Why the question cannot be answered as it stands, if so: by rule, by what the draft picks, or without one by the model."""
        found = self._shelf.ambiguity
        if found is None:
            return self._picked if self.has_draft else self._left_open
        return found

    @lazy
    def _left_open(self) -> Ambiguity | None:
        """What a question may mean that the passages answer in several ways, as their clauses show or, if they do not, the model reads."""
        if not self.need.source_required:
            return None
        query, library = legible(self.query, self.passages, self.query_language), self._shelf.library
        found = find_plain(query, self.conversation, library, self.language)
        read = self.question_reading if found is None else None
        return found if read is None else find_open(query, self.conversation, library, read.open, self.language)

    @lazy
    def _picked(self) -> Ambiguity | None:
        """Several things of which the draft picks one although the question names none."""
        whole = Sentence(0, len(self.draft), 0, len(self.draft.raw))
        draft = Reading(self.draft, [whole], self.draft_language, frozenset()).statements[0]
        found = find_picked(self.query, self.conversation, draft, self.library)
        return found or find_plain(self.query, self.conversation, self.library, self.language, draft)

    @lazy
    def question_reading(self) -> QuestionReading | None:
        """What the model makes of a question of fact before there is a draft; None without a model."""
        if self.has_draft or self.embed is None or not self.need.source_required or not self.passages:
            return None
        query = legible(self.query, self.passages, self.query_language)
        return read_question(query, self.query_language, self._shelf.library)

    # the draft

    @lazy
    def draft_language(self) -> str:
        """The language the draft is written in, or what it claims where a courtesy is in another; of code, that of its comments."""
        found = identify(self.draft)
        if found == self.language:
            return found
        if found == "unknown" and self.draft.code:
            return identify(Text("\n".join(self.draft.raw[a:b] for a, b in self.markup.apart)))
        claimed = "\n".join(self.draft.slice(claim.first, claim.last) for claim in self.factual_claims)
        return self.language if identify(Text(claimed)) == self.language else found

    @lazy
    def markers(self) -> list[Marker]:
        """The citation markers of the draft."""
        return find_markers(self.draft, self.passages, len(self.request.retrieved_context))

    @lazy
    def draft_sentences(self) -> list[Sentence]:
        """The sentences of the draft; what stands apart in its markup is one of its own."""
        edges = ((at, at) for at in self.markup.breaks)
        return split(self.draft, [m.span for m in self.markers], [*self.markup.apart, *self._directions, *edges])

    @lazy
    def _directions(self) -> list[tuple[int, int]]:
        """What in the draft only tells how it is to be said, in brackets, as its characters."""
        if self.embed is None or self._is_unaccented:
            return []
        taken = [*(m.span for m in self.markers), *self.markup.hidden, *self.markup.apart]
        found = find_directions(self.embed, self.draft, self._matter)
        return [(start, end) for start, end in found if not any(a < end and start < b for a, b in taken)]

    @lazy
    def markup(self) -> Markup:
        """What of the draft is markup."""
        return read_markup(self.draft)

    @lazy
    def draft_conduct(self) -> Conduct:
        """What the classifiers suspect of the draft; manners, or a bare yes, sell nothing, feel nothing and take no side."""
        found = self._without_lead_ins(self._judge_conduct(self.draft_sentences))
        if found.of("given"):
            found = found.outside([c.span for c in self.claims if c.kind == "courtesy"], DANGER)
        if not any(found.of(name) for name in MANNERLY):
            return found
        return found.outside([c.span for c in self.claims if c.assent or c.kind in MANNERS], MANNERLY)

    def _judge_conduct(self, sentences: Sequence[Sentence]) -> Conduct:
        return judge_draft(self.draft, sentences, self.draft_language, self.embed, self._conduct_scores)

    @shared
    def _conduct_scores(self) -> Scored:
        """What the classifiers said of the sentences of this draft and of those it was repaired from."""
        return {}

    def _without_lead_ins(self, found: Conduct) -> Conduct:
        """The same without what is taken for a danger only as long as it is led in to."""
        suspected = _starts_of_dangers(found)
        led = [claim for claim in self.factual_claims if self._is_led_in_to(claim, suspected)] if suspected else []
        if not led:
            return found
        cores = [self._core(claim) for claim in led]
        dangers = _starts_of_dangers(self._judge_conduct(cores))
        spans = [claim.span for claim, core in zip(led, cores, strict=True) if core.start not in dangers]
        return found.outside(spans, DANGER)

    def _is_led_in_to(self, claim: Claim, suspected: set[int]) -> bool:
        """Whether a claim stands in a suspected sentence behind words that lead in to it."""
        return claim.start in suspected and self.draft.starts[claim.first] > claim.start

    def _core(self, claim: Claim) -> Sentence:
        """What a claim says, without what leads in to it."""
        starts, ends = self.draft.starts, self.draft.ends
        return Sentence(claim.first, claim.last, starts[claim.first], ends[claim.last - 1])

    @lazy
    def claims(self) -> list[Claim]:
        """Every sentence of the draft as a claim, factual or not."""
        headings = [Text(f"{p.given.title or ''} \n {p.source_id} \n {p.given.url or ''}") for p in self.passages]
        known = known_from(self.library.index.keys(), headings, self._talks)
        settled = self._beginning.claims[: self._settled] if self._beginning else []
        found = find_claims(self.draft, self.draft_sentences, self.markers, self.hidden, self.asked, known, settled)
        return [replace(c, kind="computed") if self._is_computed(c) else c for c in found]

    @property
    def _talks(self) -> Callable[[str, bool], bool] | None:
        """Who tells talk from statements; nobody without an embedding model, or where it cannot read the draft."""
        return None if self.embed is None or self._is_unaccented else partial(only_talks, self.embed)

    @lazy
    def _is_unaccented(self) -> bool:
        """Whether the draft leaves out the accents of its language, so that the embedding model cannot read it."""
        return has(identify(self.draft), "accents") and not self.draft.accented

    def is_remark(self, claim: Claim) -> bool:
        """Whether a claim is a sentence beside the matter, likely talk, that the answer can do without."""
        sentence = self.draft_sentences[claim.index]
        if names_an_element(self.draft, sentence.start, sentence.end, self._matter):
            return True
        if NAMES_A_VALUE in self.draft.raw[sentence.start : sentence.end]:  # JSON without it is none
            return False
        if self._may_answer(claim, sentence.first, sentence.last) or self.embed is None:
            return False
        if denies_what_follows(self.draft.lowers[sentence.first : sentence.last]):
            return False
        spans = {(sentence.first, sentence.last), (claim.first, claim.last)}
        return all(is_remark(self.embed, self.draft, first, last, self._matter) for first, last in spans)

    def behind_remark(self, claim: Claim) -> int | None:
        """Where a claim goes on behind a leading clause that the answer can do without, as a character of the draft."""
        if self._may_answer(claim, claim.first, claim.last) or self.embed is None:
            return None
        behind = behind_remark(self.embed, self.draft, claim.first, claim.last, self._matter)
        return None if behind is None else self.draft.starts[behind]

    def run_on_talk(self, claim: Claim) -> int | None:
        """Where a claim ends before talk that runs on without a stop, as a character of the draft."""
        if self._may_answer(claim, claim.first, claim.last) or self.embed is None:
            return None
        start = run_on_talk(self.embed, self.draft, claim.first, self._end_of_words(claim), self._matter)
        return None if start is None else self.draft.ends[start - 1]

    def _end_of_words(self, claim: Claim) -> int:
        """Where a claim ends without the marks and citations behind it."""
        last = claim.last
        while last > claim.first + 1 and last - 1 in self.hidden:
            last -= 1
        return last

    def manners(self, token: int) -> Claim | None:
        """The sentence of a token, if it only minds its manners and something that is supported stands beside it."""
        own = self._claim_at(token)
        if own is None or self.embed is None or self._may_answer(own, own.first, own.last):
            return None
        if own.factual and not self.is_remark(own):
            return None
        if not any(judged.supported for judged in self.judgements):
            return None
        sentence = self.draft_sentences[own.index]
        return own if is_manners(self.embed, self.draft, sentence.first, sentence.last, self._matter) else None

    def _claim_at(self, token: int) -> Claim | None:
        """The claim in whose sentence a token stands."""
        pairs = zip(self.claims, self.draft_sentences, strict=True)
        return next((claim for claim, s in pairs if s.first <= token < s.last), None)

    def _may_answer(self, claim: Claim, first: int, last: int) -> bool:
        """Whether a claim cites, or may say yes or no to the question, or cannot be read by the classifier: it is no remark then."""
        if self.embed is None or self._is_unaccented or claim.markers or claim.assent:
            return True
        return self.asked.yes_or_no and may_assent(self.draft, first, last)

    @lazy
    def _matter(self) -> frozenset[str]:
        """What question and sources speak of."""
        return frozenset((*self.library.index.keys(), *self.asked.stems))

    def _is_computed(self, claim: Claim) -> bool:
        """Whether a claim gives the result of the sum that is asked, worked out here: it needs no source then."""
        if self.need.kind != "arithmetic" or not claim.factual or claim.markers:
            return False
        asked = (sum_of(self.query, s.first, s.last, code=self.language) for s in split(self.query, ()))
        results = [value for value in asked if value is not None]
        return len(results) == 1 and gives(self.draft, claim.first, claim.last, results[0], code=self.language)

    @shared
    def asked(self) -> Asked:
        """What the question is about."""
        kind = self.need.kind
        wants_opinion = kind == "philosophy" or (kind == "facts" and asks_for_opinion(self.query))
        return asked_by(self.query, "opinion" if wants_opinion else kind)

    @lazy
    def factual_claims(self) -> list[Claim]:
        """The claims that a source could support or contradict."""
        return [claim for claim in self.claims if claim.factual]

    @property
    def gives_no_answer(self) -> bool:
        """Whether the draft only refuses or asks back, with whatever courtesy."""
        kinds = {claim.kind for claim in self.claims}
        return not kinds.isdisjoint(DECLINING) and kinds <= DECLINING | BESIDE_DECLINING

    @property
    def only_talks(self) -> bool:
        """Whether the draft says something to an idle question that nobody can check: it may go out, and is not verified."""
        return any(claim.kind == "talk" for claim in self.claims)

    @lazy
    def known_names(self) -> frozenset[str]:
        """Words that stand capitalised inside a sentence anywhere in the request."""
        return self._sources.names | capitalised_words([self.draft])

    @lazy
    def grounding_task(self) -> GroundingTask:
        """What the grounder is asked."""
        return GroundingTask(self.draft_reading, self.factual_claims, self.library, self.query, self.conversation)

    @lazy
    def judgements(self) -> list[Judgement]:
        """For each factual claim, in order, what the grounder says."""
        found = self.checked(self.grounder.judge([self.grounding_task])[0])
        return [self._without_its_lead(c, j) for c, j in zip(self.factual_claims, found, strict=True)]

    def _without_its_lead(self, claim: Claim, judged: Judgement) -> Judgement:
        """The judgement of a claim, or of what it says without what stands beside it, where that is worse: that makes nothing true.

        'There is no room for doubt: pens are allowed' denies something, and not what the source denies.
        """
        if not judged.supported:
            return judged
        if self._is_denied(claim):
            denied = round(1 - judged.score, 4)
            return replace(
                judged, status="contradicted", score=denied, quote=None, unsupported=(claim.span,), detail=DENIED
            )
        behind = behind_foreign_lead(self.draft, claim.first, claim.last, self._matter)
        if behind is not None:
            alone = self._judged_alone(behind, claim.last)
            worst = min(alone, key=lambda own: (own.supported, own.status != "contradicted"), default=judged)
            return judged if worst.supported else replace(worst, quote=None, unsupported=(claim.span,))
        core = beside_denial(self.draft, claim.first, claim.last, self.hidden, self._is_of_the_matter)
        turned = (own for own in self._judged_alone(*core) if own.in_order and own.objection) if core else iter(())
        return next(
            (replace(own, quote=None, unsupported=(claim.span,)) for own in turned if not own.supported), judged
        )

    def _is_denied(self, claim: Claim) -> bool:
        """Whether what stands before a colon or dash says that what follows does not hold; to a question it may be the answer."""
        first = self.draft_sentences[claim.index].first
        mark = next((i for i in range(first, claim.last) if self.draft.words[i].text in LEAD_MARKS), first)
        return not self.asked.yes_or_no and mark > first and denies_what_follows(self.draft.lowers[first:mark])

    def _judged_alone(self, first: int, last: int) -> list[Judgement]:
        """The judgements of some tokens of the draft as a draft of their own."""
        return self.with_draft(f"{self.draft.slice(first, last).rstrip(' .')}.").judgements

    def _is_of_the_matter(self, token: int) -> bool:
        """Whether a word of the draft, or one that means the same, stands in question or sources."""
        meant = self.draft_reading.concepts[token]
        return self.draft.words[token].stem in self._matter or any(c in self.library.meanings for c in meant)

    def checked(self, judgements: list[Judgement]) -> list[Judgement]:
        """The judgements of a grounder, if they are that: one for each claim, each with a probability as its score."""
        if not _are_judgements(judgements) or len(judgements) != len(self.factual_claims):
            raise BackendError(f"{self.grounder.id} did not judge each of {len(self.factual_claims)} claims once")
        unsound = next((j for j in judgements if not _is_sound(j)), None)
        if unsound is not None:
            raise BackendError(
                f"{self.grounder.id} judged a claim {shown(unsound.status)} with the score {shown(unsound.score)}: "
                f"a judgement is {', '.join(STATUSES)}, with a score from 0 to 1"
            )
        return judgements

    @lazy
    def judged(self) -> list[tuple[Claim, Judgement]]:
        """Each factual claim with its judgement."""
        return list(zip(self.factual_claims, self.judgements, strict=True))

    @lazy
    def hidden(self) -> frozenset[int]:
        """The tokens of the draft that are markup, citation markers, web addresses or hedges in brackets: no part of what it says."""
        spans = [*(m.unread for m in self.markers), *self.draft.urls, *self.markup.hidden]
        starts = self.draft.starts
        tokens = (i for a, b in spans for i in range(self.draft.token_at(a), bisect_left(starts, b)) if starts[i] >= a)
        layout = (i for i, word in enumerate(self.draft.words) if word.text in LAYOUT)
        hedged = (i for first, last in self.hedges for i in range(first, last))
        return frozenset((*tokens, *layout, *hedged))

    @lazy
    def hedges(self) -> list[tuple[int, int]]:
        """The token ranges of the draft that say in brackets how sure it is of a statement."""
        return find_hedges(self.draft)

    @lazy
    def draft_reading(self) -> Reading:
        """The draft read for alignment: of each sentence what it says, without what leads in to it."""
        said = [self._core(claim) for claim in self.claims]
        settled = self._settled_statements(said)
        if self.earlier is not None:
            self.earlier.keep(self)
        return Reading(self.draft, said, self.draft_language, self.known_names, self.hidden, settled)

    def _settled_statements(self, said: Sequence[Sentence]) -> list[Statement]:
        """The statements of the beginning that read the same: names and language are as they were."""
        before = self._beginning.draft_reading if self._beginning else None
        if before is None or (before.language, before.known_names) != (self.draft_language, self.known_names):
            return []
        pairs = zip(before.statements[: self._settled], said, strict=False)
        return [statement for statement, _ in takewhile(lambda pair: pair[0].sentence == pair[1], pairs)]

    @lazy
    def _beginning(self) -> Evidence | None:
        """The longest beginning of the draft that was read before."""
        return self.earlier.beginning_of(self.draft.raw) if self.earlier is not None else None

    @lazy
    def _settled(self) -> int:
        """How many sentences of that beginning are read as they were: nothing that followed has changed their markup."""
        before = self._beginning
        if before is None:
            return 0
        pairs = zip(before.draft_sentences, self.draft_sentences, strict=False)
        count = max(0, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) - UNSETTLED)
        end = self.draft_sentences[count].start
        return count if before._marks(end) == self._marks(end) else 0

    def _marks(self, end: int) -> tuple[object, ...]:
        """What is no plain text of the draft before a character."""
        last = self.draft.token_at(end)
        spans = (m.span for m in self.markers), iter(self.draft.code), iter(self.markup.apart)
        return {i for i in self.hidden if i < last}, *([s for s in each if s[0] < end] for each in spans)

    @lazy
    def claim_quantities(self) -> list[Quantity]:
        """The figures of the factual claims."""
        statements = self.draft_reading.statements
        return [q for claim in self.factual_claims for q in statements[claim.index].quantities]

    @lazy
    def claim_names(self) -> list[Name]:
        """The names in the factual claims; a currency behind its amount is none."""
        statements = self.draft_reading.statements
        found = [name for claim in self.factual_claims for name in statements[claim.index].names]
        figures = [(q.first, q.last) for q in self.claim_quantities]
        return [name for name in found if not within(figures, name.first)]

    @lazy
    def references(self) -> list[Reference]:
        """Addresses, DOIs and author-year references of the draft."""
        return find_references(self.draft, self.query, self.passages)

    # the sources

    @property
    def library(self) -> Library:
        """The passages, read and indexed."""
        return self._shelf.library

    @lazy
    def _shelf(self) -> _Shelf:
        return self._sources.known_by(self.known_names)

    @shared
    def _sources(self) -> _Sources:
        return _Sources(self.query, self.conversation, self.passages)

    @property
    def source_readings(self) -> list[Reading]:
        """Each passage and each heading, read; those that the draft cites come first."""
        return self._by_use

    def states(self, quantity: Quantity) -> bool:
        """Whether a passage, a title or a timestamp states a figure; where it is written with the same digits is asked first."""
        checkpoint()
        index, places = self.library.index, self.library.places
        written = {word.stem for word in self.draft.content(quantity.first, quantity.last)}
        likely = (places[place][1] for stem in sorted(written) for place in index.get(stem, ()))
        others = (statement for reading in self._by_use for statement in reading.statements)
        return any(agrees(quantity, q) for statement in chain(likely, others) for q in statement.quantities)

    @lazy
    def _by_use(self) -> list[Reading]:
        cited = dict.fromkeys(i for marker in self.markers for i in marker.passages)
        order = [*cited, *(i for i in range(len(self.passages)) if i not in cited)]
        return [reading for i in order for reading in (self.library.readings[i], self.library.headings[i])]

    # the sources among themselves

    @property
    def conflicts(self) -> list[PassageConflict]:
        """Where two sources disagree."""
        return self._shelf.conflicts

    @lazy
    def relevant_conflicts(self) -> list[PassageConflict]:
        """The disagreements that concern the question or a claim of the draft."""
        if not self.conflicts:
            return []
        texts = [self.query.words, *(self.draft.words[c.first : c.last] for c in self.factual_claims)]
        stems = {w.stem for words in texts for w in words if w.content and not w.number}
        return [c for c in self.conflicts if not stems.isdisjoint(w.stem for w in Text(c.about).words)]


def _starts_of_dangers(conduct: Conduct) -> set[int]:
    """Where the sentences begin that a classifier takes for a danger."""
    return {suspicion.sentence.start for suspicion in conduct.of("given")}


class EarlierDrafts:
    """The last readings of a draft that grows, repaired ones among them: what they hold of its beginning is not read again."""

    def __init__(self) -> None:
        self._kept: deque[Evidence] = deque(maxlen=4)

    def keep(self, evidence: Evidence) -> None:
        """Take in a draft that was read."""
        self._kept.append(evidence)

    def beginning_of(self, draft: str) -> Evidence | None:
        """The longest one that the draft goes on from."""
        found = [e for e in self._kept if len(e.draft.raw) < len(draft) and draft.startswith(e.draft.raw)]
        return max(found, key=lambda e: len(e.draft.raw), default=None)


class _Shelf:
    """The passages as they are read once it is known which words are names."""

    def __init__(self, sources: _Sources, known_names: frozenset[str]) -> None:
        self._query, self._conversation = sources.query, sources.conversation
        self.library = Library(sources.passages, known_names)

    @lazy
    def ambiguity(self) -> Ambiguity | None:
        return find_ambiguity(self._query, self._conversation, self.library)

    @lazy
    def conflicts(self) -> list[PassageConflict]:
        return find_conflicts(self.library, self._query)


class _Sources:
    """Question, conversation and passages; the drafts of a request that have the same names in common with the passages share a reading."""

    def __init__(self, query: Text, conversation: Sequence[Text], passages: Sequence[Passage]) -> None:
        self.query, self.conversation, self.passages = query, conversation, passages
        self._shelves: dict[frozenset[str], _Shelf] = {}

    @lazy
    def names(self) -> frozenset[str]:
        return capitalised_words([self.query, *self.conversation]).union(
            *(p.content.capitalised for p in self.passages)
        )

    def known_by(self, known_names: frozenset[str]) -> _Shelf:
        """The passages read under these names; a name of the draft that no passage has changes nothing."""
        added = frozenset(n for n in known_names - self.names if any(n in p.content.vocabulary for p in self.passages))
        if added not in self._shelves:
            self._shelves[added] = _Shelf(self, self.names | added)
        return self._shelves[added]


def _numbered(number: int, passage: str | RetrievedPassage) -> RetrievedPassage:
    """A passage; a plain text is known by its number."""
    if isinstance(passage, RetrievedPassage):
        return passage
    return RetrievedPassage(source_id=str(number), text=passage)


def _are_judgements(given: object) -> bool:
    """Whether a grounder gave what a grounder gives."""
    return isinstance(given, list) and all(isinstance(each, Judgement) for each in given)


def _is_sound(judged: Judgement) -> bool:
    """Whether it is one of the judgements there are, and its score a probability, which what is no number is not."""
    is_number = isinstance(judged.score, Real) and not isinstance(judged.score, bool)
    return judged.status in STATUSES and is_number and bool(0 <= judged.score <= 1)
