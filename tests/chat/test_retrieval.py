"""Retrieval finds what answers a question in both languages, follows a conversation, and remembers what was said."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from stillme.chat.retrieval import Retriever, fused, owned, query_words, read_query
from stillme.contract import RetrievedPassage, Turn
from stillme.errors import InputError
from stillme.grounding.passage import Passage
from stillme.grounding.similarity import similarities
from stillme.models.embedding import embed
from stillme.storage.knowledge.base import KnowledgeStore
from stillme.storage.knowledge.engines import store_at
from stillme.storage.knowledge.store import Chunk, Context, Document
from stillme.text.tokens import Text

TEXTS = {
    "ferry": "The ferry to Larkmoor leaves at 8:15 every morning. A ticket for the ferry costs 12 euros for adults.",
    "museum": "The Penswick museum is closed on Mondays. Admission to the museum is 9 euros, free for students.",
    "returns": "Unused gear can be sent back within 30 days of delivery. The refund is paid within a week.",
    "plants": "Photosynthesis turns sunlight, water and carbon dioxide into sugar and oxygen in the leaves of plants.",
    "tau": "Đường sắt Bắc Nam dài 1.726 km, nối Hà Nội với Thành phố Hồ Chí Minh. Vé tàu giường nằm giá 1.200.000 đồng.",
    "the": "Phí thường niên của thẻ tín dụng Sao Mai là 299.000 đồng. Hạn mức của thẻ là 50 triệu đồng.",
    "thuvien": "Thư viện Tân Hạ mở cửa từ 7 giờ 30 đến 20 giờ các ngày trong tuần và đóng cửa vào Chủ nhật.",
}


def put(store: KnowledgeStore, name: str, text: str, **fields: Any) -> None:
    """Keep a text as a document of one chunk."""
    chunk = Chunk(f"{name}#0", name, 0, text, 0, len(text), **fields)
    store.put("knowledge", Document(name, text, "1"), [chunk], embed([text], "passage"))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    """A retriever over a few texts in both languages."""
    store = store_at(tmp_path_factory.mktemp("shop") / "knowledge.db")
    for name, text in TEXTS.items():
        put(store, name, text, title=name.title())
    return Retriever(store)


def names(context: Context) -> list[str]:
    """The documents that the knowledge of a context is from."""
    return [found.chunk.document for found in context.knowledge_docs]


def turns(*said: str) -> list[Turn]:
    """What the user said, each with an answer."""
    return [turn for text in said for turn in (Turn(role="user", content=text), Turn(role="assistant", content="Yes."))]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("How much is a ferry ticket?", "ferry", id="words of the text"),
        pytest.param("Can I return shoes I have not worn?", "returns", id="other words than the text has"),
        pytest.param("Đường sắt Bắc Nam dài bao nhiêu?", "tau", id="Vietnamese"),
        pytest.param("duong sat bac nam dai bao nhieu", "tau", id="Vietnamese without accents"),
        pytest.param("phi thuong nien cua the tin dung la bao nhieu?", "the", id="more of it"),
        pytest.param("When does the Tân Hạ library open?", "thuvien", id="English about a Vietnamese text"),
        pytest.param("Quang hợp ở lá cây tạo ra chất gì?", "plants", id="Vietnamese about an English text"),
    ],
)
def test_the_text_that_answers_is_found_first(shop: Retriever, question: str, expected: str) -> None:
    """By word or by meaning, in one language or across both."""
    assert names(shop.retrieve_context(question))[0] == expected


def test_a_context_is_ranked_and_on_the_scale_of_the_policy(shop: Retriever) -> None:
    """Ranks fall; what answers is above the thresholds, what has nothing to do with it far below; passages carry the same figures."""
    context = shop.retrieve_context("How much is a ferry ticket for adults?", most=3)
    ranks = [found.rank for found in context.knowledge_docs]
    figures = [found.similarity for found in context.knowledge_docs]

    assert len(ranks) == context.total_context_docs == 3
    assert ranks == sorted(ranks, reverse=True)
    assert figures[0] >= 0.7
    assert max(figures[1:]) < 0.45
    assert [(p.source_id, p.model_extra, p.text, p.title, p.similarity) for p in context.passages] == [
        (f.chunk.document, {"chunk_id": f.chunk.id}, f.chunk.text, f.chunk.title, f.similarity)
        for f in context.knowledge_docs
    ]


def test_a_question_about_nothing_known_stays_below_the_thresholds(shop: Retriever) -> None:
    """Something is always nearest; that it does not answer shows in its similarity."""
    found = shop.retrieve_context("Who won the world chess championship in 1972?").knowledge_docs

    assert max(one.similarity for one in found) < 0.45


@pytest.mark.parametrize(
    ("question", "text"),
    [
        pytest.param(
            "When do cats sleep?", "Felines sleep for most of the day and hunt at dusk.", id="cats are felines"
        ),
        pytest.param("How long do puppies need to walk?", "Dogs need a walk every morning.", id="puppies are dogs"),
        pytest.param("Mèo ngủ khi nào?", "Felines sleep for most of the day and hunt at dusk.", id="and a cat a mèo"),
    ],
)
def test_meaning_brings_a_passage_over_the_threshold_where_words_differ(
    tmp_path: Path, question: str, text: str
) -> None:
    """Also beside a passage in the other language that is clear by its words."""
    store = store_at(tmp_path / "k.db")
    put(store, "asked for", text)
    put(store, "clear", "Loài mèo ngủ gần như cả ngày và đi săn lúc chạng vạng.")
    put(store, "other", "A bicycle has two wheels and a chain.")

    found = {f.chunk.text: f.similarity for f in Retriever(store).retrieve_context(question).knowledge_docs}
    alone = similarities(Text(question), [Passage(1, RetrievedPassage(source_id="s", text=text))], "en")[0]

    assert found[text] >= 0.45
    assert found[text] > alone
    assert found.get("A bicycle has two wheels and a chain.", 0.0) < 0.2


def test_the_same_question_has_the_same_context(shop: Retriever) -> None:
    """To the last figure."""
    assert shop.retrieve_context("Vé tàu giá bao nhiêu?") == shop.retrieve_context("Vé tàu giá bao nhiêu?")


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        pytest.param(["When does the ferry leave?"], "And how much is it?", "ferry", id="a pronoun"),
        pytest.param(["When is the museum closed?"], "what about students?", "museum", id="what about"),
        pytest.param(
            ["Is the museum open today?", "and on Mondays?"], "how much is it?", "museum", id="two turns back"
        ),
        pytest.param(["Thẻ Sao Mai có hạn mức bao nhiêu?"], "Còn phí thì sao?", "the", id="còn … thì sao"),
        pytest.param(["Tàu Bắc Nam đi từ đâu?"], "Nó dài bao nhiêu?", "tau", id="nó"),
        pytest.param(["the sao mai co han muc bao nhieu"], "con phi thi sao?", "the", id="without accents"),
        pytest.param(["Tell me about the museum."], "How much is admission?", "museum", id="a short question"),
    ],
)
def test_a_follow_up_is_found_by_what_came_before(
    shop: Retriever, before: list[str], question: str, expected: str
) -> None:
    """A question that leans on the turns before it is searched for together with them."""
    assert names(shop.retrieve_context(question, conversation=turns(*before)))[0] == expected


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("How long do I have to return unused gear?", id="English"),
        pytest.param("Đường sắt Bắc Nam dài bao nhiêu ki-lô-mét?", id="Vietnamese"),
    ],
)
def test_a_question_that_stands_by_itself_is_not_disturbed(shop: Retriever, question: str) -> None:
    """What was said before on something else changes nothing, not even a figure."""
    before = turns("When does the ferry to Larkmoor leave?", "And what does the ferry cost?")

    assert shop.retrieve_context(question, conversation=before) == shop.retrieve_context(question)


def test_a_short_question_on_something_else_is_still_found_first(shop: Retriever) -> None:
    """Two words may lean on what came before, and need not: the question itself counts more, and its figure is its own."""
    alone = shop.retrieve_context("What is photosynthesis?")
    within = shop.retrieve_context("What is photosynthesis?", conversation=turns("When does the ferry leave?"))

    assert names(within)[0] == names(alone)[0] == "plants"
    assert within.knowledge_docs[0].similarity == alone.knowledge_docs[0].similarity


def test_what_is_taken_from_a_conversation_is_bounded() -> None:
    """A few turns of the user and so many characters, however long it is; what the assistant said is not searched for."""
    long = [Turn(role="user", content="and it? " + "word " * 100_000)] * 50 + turns("and it?")

    queries = read_query("and how much is it?", long)

    assert len(queries) == 2
    assert len(queries[1].text.raw) < 700
    assert "Yes" not in queries[1].text.raw


@pytest.mark.parametrize(
    ("question", "words"),
    [
        pytest.param("How much is the ferry ticket?", ["ferry", "ticket"], id="content words"),
        pytest.param("Đường sắt là gì?", ["Đường", "sắt", "Đường sắt"], id="with pairs in Vietnamese"),
        pytest.param("???", [], id="nothing to read"),
    ],
)
def test_the_words_searched_for(question: str, words: list[str]) -> None:
    """Those that carry content."""
    assert [word for query in read_query(question) for word in query_words(query)] == words


def test_votes_are_summed_and_ties_go_by_id() -> None:
    """A place in a list counts less the lower it is, and half in a list that counts half."""
    votes = fused([(1.0, ["b", "a"]), (1.0, ["a", "b"]), (0.5, ["c"])])

    assert list(votes) == ["a", "b", "c"]
    assert votes["a"] == votes["b"] == 1 / 11 + 1 / 12
    assert votes["c"] == 0.5 / 11


@pytest.mark.parametrize("query", ["", "  \n "])
def test_a_blank_question_is_refused(shop: Retriever, query: str) -> None:
    """There is nothing to look for."""
    with pytest.raises(InputError, match="query must say something"):
        shop.retrieve_context(query)


@pytest.mark.parametrize("query", ["???", "😀", "\u200b.", '" OR NEAR(', "a" * 20_000, "từ " * 5_000])
def test_an_odd_question_has_a_context_or_none(shop: Retriever, query: str) -> None:
    """Nothing a user types is an error."""
    assert len(shop.retrieve_context(query).knowledge_docs) <= 5


def test_copies_do_not_fill_the_list(tmp_path: Path) -> None:
    """A text that stands in many files, in any case and punctuation, is given once; one that differs in a figure is given too."""
    store = store_at(tmp_path / "k.db")
    for n in range(6):
        put(store, f"copy{n}", "The fee for a locker is 5 euros a day." + "!" * n)
    put(store, "other", "The fee for a locker is 7 euros a day.")
    put(store, "third", "Lockers stand beside the main entrance.")

    found = sorted(names(Retriever(store).retrieve_context("What is the fee for a locker?")))

    assert [name.rstrip("012345") for name in found] == ["copy", "other", "third"]
    store.close()


def test_overlapping_pieces_are_given_once(tmp_path: Path) -> None:
    """Of two pieces of one document that share most of their text the better one is given."""
    store = store_at(tmp_path / "k.db")
    text = "The pool opens at six. The pool has eight lanes. The sauna costs 4 euros. The sauna is mixed."
    places = [(0, 73), (23, 93), (49, 93)]
    chunks = [Chunk(f"p#{n}", "p", n, text[a:b], a, b) for n, (a, b) in enumerate(places)]
    store.put("knowledge", Document("p", text, "1"), chunks, embed([c.text for c in chunks], "passage"))

    found = [one.chunk for one in Retriever(store).retrieve_context("What does the sauna cost?").knowledge_docs]

    assert all(2 * (min(a.end, b.end) - max(a.start, b.start)) <= 44 for a in found for b in found if a.id < b.id)
    assert len(found) < 3
    store.close()


def test_both_engines_give_the_same_context(store: KnowledgeStore, shop: Retriever) -> None:
    """Documents, figures and ranks."""
    for name, text in TEXTS.items():
        put(store, name, text, title=name.title())

    for question in ("How much is a ferry ticket?", "phi thuong nien the tin dung", "Thư viện mở cửa lúc nào?"):
        assert Retriever(store).retrieve_context(question) == shop.retrieve_context(question)


# what was said


def test_what_was_said_is_found_in_its_session(store: KnowledgeStore) -> None:
    """A turn that touches on the question is given as conversation, never as knowledge, and to nobody else."""
    retriever = Retriever(store)
    retriever.remember("s1", "My locker has the number 47, where is it?", "Locker 47 is beside the entrance.")
    retriever.remember("s1", "Tôi thích cà phê.", "Cảm ơn bạn.")

    mine = retriever.retrieve_context("Which number does my locker have?", session="s1")
    others = retriever.retrieve_context("Which number does my locker have?", session="s2")

    assert [found.chunk.id for found in mine.conversation_docs] == ["s1/1"]
    assert mine.conversation_docs[0].similarity > 0.45
    assert mine.knowledge_docs == ()
    assert mine.passages == []
    assert others == Context()


def test_the_oldest_turns_are_forgotten(store: KnowledgeStore) -> None:
    """A session keeps so many turns, and numbers go on."""
    retriever = Retriever(store, most_turns=3)
    for n in range(12):
        retriever.remember("s", f"question {n}", "answer")
    retriever.remember("t", "another", "session")

    assert sorted(store.digests("conversation", owned("s", ""))) == [f"{owned('s', '')}/{n}" for n in (10, 11, 12)]
    assert retriever.forget("s") == 3
    assert retriever.forget("s") == 0
    assert list(store.digests("conversation", owned("t", ""))) == [f"{owned('t', '')}/1"]


def test_a_session_is_its_owner_s(store: KnowledgeStore) -> None:
    """Whoever knows the name of another's session neither reads nor continues nor forgets it."""
    retriever = Retriever(store)
    retriever.remember("s", "My locker has the number 47.", "Noted.", owner="lan")
    retriever.remember("s", "Tủ của tôi có số 12.", "Đã ghi.", owner="minh")

    def said(owner: str, session: str = "s") -> list[str]:
        context = retriever.retrieve_context("Which number does my locker have?", session=session, owner=owner)
        return [found.chunk.text for found in context.conversation_docs]

    assert said("lan") == ["My locker has the number 47.\nNoted."]
    assert said("") == said("hoa") == said("", owned("s", "lan")) == []
    assert not any("47" in text for text in said("minh"))
    assert (retriever.forget("s", owner="hoa"), retriever.forget("s"), retriever.forget("s", owner="minh")) == (0, 0, 1)
    assert said("lan") == ["My locker has the number 47.\nNoted."]


def test_turns_that_are_said_at_once_are_all_kept(store: KnowledgeStore) -> None:
    """Two requests of one session do not take each other's place."""
    retriever = Retriever(store)
    threads = [threading.Thread(target=retriever.remember, args=("s", f"question {n}", "a")) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = store.chunks("conversation", list(store.digests("conversation", owned("s", ""))))

    assert {chunk.text for chunk in kept} == {f"question {n}\na" for n in range(6)}


def test_a_turn_is_kept_up_to_a_length_and_without_what_no_store_takes(store: KnowledgeStore) -> None:
    """A model may write anything."""
    Retriever(store).remember("s", "a\0b\ud800c", "x " * 9_000)

    (kept,) = store.chunks("conversation", [f"{owned('s', '')}/1"])
    assert kept.text.startswith("a b c\nx x")
    assert len(kept.text) == 4000


@pytest.mark.parametrize(("session", "question"), [("", "a question"), ("s", "?"), ("x" * 300, "a question")])
def test_a_turn_without_session_or_words_is_refused(shop: Retriever, session: str, question: str) -> None:
    """And so is a session whose name is a text of its own."""
    with pytest.raises(InputError, match="session"):
        shop.remember(session, question, "!")
