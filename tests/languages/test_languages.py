"""A language is a folder of files: a third one, Toki Pona with its handful of words, is added and verifies requests.

The steps are those of CONTRIBUTING.md, "Add a language", one function each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from stillme import Guard, Verdict
from stillme.evidence import Evidence
from stillme.figures.words import find_quantities
from stillme.languages import Language, has, language_of, languages, load, registered, word_set
from stillme.languages.grammar import NumberWords, SpeltNumber
from stillme.reasons import Reason
from stillme.text.language import identify
from stillme.text.tokens import Text

QUESTION = "tomo sona li jo e jan pi mute seme?"
PASSAGE = "tomo sona li lon ma tomo. tomo sona li jo e jan luka wan. jan ale li kama sona."


def write(folder: Path, name: str, rules: Mapping[str, Any]) -> None:
    """One rule file of the new language."""
    folder.joinpath(f"{name}.yaml").write_text(yaml.safe_dump(dict(rules), allow_unicode=True), encoding="utf-8")


def evidence_of_the_language(folder: Path) -> None:
    """Step 1: what the language is called, and what shows that a text is written in it."""
    rules = {
        "name": "Toki Pona",
        "decimal": ".",
        "called": ["toki pona"],
        "function": "li e pi seme ona sina lon tawa kepeken tan taso ala",
        "common": "tomo sona jan jo ma ale kama pona toki lipu",
    }
    write(folder, "language", rules)


def words_without_content(folder: Path) -> None:
    """Step 2: the little words that no comparison counts."""
    write(folder, "words", {"stop": "li e pi la seme ona sina mi ni lon tawa tan taso"})


def words_of_figures(folder: Path) -> None:
    """Step 3: its numerals and other words of figures."""
    write(folder, "numbers", {"numerals": "wan=1 tu=2 luka=5 mute=20 ale=100", "unit_words": {"day": "suno"}})


def added(tokens: Sequence[str], words: NumberWords, at: int, start: float | None) -> SpeltNumber | None:  # noqa: ARG001
    """Step 3, where the numbers are not put together as in English: here they are added up."""
    end = at
    while tokens[end] in words.numerals:
        end += 1
    return (sum(words.numerals[token] for token in tokens[at:end]), 0, 1.0, end) if end > at else None


def manners(folder: Path) -> None:
    """Step 4: greetings, hedges and other words around what is said."""
    write(folder, "claims", {"lists": {"opening": ["^ toki|o_toki (!|,|.)"], "refusal": ["mi sona ala"]}})
    write(folder, "hedges", {"likely": "ken la lon", "possible": "ken lili la lon"})


def wording(folder: Path) -> None:
    """Step 5: what a user reads; a reason for every code."""
    say = {reason.value: {"say": f"ike {reason.value}.", "help": "o pana e lipu sin."} for reason in Reason}
    rules = {
        "refusal": {"lead": "mi ken ala toki.", "because": "tan: {reasons}", "help": "o: {help}"},
        "clarify": dict.fromkeys(("options", "reference", "broad", "conflict"), "sina toki e seme?") | {"and": " anu "},
        "disclaimer": {"lead": "o lukin pona.", "soft": "o lukin.", "because": "{reasons}"},
        "reasons": {**say, "unknown": {"say": "ike {code}.", "help": "o alasa sin."}},
        "quoted": "{title}: “{quote}”",
    }
    write(folder, "wording", rules)


@pytest.fixture
def toki_pona(tmp_path: Path) -> Iterator[Language]:
    """The language, added as CONTRIBUTING.md says, and taken away again."""
    for step in (evidence_of_the_language, words_without_content, words_of_figures, manners, wording):
        step(tmp_path)
    with registered(Language("tok", tmp_path, added)) as language:
        yield language


def verify(draft: str, query: str = QUESTION) -> Verdict:
    """The verdict on a draft in enforce mode, with the exact features alone."""
    context = [{"source_id": "lipu", "text": PASSAGE, "similarity": 0.9}]
    guard = Guard({"mode": "enforce", "grounding": {"model": "none"}})
    return guard.verify({"query": query, "draft_answer": draft, "retrieved_context": context})


def test_a_text_in_the_new_language_is_told_from_the_others(toki_pona: Language) -> None:
    """Detection knows the new language, and still the shipped ones."""
    texts = [
        QUESTION,
        PASSAGE,
        "How many people are in the school?",
        "Trường học có bao nhiêu người?",
        "ceci est une école",
    ]

    assert [identify(Text(text)) for text in texts] == [toki_pona.code, toki_pona.code, "en", "vi", "other"]


@pytest.mark.usefixtures("toki_pona")
@pytest.mark.parametrize(
    ("raw", "values"),
    [
        pytest.param("jan luka wan", [6.0], id="a numeral that is a sum"),
        pytest.param("suno mute luka tu", [27.0], id="a longer one"),
        pytest.param("jan 6", [6.0], id="digits"),
        pytest.param("luka suno", [5 * 86400.0], id="a unit of its own"),
    ],
)
def test_figures_are_read_by_its_own_numerals(raw: str, values: list[float]) -> None:
    """Numerals, their grammar and units come from its files."""
    assert [q.values[0] for q in find_quantities(Text(raw), "tok")] == values


@pytest.mark.usefixtures("toki_pona")
def test_courtesies_of_the_language_are_no_claims() -> None:
    """A greeting by its own list is taken away, what is stated stays."""
    evidence = Evidence.of(query=QUESTION, draft="toki!\ntomo sona li jo e jan luka wan.\nmi sona ala.")

    assert [claim.kind for claim in evidence.claims] == ["courtesy", "fact", "refusal"]


@pytest.mark.usefixtures("toki_pona")
@pytest.mark.parametrize(
    "draft",
    [
        pytest.param("toki! tomo sona li jo e jan luka wan [1].", id="in words"),
        pytest.param("toki! tomo sona li jo e jan 6 [1].", id="in digits, as the source says it in words"),
    ],
)
def test_what_the_source_says_is_answered(draft: str) -> None:
    """A supported claim passes, figures by value."""
    verdict = verify(draft)

    assert (verdict.language, verdict.decision.value, verdict.claims[-1].status) == ("tok", "answer", "supported")


@pytest.mark.usefixtures("toki_pona")
def test_another_figure_is_refused_with_reasons_in_the_language() -> None:
    """Seven where the source says six: a refusal in the words of the new language."""
    verdict = verify("tomo sona li jo e jan luka tu [1].")

    assert (verdict.language, verdict.decision.value) == ("tok", "refuse")
    assert verdict.safe_response is not None
    assert verdict.safe_response.startswith("mi ken ala toki. tan: ike ")
    assert "o pana e lipu sin." in verdict.safe_response


@pytest.mark.usefixtures("toki_pona")
def test_an_answer_in_another_language_is_refused() -> None:
    """The draft has to be in the language of the question, the new one included."""
    verdict = verify("The school has six people in it, and all of them learn something every day [1].")

    assert "language_mismatch" in verdict.reasons


def test_nothing_of_it_stays(tmp_path: Path) -> None:
    """A language that was there for a while leaves no word behind."""
    before = (word_set("words", "stop"), load("language")["called"], [each.code for each in languages()])
    evidence_of_the_language(tmp_path)
    words_without_content(tmp_path)
    with registered(Language("tok", tmp_path)):
        assert "seme" in word_set("words", "stop")

    assert (word_set("words", "stop"), load("language")["called"], [each.code for each in languages()]) == before


def test_a_code_of_no_language_gets_the_default_one() -> None:
    """Texts for a reader of a language that is not served are in English, and it has no trait."""
    assert (language_of("fr").name, has("fr", "accents"), has("vi", "accents")) == ("English", False, True)


def test_both_shipped_languages_have_the_same_texts() -> None:
    """What is said to a user in one language is said in the other."""
    shapes = [
        {name: sorted(each.rules(name)) for name in ("audit", "extractive", "hedges", "wording")}
        for each in languages()
    ]

    assert shapes[0] == shapes[1]
