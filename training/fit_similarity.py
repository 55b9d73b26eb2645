"""Fits the computed similarity (src/stillme/languages/similarity.yaml): the curve from shared content, and the model's map.

    python training/fit_similarity.py TRAIN                      prints both
    python training/fit_similarity.py TRAIN --write              also writes similarity.yaml
    python training/fit_similarity.py TRAIN --gate --write       the gate and its middles alone, the rest of the file stays
    python training/fit_similarity.py TRAIN --measure [DEV]      prints how what is written does, with and without the model

Each question of `qa_contexts_{en,vi}.jsonl` is paired with its own passage, with another passage of the same article and with one
of another article. The similarity of a share is the probability that a passage with that share is the question's own, when own,
sibling and foreign passages are equally frequent; it is made to rise, and to end at 0.02 and 0.97.

Two maps add the cosine of the embedding model, for the pairs that shared content does not make clear. They are fitted on half of the
articles, within each language and across both (by the questions that both files hold), and measured on the other half; with a
DEV folder also on its `squad2_dev` and `viquad2_dev`.

- `map` is for our own search: something is always nearest there, and a passage of the same article is a wrong one.
- `gate` is for passages that a caller brings, and for questions as people type them: as they are, with typing errors, behind a greeting.
  A passage of the same article is left out: it speaks of what is asked, and whether it answers is for the grounding of the answer.
  Beside the articles it is fitted on training/written/train.jsonl, whose passages are what companies tell their customers: each
  question that its document answers, with the passage of that document and of another one that shares most with it. Cosines
  are taken without what all questions, or all passages, of a language have in common: the `middles`, means over the same pairs. A
  retriever brings passages of another matter now and then, so right ones count as fifteen times as frequent; not across
  languages, where cosines tell less.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
from base64 import b64encode
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, Literal

import numpy as np

from stillme import languages
from stillme.contract import RetrievedPassage
from stillme.grounding import similarity
from stillme.grounding.passage import Passage
from stillme.models.embedding import embed
from stillme.text.language import identify
from stillme.text.tokens import Text, fold_text

KNOTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MOST = 1500
# At the upper figure no threshold of a policy is in doubt; at the lower one hardly a passage is the right one.
CLEAR, HOPELESS = 0.8, 0.03
RIGHT_TO_WRONG = 15
GROUPS = ("en", "vi", "en to vi", "vi to en", "vi unaccented")
QUESTIONS = 300
WRITTEN = Path(__file__).with_name("written") / "train.jsonl"
RIDGE = 1e-3
GREETINGS = {
    "en": (
        "Hi there!",
        "Good morning, I hope you are well.",
        "Hello! I have a question about this.",
        "Dear team, thanks so far.",
    ),
    "vi": (
        "Xin chào!",
        "Chào bạn, chúc bạn một ngày tốt lành.",
        "Em chào anh chị ạ, cho em hỏi chút.",
        "Chào cả nhà, mình muốn hỏi.",
    ),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and a passage, and whether it is the question's own."""

    group: str
    article: str
    query: Text
    passage: Passage
    own: bool
    language: str
    said: similarity.QuestionShare
    sibling: bool = False
    """Whether the passage is another one of the question's article."""
    reworded: bool = False
    """Whether the question is not as it was written."""

    @property
    def across(self) -> bool:
        """Whether they are in different languages."""
        return similarity.across(self.language, self.passage)

    def doubtful(self, points: Sequence[tuple[float, float]]) -> bool:
        """Whether shared content leaves open if it is its own."""
        return similarity.curve(self.said.share, points) < CLEAR

    def promising(self, points: Sequence[tuple[float, float]]) -> bool:
        """Whether it also gives reason to look."""
        return self.doubtful(points) and (similarity.curve(self.said.share, points) > HOPELESS or self.across)

    @property
    def held_out(self) -> bool:
        """Whether its article is for measuring."""
        return hashlib.sha256(self.article.encode()).digest()[0] % 2 == 1


def pair(
    group: str, article: str, question: str, context: str, own: bool, *, sibling: bool = False, reworded: bool = False
) -> Pair:
    """A pair, read."""
    query, passage = Text(question), Passage(1, RetrievedPassage(source_id="a", text=context))
    language = identify(query)
    terms = similarity.query_terms(query, language)
    said = similarity.read(query, terms, passage) if terms else similarity.QuestionShare(0.0, {})
    return Pair(group, article, query, passage, own, language, said, sibling, reworded)


def shares(rows: dict[str, list[dict[str, Any]]]) -> list[tuple[float, bool]]:
    """For each question and passage the share of the question that the passage speaks of, and whether it is its own."""
    found: list[tuple[float, bool]] = []
    for language, known in rows.items():
        rng = random.Random(language)
        siblings = defaultdict(list)
        for row in known:
            siblings[row["title"]].append(row["context"])
        everything = sorted({row["context"] for row in known})
        for row in rng.sample(known, min(MOST, len(known))):
            query = Text(row["question"])
            terms = similarity.query_terms(query, identify(query))
            near = [c for c in siblings[row["title"]] if c != row["context"]]
            others = [rng.choice(near)] if near else []
            others.append(rng.choice([c for c in rng.sample(everything, 3) if c != row["context"]]))
            for context, own in [(row["context"], True), *((c, False) for c in others)]:
                passage = Passage(1, RetrievedPassage(source_id="a", text=context))
                if terms:
                    found.append((similarity.share(query, terms, passage), own))
    return found


def curve(found: list[tuple[float, bool]]) -> list[tuple[float, float]]:
    """The probability at each knot, from the pairs around it, made to rise."""
    points: list[tuple[float, float]] = []
    for knot in KNOTS:
        near = [own for value, own in found if abs(value - knot) <= 0.06]
        points.append((knot, sum(near) / len(near) if near else 0.0))
    for k, _ in enumerate(points):
        points[k] = (points[k][0], max(p for _, p in points[: k + 1]))
    inner = [(x, round(min(0.95, max(0.03, y)), 2)) for x, y in points[1:-1]]
    rising = [(0.0, 0.02), *inner, (1.0, 0.97)]
    return [
        (x, round(max(y, previous + 0.01) if k else y, 2))
        for k, ((_, previous), (x, y)) in enumerate(pairwise([(0, 0.0), *rising]))
    ]


def identity(row: dict[str, Any]) -> str:
    """What a question is called in both files."""
    return str(row["id"]).rsplit("-", 1)[-1]


class Articles:
    """The questions and passages of each language by article; an article of both has its English name."""

    def __init__(self, rows: dict[str, list[dict[str, Any]]]) -> None:
        self.rows = {language: {identity(row): row for row in known} for language, known in rows.items()}
        english, vietnamese = self.rows.get("en", {}), self.rows.get("vi", {})
        self.both = sorted(set(english) & set(vietnamese))
        named = {vietnamese[i]["title"]: english[i]["title"] for i in self.both}
        self.named = {old: new for old, new in named.items() if old and new}
        self.passages: dict[tuple[str, str], set[str]] = defaultdict(set)
        for language, known in rows.items():
            for row in known:
                self.passages[self.of(row), language].add(row["context"])
        self.names = {language: sorted({a for a, spoken in self.passages if spoken == language}) for language in rows}

    def of(self, row: dict[str, Any]) -> str:
        """The article of a question; a passage without one stands alone."""
        title = row["title"] or row["context"]
        return str(self.named.get(title, title))

    def others(self, article: str, own: str, language: str, rng: random.Random) -> list[str]:
        """A passage of the same article, if there is one, and one of another."""
        near = sorted(self.passages[article, language] - {own})
        far = rng.choice([name for name in rng.sample(self.names[language], 3) if name != article])
        return [*([rng.choice(near)] if near else []), rng.choice(sorted(self.passages[far, language]))]


def pairs(rows: dict[str, list[dict[str, Any]]], questions: int) -> list[Pair]:
    """Up to `questions` questions of each group, each with its own passage and with wrong ones."""
    articles, rng = Articles(rows), random.Random(7)
    found: list[Pair] = []
    for group in GROUPS:
        asked, answered = group[:2], group[-2:] if " to " in group else group[:2]
        names = articles.both if asked != answered else sorted(articles.rows[asked])
        for name in rng.sample(names, min(questions, len(names))):
            own = articles.rows[answered][name]
            article = articles.of(own)
            wrong = articles.others(article, own["context"], answered, rng)
            found += _with_passages(group, article, articles.rows[asked][name]["question"], own["context"], wrong)
    return found


def _with_passages(group: str, article: str, question: str, own: str, wrong: list[str]) -> list[Pair]:
    """The question with its own passage and with wrong ones, of which all but the last are of its article."""
    found: list[Pair] = []
    wordings = _wordings(fold_text(question) if group == "vi unaccented" else question, group[:2])
    for k, text in enumerate(wordings):
        found.append(pair(group, article, text, own, True, reworded=k > 0))
        for n, other in enumerate(wrong):
            found.append(pair(group, article, text, other, False, sibling=n < len(wrong) - 1, reworded=k > 0))
    return found


def _wordings(question: str, language: str) -> list[str]:
    """A question as it is, typed in a hurry, and behind a greeting."""
    rng = random.Random(question)
    return [question, _mistyped(question, rng), f"{rng.choice(GREETINGS[language])} {question}"]


def _mistyped(question: str, rng: random.Random) -> str:
    """A question with an error in every third word: letters that changed places, are missing or stand twice."""
    words = question.lower().split()
    for n in rng.sample(range(len(words)), -(-len(words) // 3)):
        word, at = words[n], rng.randrange(max(1, len(words[n]) - 1))
        turned = word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :]
        words[n] = rng.choice((turned, word[:at] + word[at + 1 :], word[: at + 1] + word[at:]))
    return " ".join(words)


def written_pairs(documents: list[dict[str, Any]], questions: int) -> list[Pair]:
    """Up to `questions` questions of each language that their document answers, beside the most promising passage of it and of another."""
    rng, found = random.Random(11), []
    for language in ("en", "vi"):
        by_domain = {each["domain"]: each for each in documents if each["lang"] == language}
        known = rng.sample(sorted(by_domain), min(questions, len(by_domain)))
        for domain in known:
            asked = [each["query"] for each in by_domain[domain]["questions"] if each["label"] == "answerable"]
            other = rng.choice([name for name in known if name != domain])
            for k, text in enumerate(_wordings(rng.choice(asked), language) if asked else []):
                for name in (domain, other):
                    passages = [passage["text"] for passage in by_domain[name]["context"]]
                    each = [pair(language, domain, text, p, name == domain, reworded=k > 0) for p in passages]
                    found.append(max(each, key=lambda p: p.said.share))
    return found


def dev_pairs(folder: Path, questions: int) -> list[Pair]:
    """The same of the development sets; each row has one passage, of an article that its source tells."""
    found: list[Pair] = []
    for name, groups in (("squad2_dev", ("en",)), ("viquad2_dev", ("vi", "vi unaccented"))):
        known = [
            {"id": f"{row['id']}", "question": row["query"], "context": row["context"][0]["text"], "title": _title(row)}
            for row in _rows(folder / f"{name}.jsonl")
        ]
        articles, rng = Articles({groups[0]: known}), random.Random(name)
        for row in rng.sample(known, min(questions, len(known))):
            wrong = articles.others(row["title"], row["context"], groups[0], rng)
            for group in groups:
                found += _with_passages(group, row["title"], row["question"], row["context"], wrong)
    return found


def _title(row: dict[str, Any]) -> str:
    source = str(row["context"][0]["source_id"])
    return source.rsplit("-", 1)[0] if row["lang"] == "en" else source


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def fitted(features: Any, own: Any) -> Any:
    """Weights of a logistic regression, the last one its bias, by Newton's method."""
    features = np.c_[features, np.ones(len(features))]
    weights = np.zeros(features.shape[1])
    for _ in range(50):
        said = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (said - own) + RIDGE * weights
        bend = (features.T * (said * (1 - said))) @ features + RIDGE * np.eye(len(weights))
        weights -= np.linalg.solve(bend, slope)
    return weights


def fit_map(
    doubtful: list[Pair], middles: similarity.Middles | None = None, right_to_wrong: float = 1.0
) -> similarity.Map:
    """The map that tells own passages best where shared content is no help, for so many right ones to a wrong one of the same language."""
    features = [[p.said.share, nearest(p, middles), float(p.across)] for p in doubtful]
    weights = fitted(np.array(features), np.array([float(p.own) for p in doubtful]))
    share, cosine, across, bias = map(float, weights)
    odds = math.log(right_to_wrong)
    return similarity.Map(*(round(value, 3) for value in (share, cosine, across - odds, bias + odds)))


def nearest(p: Pair, middles: similarity.Middles | None) -> float:
    """The cosine of the question, or of a sentence of it that asks, and the nearest piece of the passage."""
    if middles is None:
        return max(similarity.nearest_piece(embed, asked, p.passage, p.said) for asked in similarity.asking(p.query))
    return max(
        middles.cosine(question, p.language, piece, p.passage.language)
        for asked in read_questions(p)
        for question in embed([asked], "query")
        for piece in read_pieces(p)
    )


def read_questions(p: Pair) -> list[str]:
    """What the model reads of a question."""
    legible = [similarity.legible(asked, [p.passage], p.language).raw for asked in similarity.asking(p.query)]
    return [text for text in legible if text.strip()]


def read_pieces(p: Pair) -> Any:
    """The vectors of what the model reads of a passage."""
    return embed(similarity.pieces(p.passage, p.said.weights), "passage")


def fit_middles(known: list[Pair]) -> similarity.Middles:
    """The mean vectors of questions and of pieces, by language, as they are written down."""
    questions, passages = defaultdict(list), defaultdict(list)
    for p in known:
        questions[p.language] += list(embed(read_questions(p), "query"))
        passages[p.passage.language] += list(read_pieces(p))

    def mean(vectors: dict[str, list[Any]]) -> dict[str, Any]:
        served = {language: rows for language, rows in vectors.items() if language in GREETINGS}
        return {language: np.mean(rows, axis=0).astype("<f2").astype("float32") for language, rows in served.items()}

    return similarity.Middles(mean(questions), mean(passages))


def fit_gate(rows: dict[str, list[dict[str, Any]]], questions: int, points: Sequence[tuple[float, float]]) -> list[str]:
    """The lines of the gate and its middles."""
    known = [*pairs(rows, questions), *written_pairs(_rows(WRITTEN), questions)]
    learnt = [p for p in known if p.group != "vi unaccented" and not p.held_out and not p.sibling]
    brought = [p for p in learnt if p.doubtful(points)]
    middles = fit_middles(learnt)
    return [
        f"# `gate` is for passages that a caller brings, of which one in {RIGHT_TO_WRONG + 1} is taken to speak of another matter; cosines",
        f"# are taken without the middles. Fitted on {_counted(brought)}.",
        "gate:",
        *(f"  {name}: {value}" for name, value in asdict(fit_map(brought, middles, RIGHT_TO_WRONG)).items()),
        "# The mean vectors of questions and of passages, as half floats in base64.",
        "middles:",
        *_written_middles("questions", middles.questions),
        *_written_middles("passages", middles.passages),
    ]


def _written_middles(kind: str, vectors: Mapping[str, Any]) -> list[str]:
    texts = {name: b64encode(vectors[name].astype("<f2").tobytes()).decode() for name in sorted(vectors)}
    return [f"  {kind}:", *(f"    {name}: {text}" for name, text in texts.items())]


def fit(rows: dict[str, list[dict[str, Any]]], questions: int) -> list[str]:
    """The lines of similarity.yaml."""
    found = shares(rows)
    points = curve(found)
    known = [p for p in pairs(rows, questions) if p.group != "vi unaccented" and not p.held_out]
    searched = [p for p in known if p.promising(points) and not p.reworded]
    return [
        "# Share of the question that a passage speaks of (left) and the similarity it is worth (right); linear between.",
        f"# Fitted by training/fit_similarity.py on {len(found)} pairs of question and passage.",
        "curve:",
        *(f"  - [{x}, {y}]" for x, y in points),
        "# Where no passage is as clear as this, the embedding model is asked.",
        f"clear: {CLEAR}",
        "# Log odds from the share, the cosine of the nearest piece, and whether the languages differ. `map` is for passages that our own",
        f"# search has found, among which something is always nearest; fitted by training/fit_similarity.py on {_counted(searched)}.",
        "map:",
        *(f"  {name}: {value}" for name, value in asdict(fit_map(searched)).items()),
        *fit_gate(rows, questions, points),
    ]


def _counted(pairs: list[Pair]) -> str:
    return f"{len(pairs)} pairs, {sum(p.own for p in pairs)} of them right"


def area(right: Any, wrong: Any) -> float:
    """The chance that a right passage has the higher figure than a wrong one; a tie is half."""
    right, wrong = np.array(right)[:, None], np.array(wrong)[None, :]
    return float(((right > wrong) + 0.5 * (right == wrong)).mean())


def measure(known: list[Pair]) -> None:
    """Print, for each group, how the figures tell right from wrong, from shared content alone and with the model."""
    asked = 0

    def counted(texts: Sequence[str], kind: Literal["query", "passage"]) -> Any:
        nonlocal asked
        asked += kind == "query"
        return embed(texts, kind)

    for group in dict.fromkeys(p.group for p in known):
        own = [p for p in known if p.group == group]
        right = np.array([p.own for p in own])
        for name, model in (("shared content", None), ("with the model", counted)):
            asked = 0
            said = np.array([similarity.similarities(p.query, [p.passage], p.language, model)[0] for p in own])
            below, above = right[said < 0.45], right[said >= 0.7]
            print(
                f"{group:14}{name:15} pairs {len(own):4}  AUC {area(said[right], said[~right]):.3f}  "
                f"right at 0.45 {((said >= 0.45) == right).mean():.3f}  own below 0.45 {below.mean():.3f}  "
                f"own from 0.7 {above.mean():.3f}  model asked {asked / len(own):.2f}"
            )


def _with_gate(target: Path, rows: dict[str, list[dict[str, Any]]], questions: int) -> list[str]:
    """The lines of similarity.yaml as they are, with a gate that is fitted anew."""
    points = [(float(x), float(y)) for x, y in languages.load("similarity")["curve"]]
    kept = takewhile(lambda line: not line.startswith("# `gate`"), target.read_text(encoding="utf-8").splitlines())
    return [*kept, *fit_gate(rows, questions, points)]


def main() -> None:
    """Fit and print, write if asked to; or measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="of each group, for the map")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--gate", action="store_true", help="fit the gate alone")
    parser.add_argument("--measure", nargs="?", const=True, metavar="DEV")
    options = parser.parse_args()
    rows = {language: _rows(options.folder / f"qa_contexts_{language}.jsonl") for language in ("en", "vi")}
    if options.measure:
        print("held-out articles")
        measure([p for p in pairs(rows, options.questions) if p.held_out])
        if options.measure is not True:
            print("development sets")
            measure(dev_pairs(Path(options.measure), options.questions))
        return
    target = Path(languages.__file__).with_name("similarity.yaml")
    lines = _with_gate(target, rows, options.questions) if options.gate else fit(rows, options.questions)
    print("\n".join(lines))
    if options.write:
        target.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
