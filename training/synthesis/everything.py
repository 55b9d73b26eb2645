"""Every synthetic example: each language, across the two, minimal pairs, and claims on the passages of other sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from training.examples import Example
from training.synthesis.compose import Composer, cross_language, passages_as_questions, read_questions, shared_id
from training.synthesis.pairs import contrasts, edited_claims


def synthetic_examples(data: Path, others: Sequence[Example] = (), seed: int = 29) -> Iterator[Example]:
    """All synthetic examples: each language, across the two, and on the passages of other sets."""
    made: dict[str, list[Example]] = {}
    passages: dict[str, dict[str, str]] = {}
    for lang in ("en", "vi"):
        questions = read_questions(data / f"qa_contexts_{lang}.jsonl")
        passages[lang] = {shared_id(q.id): q.passage for q in questions if shared_id(q.id)}
        made[lang] = list(Composer(questions, seed, f"synthetic_{lang}").examples())
        yield from made[lang]
        asked = list(Composer(questions, seed, f"premises_{lang}").premises())
        yield from asked
        made[lang] += asked
        yield from contrasts(questions, seed)
    for lang, other in (("en", "vi"), ("vi", "en")):
        yield from cross_language(made[lang], passages[other], lang)
    yield from edited_claims(others, seed)
    more = passages_as_questions(others, 3000)
    if more:
        yield from Composer(more, seed, "synthetic_more", most_sentences=2).examples()
