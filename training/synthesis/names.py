"""Find names and numbers in text by their form."""

from __future__ import annotations

import re

from training.text import Span, sentences

NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w]*[A-Za-z])")
YEAR = re.compile(r"(?<![\w.,])(?:1\d{3}|20\d{2})(?![\w%]|[.,]\d)")
_TOKEN = re.compile(r"[^\W\d_](?:[^\W_]|['’-](?=\w))*", re.UNICODE)
_LINKS = {"of", "de", "von", "van", "der", "the", "da", "la"}
_NOT_NAMES = frozenset(
    [
        "the",
        "a",
        "an",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "of",
        "to",
        "and",
        "or",
        "but",
        "as",
        "it",
        "its",
        "he",
        "she",
        "his",
        "her",
        "they",
        "their",
        "this",
        "that",
        "these",
        "those",
        "there",
        "when",
        "while",
        "after",
        "before",
        "during",
        "since",
        "with",
        "without",
        "although",
        "however",
        "because",
        "if",
        "many",
        "most",
        "some",
        "several",
        "all",
        "i",
        "we",
        "you",
        "our",
        "my",
        "who",
        "what",
        "which",
        "where",
        "how",
        "why",
        "is",
        "are",
        "was",
        "were",
        "one",
        "two",
        "three",
        "no",
        "not",
        "both",
        "each",
        "other",
        "such",
        "then",
        "later",
        "also",
        "thus",
        "hence",
        "today",
        "now",
        "here",
        "so",
        "yet",
        "still",
        "once",
        "soon",
        "meanwhile",
        "instead",
        "according",
        "under",
        "over",
        "between",
        "among",
        "under",
        "despite",
        "until",
        "through",
        "about",
        "against",
        "within",
        "his",
        "new",
        "early",
        "former",
        "late",
        "another",
        "only",
        "even",
        "like",
        "unlike",
        "hôm",
        "cuối",
        "đầu",
        "lúc",
        "giữa",
        "nhờ",
        "dù",
        "cùng",
        "người",
        "con",
        "cái",
        "nay",
        "bởi",
        "qua",
        "các",
        "những",
        "một",
        "khi",
        "sau",
        "trước",
        "trong",
        "theo",
        "tại",
        "từ",
        "năm",
        "ngày",
        "vào",
        "ông",
        "bà",
        "họ",
        "nó",
        "đây",
        "đó",
        "này",
        "và",
        "với",
        "do",
        "vì",
        "nếu",
        "nhưng",
        "tuy",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "mặc",
        "ngoài",
        "cũng",
        "có",
        "không",
        "được",
        "là",
        "để",
        "hai",
        "ba",
        "nhiều",
        "mỗi",
        "mọi",
        "đến",
        "ở",
        "trên",
        "dưới",
        "cho",
        "hiện",
        "anh",
        "cô",
        "chúng",
        "thế",
        "bên",
    ]
)


def names(text: str) -> list[Span]:
    """Runs of capitalised words; a lone word that opens a sentence counts only if it recurs inside one."""
    starts = {start for start, _ in sentences(text)}
    found: list[Span] = []
    for run in _runs(text):
        if run[0][0] in starts and text[slice(*run[0])].casefold() in _NOT_NAMES:
            run = run[1:]
        if not run:
            continue
        span = (run[0][0], run[-1][1])
        if len(run) == 1 and not _is_name(text, span, starts):
            continue
        found.append(span)
    return found


def _is_name(text: str, span: Span, starts: set[int]) -> bool:
    word = text[slice(*span)]
    if word.casefold() in _NOT_NAMES or len(word) < 2:
        return False
    if span[0] not in starts:
        return True
    inside = re.compile(rf"(?<=[\w,] ){re.escape(word)}\b")
    return bool(inside.search(text))


def _runs(text: str) -> list[list[Span]]:
    """Neighbouring capitalised words, with small linking words between two of them."""
    runs: list[list[Span]] = []
    current: list[Span] = []
    links: list[Span] = []
    for match in _TOKEN.finditer(text):
        near = bool(current) and text[(links or current)[-1][1] : match.start()] == " "
        if match.group()[0].isupper():
            if near:
                current += [*links, match.span()]
            else:
                runs.append(current)
                current = [match.span()]
            links = []
        elif near and match.group() in _LINKS and len(links) < 2:
            links.append(match.span())
        else:
            runs.append(current)
            current, links = [], []
    return [run for run in [*runs, current] if run]


def numbers(text: str) -> list[Span]:
    """The numbers written in digits."""
    return [match.span() for match in NUMBER.finditer(text)]


def years(text: str) -> list[Span]:
    """The numbers that read as a year."""
    return [match.span() for match in YEAR.finditer(text)]
