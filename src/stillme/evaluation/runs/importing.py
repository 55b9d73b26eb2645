"""Public sets that a user downloaded, as cases: each file is recognised by the keys of its first row.

Sets were made for other questions than ours, so only what their labels really say is taken over: whether an answer is supported by the
text it came with. Where a set labels an answer as a whole and it has several sentences, it is not known which of them is unsupported:
such a case expects a refusal and has no labelled claims. Rows are read one at a time.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from stillme.errors import InputError, shown
from stillme.evaluation.runs.case_files import case_from
from stillme.evaluation.runs.cases import Case
from stillme.languages import DEFAULT, language_of
from stillme.text.sentences import split
from stillme.text.tokens import Text

__all__ = ["LAYOUTS", "Public", "PublicFile", "find_public"]

Row = Mapping[str, Any]
Values = dict[str, Any]
MOST_BYTES: Final = 1024 * 1024 * 1024
ENDINGS: Final = (".jsonl", ".json", ".csv")
GIVEN: Final = 1.0
"""The similarity of a text that the set itself puts beside a statement: nothing was retrieved for it."""
PASSAGE: Final = re.compile(r"^passage \d{1,3}+:", re.MULTILINE)
TURN: Final = re.compile(r"\[(Human|Assistant)\]:")
SUPPORTED: Final = frozenset(
    {"supports", "supported", "support", "entailment", "entailed", "consistent", "true", "1", "yes"}
)
UNSUPPORTED: Final = frozenset(
    {"refutes", "refuted", "not enough info", "not_enough_info", "nei", "unsupported", "not_supported", "not supported"}
    | {"partially_supported", "contradiction", "contradicted", "neutral", "not_entailment", "inconsistent"}
    | {"false", "0", "no"}
)
POSITIVE: Final = ("unsupported", "unanswerable", "conflicting", "ambiguous", "unsafe")


@dataclass(frozen=True, slots=True)
class PublicFile:
    """A file of a public set and the layout it was recognised by."""

    path: Path
    name: str
    """Its path below the folder that was named."""
    layout: str


@dataclass(frozen=True, slots=True)
class Public:
    """What a folder holds: files whose layout is known, and others, which are left out."""

    files: tuple[PublicFile, ...]
    unknown: tuple[str, ...]

    def __iter__(self) -> Iterator[Case]:
        for file in self.files:
            yield from _cases(file)


def find_public(folder: str | Path) -> Public:
    """The files of a folder, or the one file named, that can be read as cases; InputError where none can."""
    root = Path(folder)
    if not root.exists():
        raise InputError(f"{shown(str(folder))} is not there: name the folder that a public set was unpacked into")
    places = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())
    known: list[PublicFile] = []
    unknown: list[str] = []
    for path in places:
        name = path.name if root.is_file() else path.relative_to(root).as_posix()
        layout = _layout_of(path) if path.suffix.lower() in ENDINGS else None
        if layout is not None:
            known.append(PublicFile(path, name, layout))
        elif path.suffix.lower() in ENDINGS and path.name != "source_info.jsonl":
            unknown.append(name)
    if not known:
        raise InputError(f"{shown(str(folder))} holds no set of a known layout; known are {', '.join(LAYOUTS)}")
    return Public(tuple(known), tuple(unknown))


def _layout_of(path: Path) -> str | None:
    try:
        row = next(_rows(path), None)
    except InputError:
        return None
    keys = set(row) if isinstance(row, Mapping) else set[str]()
    return next((name for name, (needed, _) in LAYOUTS.items() if needed <= keys), None)


def _cases(file: PublicFile) -> Iterator[Case]:
    read = LAYOUTS[file.layout][1]
    for number, row in enumerate(_rows(file.path), 1):
        try:
            made = read(row, file.path)
            for part, values in enumerate(made):
                suffix = f":{part + 1}" if len(made) > 1 else ""
                own = {"id": f"{file.name[-150:]}:{number}{suffix}", "category": file.layout}
                yield case_from(own | values)
        except (InputError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            other = f"it is not laid out as {file.layout} is ({error!r})"
            problem = str(error) if isinstance(error, InputError) else other
            raise InputError(f"{file.name} row {number}: {problem}") from None


# rows


def _rows(path: Path) -> Iterator[Any]:
    """The rows of a file: of a table, of a JSON list, or JSON objects a line."""
    try:
        if path.suffix.lower() == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as table:
                yield from csv.DictReader(table)
            return
        with path.open(encoding="utf-8-sig") as text:
            first = text.read(1)
            while first.isspace():
                first = text.read(1)
            if first == "[":
                yield from _whole(path)
                return
            text.seek(0)
            yield from (json.loads(line) for line in text if line.strip())
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, csv.Error, RecursionError) as error:
        raise InputError(f"{path.name} cannot be read: {error}") from None


def _whole(path: Path) -> Iterator[Any]:
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"{path.name} is one JSON list of more than {MOST_BYTES >> 20} MiB: write it as JSON lines")
    yield from json.loads(path.read_text(encoding="utf-8-sig"))


# cases


def _judged(
    draft: str, supported: bool, passages: list[str], *, query: str | None = None, language: str = DEFAULT, **rest: Any
) -> Values:
    """A case of an answer that is supported by its passages as a whole, or is not."""
    one = supported or len(split(Text(draft))) == 1
    labels = [{"text": draft, "supported": supported, "start": 0}] if one and draft.strip() else []
    return {
        "request": _request(query, draft, passages, language),
        "expected": "answer" if supported else "refuse",
        "claims": labels,
        **rest,
    }


def _request(query: str | None, draft: str | None, passages: list[str], language: str) -> Values:
    given = {} if query else {"similarity": GIVEN}
    return {
        "query": query or language_of(language).rules("evaluation")["question"],
        "draft_answer": draft,
        "retrieved_context": [{"source_id": str(n), "text": text, **given} for n, text in enumerate(passages, 1)],
        "metadata": {"language": language},
    }


def _spans(draft: str, spans: list[tuple[int, int]]) -> list[Values]:
    """Labels of an answer whose unsupported parts are marked: these, and every sentence without one as supported."""
    marked = [{"text": draft[a:b], "supported": False, "start": a} for a, b in spans if draft[a:b].strip()]
    free = [s for s in split(Text(draft)) if not any(a < s.end and s.start < b for a, b in spans)]
    return marked + [{"text": draft[s.start : s.end], "supported": True, "start": s.start} for s in free]


def _truth(label: object) -> bool:
    word = str(label).strip().casefold()
    if word in SUPPORTED or word in UNSUPPORTED:
        return word in SUPPORTED
    raise InputError(f"label {shown(str(label))} is none of {', '.join(sorted(SUPPORTED | UNSUPPORTED))}")


# the layouts


def _stillme(row: Row, _: Path) -> list[Values]:
    """Rows of `kind`, `lang`, `query`, `context`, `answer`, `label` and `spans`."""
    passages, language = [p["text"] for p in row["context"]], row["lang"]
    tags = {"tags": [str(row["dataset"])]}
    positive = row["label"] in POSITIVE
    if row["kind"] == "grounding":
        case = _judged(row["answer"], not positive, passages, query=row["query"], language=language, **tags)
        if row.get("spans"):
            case["claims"] = _spans(row["answer"], [(a, b) for a, b in row["spans"]])
        return [case]
    expected, reasons = _expected(row["kind"], positive, bool(passages))
    request = _request(row["query"], None, passages, language)
    return [{"request": request, "expected": expected, "reasons": reasons, **tags}]


def _expected(kind: str, positive: bool, has_passages: bool) -> tuple[str | None, list[str]]:
    """What should happen to a question without a draft, and which codes it should be given."""
    if kind == "answerability":
        return ("refuse" if positive else "answer" if has_passages else None), []
    if not positive:
        return None, []
    if kind == "ambiguity":
        return "ask_clarify", []
    if kind == "conflict":
        return None, ["context_conflict_low_consensus"]
    return (None, ["context_contains_instructions"]) if has_passages else ("refuse", ["policy_block_unsafe_content"])


def _ragtruth(row: Row, path: Path) -> list[Values]:
    """`response.jsonl` beside `source_info.jsonl`."""
    if row.get("quality", "good") != "good":
        return []
    task, source = _ragtruth_sources(path)[str(row["source_id"])]
    query, passages = None, [source if isinstance(source, str) else json.dumps(source, ensure_ascii=False, indent=1)]
    if task == "QA":
        query = source["question"]
        passages = [part.strip() for part in PASSAGE.split(source["passages"]) if part.strip()]
    marked = [(label["start"], label["end"]) for label in row["labels"]]
    case = _judged(row["response"], not marked, passages, query=query, tags=[task, str(row.get("model", "unknown"))])
    return [case | {"claims": _spans(row["response"], marked)}]


@lru_cache(maxsize=1)
def _ragtruth_sources(path: Path) -> Mapping[str, tuple[str, Any]]:
    beside = path.with_name("source_info.jsonl")
    if not beside.is_file():
        raise InputError(f"{path.name} needs {beside.name} of RAGTruth in the same folder")
    return {str(row["source_id"]): (row["task_type"], row["source_info"]) for row in _rows(beside)}


def _summedits(row: Row, path: Path) -> list[Values]:
    """Lists of `doc`, `summary` and `label`, 1 being consistent; the domain is in the file name."""
    domain = path.stem.removeprefix("summedits_")
    return [_judged(row["summary"], _truth(row["label"]), [row["doc"]], tags=[domain])]


def _wice(row: Row, _: Path) -> list[Values]:
    """Rows of `claim`, `evidence` as a list of sentences, `supporting_sentences` and `label`; partial support is none."""
    return [_judged(row["claim"], _truth(row["label"]), ["\n".join(row["evidence"])])]


def _claims(row: Row, _: Path) -> list[Values]:
    """Rows of `claim`, `evidence` as a text or a list of them, and `label`, as many fact-checking sets are given out."""
    given = row["evidence"]
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(
            "evidence is a text or a list of texts: a set that only names pages has to be joined with them first"
        )
    return [_judged(row["claim"], _truth(row["label"]), texts)]


def _halueval(row: Row, _: Path) -> list[Values]:
    """The QA, dialogue and summarisation files: a right and a hallucinated answer in each row."""
    query: str | None = None
    earlier: list[Values] = []
    if "document" in row:
        passages, what = [row["document"]], "summary"
    elif "dialogue_history" in row:
        query, earlier = _last_turn(row["dialogue_history"])
        passages, what = [row["knowledge"]], "response"
    else:
        query, passages, what = row["question"], [row["knowledge"]], "answer"
    answers = [(row[f"right_{what}"], True), (row[f"hallucinated_{what}"], False)]
    cases = [_judged(answer, supported, passages, query=query, tags=[what]) for answer, supported in answers]
    return [case | {"request": {**case["request"], "conversation": earlier}} for case in cases]


def _last_turn(history: str) -> tuple[str, list[Values]]:
    """What the person said last, and the turns before it."""
    parts = [part.strip() for part in TURN.split(history)]
    roles = {"Human": "user", "Assistant": "assistant"}
    turns = [{"role": roles[who], "content": text} for who, text in zip(parts[1::2], parts[2::2], strict=True)]
    last = max(n for n, turn in enumerate(turns) if turn["role"] == "user")
    return turns[last]["content"], turns[:last]


def _truthfulqa(row: Row, _: Path) -> list[Values]:
    """The table of questions: without any source, a popular wrong answer has to be refused."""
    wrong = row["Incorrect Answers"].split(";")[0].strip()
    return [_judged(wrong, False, [], query=row["Question"], tags=[row["Category"]] if row.get("Category") else [])]


LAYOUTS: Final[Mapping[str, tuple[frozenset[str], Callable[[Row, Path], list[Values]]]]] = {
    "stillme-jsonl": (frozenset({"kind", "lang", "query", "context", "label"}), _stillme),
    "ragtruth": (frozenset({"source_id", "response", "labels"}), _ragtruth),
    "summedits": (frozenset({"doc", "summary", "label", "original_summary"}), _summedits),
    "wice": (frozenset({"claim", "evidence", "supporting_sentences", "label"}), _wice),
    "halueval-qa": (frozenset({"knowledge", "question", "right_answer", "hallucinated_answer"}), _halueval),
    "halueval-dialogue": (frozenset({"dialogue_history", "right_response", "hallucinated_response"}), _halueval),
    "halueval-summarization": (frozenset({"document", "right_summary", "hallucinated_summary"}), _halueval),
    "claims": (frozenset({"claim", "evidence", "label"}), _claims),
    "truthfulqa": (frozenset({"Question", "Best Answer", "Incorrect Answers"}), _truthfulqa),
}
"""The keys that tell each layout, and what reads it; the first that fits is taken."""
