"""Finds what a question may be answered from: by meaning and by word, both fused, with a similarity the policy's thresholds understand.

Three lists vote for a chunk (reciprocal-rank fusion): the nearest vectors, the best full-text matches, and those of both that share most
of the question's content. Of the chunks with the most votes those come first that are close to the question by the figure the guard goes
by. `benchmarks/retrieval.py` compares the whole with vectors alone, words alone, and the two fused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from stillme.contract import RetrievedPassage, Turn
from stillme.errors import InputError, shown
from stillme.grounding.passage import Passage
from stillme.grounding.similarity import Embed, query_terms, similarities
from stillme.languages import DEFAULT, compiled, has, is_served, load
from stillme.models.embedding import embed as own_embed
from stillme.storage.knowledge.base import KnowledgeStore
from stillme.storage.knowledge.store import Chunk, Collection, Context, Document, Found
from stillme.text.language import identify
from stillme.text.lexicon import Lexicon
from stillme.text.tokens import Text

__all__ = ["Query", "Retriever", "fused", "owned", "query_words", "read_query"]

# How fast a place in a list loses its worth; how long the lists are; how many chunks are read for the third vote.
RANK_OFFSET: Final = 10
SEARCHED: Final = 30
READ: Final = 20
MOST_WORDS: Final = 48
# A similarity that says that nothing is shared; one from which on a chunk comes before those that the votes put above it.
NOTHING: Final = 0.05
CLOSE: Final = 0.45
# What is searched by: the beginning of a longer question, and of the turns before it.
LONGEST_SEARCH: Final = 2000
LONGEST_EARLIER: Final = 600
TURNS_BACK: Final = 3
# A question of so few content words may mean what was spoken of before; it need not, so that the turns before count half.
FEW_WORDS: Final = 2
PERHAPS: Final = 0.5
# What was said before and is less similar than that has nothing to do with the question.
LEAST_SAID: Final = 0.1
LONGEST_TURN: Final = 4000
LONGEST_SESSION: Final = 256
# Between the owner of a session and its name; no session id that the service takes holds it.
OF: Final = "|"
SURROGATES: Final = re.compile("[\ud800-\udfff\0]")


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for: the words of the user, read, and how much the search counts."""

    text: Text
    language: str
    weight: float = 1.0
    is_leaning: bool = False
    """Whether it holds turns before the question, without which that says nothing."""


class Retriever:
    """Finds context for questions and keeps what was said. Safe to share between threads; the same store gives the same context."""

    def __init__(
        self,
        store: KnowledgeStore,
        embed: Embed | None = None,
        most_knowledge: int = 5,
        most_conversation: int = 3,
        most_turns: int = 50,
    ) -> None:
        self._store = store
        self._embed: Embed = embed or own_embed
        self._most_knowledge = most_knowledge
        self._most_conversation = most_conversation
        self._most_turns = most_turns

    def retrieve_context(
        self,
        query: str,
        *,
        conversation: Sequence[Turn] = (),
        session: str = "",
        owner: str = "",
        language: str = "auto",
        most: int | None = None,
    ) -> Context:
        """What the question may be answered from, best first; with a session, also what was said in it that touches on the question.

        A session is its owner's: under another owner the same name is another session.
        """
        if not query.strip():
            raise InputError("query must say something, got a blank text")
        queries = read_query(query, conversation, language)
        knowledge = self._search("knowledge", "", queries, self._most_knowledge if most is None else most)
        said: tuple[Found, ...] = ()
        if session:
            said = self._search("conversation", owned(session, owner), queries, self._most_conversation)
        return Context(knowledge, tuple(_unowned(found) for found in said if found.similarity >= LEAST_SAID))

    def remember(self, session: str, question: str, answer: str, *, owner: str = "") -> None:
        """Keep a turn of a session, up to 4,000 characters of it; of more turns than are kept the oldest are forgotten."""
        text = SURROGATES.sub(" ", f"{question.strip()}\n{answer.strip()}")[:LONGEST_TURN]
        if not session or Text(text).blank:
            raise InputError(f"a turn needs a session and words, got session={shown(session)}")
        session = owned(session, owner)
        vectors = self._embed([text], "passage")
        names = self._turns(session)
        number = names[-1][0] + 1 if names else 1
        while not self._put_turn(session, number, text, vectors):  # another process was faster
            number += 1
        surplus = [name for _, name in self._turns(session)[: -self._most_turns]]
        if surplus:
            self._store.remove("conversation", surplus, session)

    def forget(self, session: str, *, owner: str = "") -> int:
        """Forget what was said in a session; how many turns that were."""
        session = owned(session, owner)
        return self._store.remove("conversation", list(self._store.digests("conversation", session)), session)

    def _put_turn(self, session: str, number: int, text: str, vectors: object) -> bool:
        name = f"{session}/{number}"
        document = Document(name, text, digest=str(number))
        chunk = Chunk(id=name, document=name, number=0, text=text, start=0, end=len(text))
        return self._store.put("conversation", document, [chunk], vectors, session, replace=False)

    def _turns(self, session: str) -> list[tuple[int, str]]:
        """Number and name of the turns kept, oldest first."""
        return sorted(
            (int(digest), name)
            for name, digest in self._store.digests("conversation", session).items()
            if digest.isdecimal()
        )

    def _search(self, collection: Collection, session: str, queries: Sequence[Query], most: int) -> tuple[Found, ...]:
        if most < 1 or not queries:
            return ()
        depth = max(SEARCHED, most)
        lists = [(q.weight, ids) for q in queries for ids in self._id_lists(collection, session, q, depth) if ids]
        order = list(fused(lists))
        chunks = list(islice(_without_copies(self._store.chunks(collection, order)), max(READ, most)))
        read = {chunk.id: Passage(n, _as_passage(chunk)) for n, chunk in enumerate(chunks, 1)}
        for query in queries:
            if _is_legible(query):
                lists.append((query.weight, _by_content(query, read, order)))
        ranks = fused(lists)
        best = sorted(read, key=lambda key: (-ranks[key], key))[:most]
        figures = self._similarities(queries, [read[key] for key in best])
        held = {chunk.id: chunk for chunk in chunks}
        found = [
            Found(held[key], figure, round(ranks[key] + (figure >= CLOSE), 6))
            for key, figure in zip(best, figures, strict=True)
        ]
        return tuple(sorted(found, key=lambda one: (-one.rank, one.chunk.id)))

    def _id_lists(self, collection: Collection, session: str, query: Query, depth: int) -> Iterator[list[str]]:
        """Ids by meaning, and by word; the model cannot read Vietnamese without accents."""
        if _is_legible(query):
            vector = self._embed([query.text.raw[:LONGEST_SEARCH]], "query")[0]
            yield [key for key, _ in self._store.near(collection, vector, depth, session)]
        words = query_words(query)
        yield [key for key, _ in self._store.matching(collection, words, depth, session)] if words else []

    def _similarities(self, queries: Sequence[Query], passages: Sequence[Passage]) -> list[float]:
        """How close each is to the question, on the policy's scale, by shared words and by meaning; in the light of what came before only
        where the question says nothing without."""
        asked = [query for query in queries if query.is_leaning] or queries[:1]
        figures = [similarities(query.text, passages, query.language, self._embed, thorough=True) for query in asked]
        return [max(of_one) for of_one in zip(*figures, strict=True)]


def owned(session: str, owner: str) -> str:
    """The name that a store keeps a session of this owner under; who the owner is cannot be read from it."""
    if len(session) > LONGEST_SESSION:
        raise InputError(f"session has {len(session)} characters, more than {LONGEST_SESSION}: use a shorter one")
    return f"{hashlib.sha256(owner.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}{OF}{session}"


def _unowned(found: Found) -> Found:
    """A turn under the name that its owner knows."""
    chunk = found.chunk
    name, document = chunk.id.partition(OF)[2], chunk.document.partition(OF)[2]
    return replace(found, chunk=replace(chunk, id=name, document=document))


def read_query(query: str, conversation: Sequence[Turn] = (), language: str = "auto") -> list[Query]:
    """What to search for: the question, and, where it leans on the turns before it, the question with those.

    A question that stands by itself is searched for alone, whatever was said before. Nothing to read in it: nothing to search for.
    """
    text = Text(query)
    if text.blank:
        return []
    earlier = _earlier(conversation)
    told = _language(text, earlier, language)
    queries = [Query(text, told)]
    weight = _leaning(text, told) if earlier else 0.0
    if weight:
        before = "\n".join([*earlier, query])
        queries.append(Query(Text(before), told, weight, is_leaning=weight == 1.0))
    return queries


def query_words(query: Query) -> list[str]:
    """The content words of a query; where words are written syllable by syllable also every two that stand side by side."""
    text, terms = query.text, query_terms(query.text, query.language)
    words = [text.words[i].text for i in terms]
    if has(query.language, "syllables"):
        content = set(terms)
        words += [f"{text.words[i].text} {text.words[i + 1].text}" for i in terms if i + 1 in content]
    return list(dict.fromkeys(words))[:MOST_WORDS]


def fused(lists: Iterable[tuple[float, Sequence[str]]]) -> dict[str, float]:
    """Every id of the lists with the sum of its votes, best first; ties by id."""
    votes: dict[str, float] = {}
    for weight, ids in lists:
        for place, key in enumerate(ids, 1):
            votes[key] = votes.get(key, 0.0) + weight / (RANK_OFFSET + place)
    return dict(sorted(votes.items(), key=lambda item: (-item[1], item[0])))


def _by_content(query: Query, read: dict[str, Passage], order: Sequence[str]) -> list[str]:
    """Chunks that share the question's content, most first; where that is equal, as the searches had them."""
    places = {key: place for place, key in enumerate(order)}
    figures = dict(zip(read, similarities(query.text, list(read.values()), query.language), strict=True))
    return sorted((key for key in read if figures[key] > NOTHING), key=lambda key: (-figures[key], places[key]))


def _without_copies(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Chunks without those that say, word for word, what a better one says, or that overlap it for the greater part.

    Copies would fill the list, and ten copies of a text are no more evidence than one. Texts that differ in one word or figure stay:
    such a difference is what sources conflict about.
    """
    said: set[tuple[str, ...]] = set()
    kept: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        words = tuple(word.lower for word in Text(chunk.text).words if word.word or word.number)
        beside = kept.setdefault(chunk.document, [])
        if words in said or any(_overlap(chunk, other) for other in beside):
            continue
        said.add(words)
        beside.append(chunk)
        yield chunk


def _overlap(one: Chunk, other: Chunk) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    return 2 * shared > min(one.end - one.start, other.end - other.start)


def _as_passage(chunk: Chunk) -> RetrievedPassage:
    return RetrievedPassage(
        source_id=chunk.id, text=chunk.text, title=chunk.title, url=chunk.url, timestamp=chunk.timestamp
    )


def _is_legible(query: Query) -> bool:
    return query.text.accented or not has(query.language, "accents")


def _earlier(conversation: Sequence[Turn]) -> list[str]:
    """What the user said last, up to the turn that stands by itself: few turns and characters, oldest first."""
    found: list[str] = []
    left = LONGEST_EARLIER
    for turn in reversed(conversation):
        said = Text(turn.content.strip()[:left])
        if turn.role != "user" or said.blank:
            continue
        found.insert(0, said.raw)
        left -= len(said.raw)
        if len(found) == TURNS_BACK or left <= 0 or not _leans(said):
            break
    return found


def _leaning(text: Text, language: str) -> float:
    """How much the turns before a question count for it: wholly, perhaps, or not."""
    if _leans(text):
        return 1.0
    terms = query_terms(text, language)
    names = any(text.words[i].capital and i for i in terms)
    return PERHAPS if len(terms) <= FEW_WORDS and not names else 0.0


def _leans(text: Text) -> bool:
    return "leaning" in _lexicon().names(text)


def _language(text: Text, earlier: Sequence[str], stated: str) -> str:
    """The language the question is written in; where it is too short to tell, the one stated or spoken before."""
    candidates = (identify(text), stated, *(identify(Text(turn)) for turn in reversed(earlier)))
    return next(filter(is_served, candidates), DEFAULT)


@compiled
def _lexicon() -> Lexicon:
    return Lexicon(load("follow_up")["lists"])
