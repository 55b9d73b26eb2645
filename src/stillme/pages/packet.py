"""One recorded verdict as one self-contained HTML page, to read, print and attach.

A string that is not `Html` is text and is escaped where it is put; recorded texts are never anything else.
The page loads nothing, runs nothing and links only to itself. Its words are in packet.yaml, its looks in packet.css.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import unicodedata
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

import yaml

from stillme.audit.review.cases import PacketContent, ReviewLine
from stillme.contract import RetrievedPassage, Verdict
from stillme.response import reason_words

__all__ = ["packet"]

STATUSES: Final = ("supported", "contradicted", "unsupported", "not_factual")
TONES: Final = {"answer": "good", "warned": "care", "refuse": "bad", "ask_clarify": "ask"}
# Letters, marks and selectors that Unicode calls printable and that leave no mark of their own.
BLANK: Final = frozenset(
    [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0]
) | frozenset([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
SHELL_SAFE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
HIDDEN: Final = re.compile(r"<i>U\+([0-9A-F]{4,6})</i>")
MOST_HIDDEN_NAMED: Final = 20
MOST_CACHED: Final = 8192


def packet(case: PacketContent) -> str:
    """The page of a case; the same case gives the same page."""
    return _Page(case).whole()


# markup


class Html(str):
    """Markup that this module wrote."""

    __slots__ = ()


class _Written(dict[int, str]):
    """How each character is written in HTML; one that cannot be seen becomes its code in an element of its own."""

    def __missing__(self, code: int) -> str:
        written = f"<i>U+{code:04X}</i>" if _is_hidden(chr(code)) else html.escape(chr(code))
        if len(self) < MOST_CACHED:
            self[code] = written
        return written


def _is_hidden(char: str) -> bool:
    if ord(char) in BLANK:
        return True
    return not char.isprintable() and char not in "\n\t" and unicodedata.category(char) != "Zs"


_WRITTEN: Final = _Written()


def visible(text: str) -> Html:
    """A text as markup that shows all of it: control, bidirectional and invisible characters as their codes."""
    return Html(text.replace("\r\n", "\n").translate(_WRITTEN))


def tag(name: str, *content: str | None, **attributes: str) -> Html:
    """An element; content that is not markup is escaped, None is left out."""
    given = [
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"' for key, value in attributes.items() if value
    ]
    return Html(f"<{name}{''.join(given)}>{joined(content)}</{name}>")


def joined(parts: Iterable[str | None], between: str = "") -> Html:
    """Markup of several parts; what is not markup is escaped, None is left out."""
    return Html(between.join(part if isinstance(part, Html) else visible(part) for part in parts if part is not None))


def said(text: str, look: str = "said") -> Html:
    """A recorded text as a block of its own, in its own direction of writing."""
    return tag("div", text, class_=look, dir="auto")


def pairs(rows: Iterable[tuple[str, str | None]], look: str) -> Html | None:
    """Labels and values; a row without a value is left out."""
    shown = [tag("div", tag("dt", label), tag("dd", value)) for label, value in rows if value]
    return tag("dl", *shown, class_=look) if shown else None


def bdi(text: str) -> Html | None:
    """A recorded word or line within a sentence of ours; nothing for an empty one."""
    return tag("bdi", text) if text else None


def code(text: str) -> Html | None:
    """An identifier, isolated like any recorded text."""
    return tag("code", tag("bdi", text)) if text else None


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a text, how it looks, and the note that stands at its end."""

    start: int
    end: int
    look: str
    note: Html | None = None


def marked(text: str, marks: Sequence[Mark], element: str) -> Html:
    """The whole text once, each stretch in the looks of all marks over it, however these overlap."""
    opening: dict[int, list[Mark]] = defaultdict(list)
    closing: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        opening[mark.start].append(mark)
        closing[mark.end].append(mark)
    looks: Counter[str] = Counter()
    parts: list[Html | None] = []
    for start, end in pairwise(sorted({0, len(text), *opening, *closing})):
        looks.update(mark.look for mark in opening[start])
        worn = sorted(look for look, times in looks.items() if times)
        parts.append(tag(element, text[start:end], class_=" ".join(worn)) if worn else visible(text[start:end]))
        looks.subtract(mark.look for mark in closing[end])
        parts += [mark.note for mark in closing[end]]
    return joined(parts)


# what is recorded, whatever shape it is in


def _rows(of: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [row for row in _items(of, key) if isinstance(row, Mapping)]


def _items(of: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = of.get(key)
    return value if isinstance(value, list | tuple) else ()


def _text(of: Mapping[str, Any], key: str) -> str:
    value = of.get(key)
    if value is None:
        return ""
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _number(of: Mapping[str, Any], key: str, form: str = "g") -> str:
    value = of.get(key)
    return format(value, form) if isinstance(value, float) else str(value) if type(value) is int else ""


def _span(value: object, within: tuple[int, int]) -> tuple[int, int] | None:
    """The part of a stretch that lies within another; None where it is no stretch or lies outside."""
    if not (isinstance(value, list | tuple) and len(value) == 2 and all(type(n) is int for n in value)):
        return None
    start, end = max(value[0], within[0]), min(value[1], within[1])
    return (start, end) if start < end else None


def _moment(recorded: str) -> str:
    """A point in time to the second, in UTC; what is none is shown as it is."""
    try:
        moment = datetime.fromisoformat(recorded)
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if moment.tzinfo else recorded
    except (ValueError, OverflowError):
        return recorded


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim, its number, and where it stands in the draft: None where its recorded place does not fit."""

    number: int
    given: Mapping[str, Any]
    place: tuple[int, int] | None
    missing: tuple[tuple[int, int], ...]

    @property
    def status(self) -> str:
        return _text(self.given, "status")

    @property
    def look(self) -> str:
        """An unknown status looks like no support, never like support."""
        return self.status if self.status in STATUSES else "unsupported odd"


def _claim(number: int, given: Mapping[str, Any], draft: str) -> _Claim:
    recorded = (given.get("start"), given.get("end"))
    place = _span(recorded, (0, len(draft)))
    if place != recorded or place is None or _text(given, "text") not in ("", draft[place[0] : place[1]]):
        return _Claim(number, given, None, ())
    missing = [_span(span, place) for span in _items(given, "unsupported_spans")]
    return _Claim(number, given, place, tuple(span for span in missing if span))


# the page


@cache
def _all_words() -> dict[str, list[str]]:
    parsed: dict[str, list[str]] = yaml.safe_load(
        files("stillme.pages").joinpath("packet.yaml").read_text(encoding="utf-8")
    )
    return parsed


@cache
def _style() -> Html:
    return Html(files("stillme.pages").joinpath("packet.css").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class _Page:
    """The sections of a packet, top to bottom."""

    case: PacketContent

    def whole(self) -> str:
        sections = [
            self._reasons(),
            self._question(),
            self._answer(),
            self._response(),
            self._claims(),
            self._sources(),
            self._conflicts(),
            self._findings(),
            self._reviews(),
            self._record(),
            self._check(),
            self._policy(),
        ]
        body = joined([self._header(), *sections])
        page = tag("body", tag("main", body, self._hidden(body)))
        return f'<!DOCTYPE html>\n<html lang="{self.language}">\n{self._head()}\n{page}\n</html>\n'

    # what the sections read

    @cached_property
    def verdict(self) -> Mapping[str, Any]:
        given = self.case.verdict
        return given.model_dump(warnings=False) if isinstance(given, Verdict) else given

    @cached_property
    def language(self) -> str:
        return "vi" if _text(self.verdict, "language") == "vi" else "en"

    @cached_property
    def draft(self) -> str:
        return (self.case.request and self.case.request.draft_answer) or ""

    @cached_property
    def undrafted(self) -> bool:
        """Pattern B: there was no draft to check."""
        return not self.draft.strip() if self.case.request else self.verdict.get("precheck") is True

    @cached_property
    def claims(self) -> list[_Claim]:
        return [_claim(n, given, self.draft) for n, given in enumerate(_rows(self.verdict, "claims"), start=1)]

    @cached_property
    def passages(self) -> Sequence[RetrievedPassage]:
        return self.case.request.retrieved_context if self.case.request else ()

    @cached_property
    def numbers(self) -> Mapping[str, list[int]]:
        """The passages of each source, by number."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, passage in enumerate(self.passages, start=1):
            found[passage.source_id].append(number)
        return found

    @cached_property
    def trace(self) -> str:
        """The trace id, where it can stand in a command as it is."""
        trace = self.case.facts.get("trace id") or _text(self.verdict, "validator_trace_id")
        return trace if SHELL_SAFE.fullmatch(trace) else ""

    @cached_property
    def outcome(self) -> str:
        """The decision, with its warnings told apart."""
        decision = _text(self.verdict, "decision")
        return "warned" if decision == "answer" and _items(self.verdict, "reasons") else decision

    @cached_property
    def verified(self) -> bool:
        """Whatever is not plainly true is not verified; databases write true as 1."""
        return type(self.verdict.get("verified")) in (bool, int) and self.verdict["verified"] == 1

    @cached_property
    def repaired(self) -> bool:
        findings = _rows(self.verdict, "findings")
        return _text(self.verdict, "decision") == "answer" and any(f.get("repaired") is True for f in findings)

    def say(self, key: str, otherwise: str | None = None) -> str:
        """An interface word in the language of the page; a value that has none is shown as it is."""
        words = _all_words().get(key)
        if words is None:
            return key if otherwise is None else otherwise
        return words[self.language == "vi"]

    def value(self, group: str, recorded: str) -> str:
        return self.say(f"{group}.{recorded}", recorded)

    def section(self, name: str, *content: str | None, title: str | None = None) -> Html:
        heading = tag("h2", self.say(title or name), id=f"{name}-title")
        return tag("section", heading, *content, id=name, aria_labelledby=f"{name}-title")

    def nothing(self, key: str) -> Html:
        return tag("p", self.say(key), class_="none")

    # head and header

    def _head(self) -> Html:
        style = _style()
        digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
        guard = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        verified = self.say("verified.yes" if self.verified else "verified.no")
        decided = self.value("decision", self.outcome) if self.outcome in TONES else ""
        parts = (f"StillMe: {self.say('page.title')}", decided, verified, self.trace)
        title = ", ".join(part for part in parts if part)
        return Html(
            '<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{guard}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
            '<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>"
        )

    def _header(self) -> Html:
        about = tag("p", self.say("page.about"), class_="kicker")
        trace = tag("p", code(self.trace), class_="trace") if self.trace else None
        tiles = tag("div", self._decision(), self._action(), self._verified(), class_="tiles")
        return tag("header", about, tag("h1", self.say("page.title")), trace, tiles, self._notice(), self._figures())

    def _tile(self, label: str, word: str, about: str, tone: str) -> Html:
        lines = [tag("p", label, class_="label"), tag("p", bdi(word), class_="word"), tag("p", about, class_="about")]
        return tag("div", *lines, class_=f"tile {tone}")

    def _decision(self) -> Html:
        tone = TONES.get(self.outcome, "bad")
        about = self.say(f"decision.{self.outcome}.about", "")
        return self._tile(self.say("decision"), self.value("decision", self.outcome), about, tone)

    def _action(self) -> Html:
        action = _text(self.verdict, "action")
        despite = action.startswith("deliver") and _text(self.verdict, "decision") != "answer"
        tone = ("alarm" if action == "deliver" else "care") if despite else "plain"
        if action == "deliver" and self.undrafted:
            action = "undrafted"
        key = f"action.{action}_despite" if despite else f"action.{action}"
        return self._tile(self.say("action"), self.say(key, action), self.say(f"{key}.about", ""), tone)

    def _verified(self) -> Html:
        key, tone = ("yes", "good") if self.verified else ("no", "alarm")
        return self._tile(self.say("verified"), self.say(f"verified.{key}"), self.say(f"verified.{key}.about"), tone)

    def _figures(self) -> Html | None:
        verdict = self.verdict
        metrics = verdict.get("metrics")
        figures: Mapping[str, Any] = metrics if isinstance(metrics, Mapping) else {}
        band = self.value("band", _text(verdict, "confidence_band"))
        if band and verdict.get("calibrated") is False:
            band += f" ({self.say('band.uncalibrated')})"
        elapsed = _number(figures, "elapsed_ms", ".0f")
        needed = verdict.get("source_required")
        rows = [
            ("figure.recorded", _moment(self.case.facts.get("recorded at", ""))),
            ("figure.mode", self.value("mode", _text(verdict, "mode"))),
            ("figure.confidence", band),
            ("figure.claims", self._share(figures)),
            ("figure.passages", _number(figures, "context_count")),
            ("figure.similarity", _number(figures, "max_similarity", ".2f")),
            ("figure.needed", self.say("yes" if needed else "no") if isinstance(needed, bool) else ""),
            ("figure.conflicts", _number(verdict, "conflicts")),
            ("figure.cited", _number(verdict, "citations")),
            ("figure.as_of", _moment(_text(verdict, "as_of"))),
            ("figure.elapsed", f"{elapsed} ms" if elapsed else ""),
            ("figure.language", _text(verdict, "language")),
        ]
        return pairs([(self.say(key), bdi(value)) for key, value in rows], "figures")

    def _share(self, metrics: Mapping[str, Any]) -> str:
        part, whole = _number(metrics, "claims_supported"), _number(metrics, "claims_total")
        if self.undrafted or not part or not whole:
            return ""
        return self.say("figure.unjudged") if whole == "0" else self.say("figure.of").format(part=part, whole=whole)

    def _notice(self) -> Html | None:
        missing = self.case.request is None
        lead = tag("strong", self.say("texts.missing") if missing else f"{self.say('notice')}:")
        words = self.case.notice or (self.say("texts.why") if missing else "")
        return tag("aside", lead, " ", bdi(words), class_="notice", role="note") if words else None

    # sections

    def _reasons(self) -> Html:
        lines = []
        for reason in map(str, _items(self.verdict, "reasons")):
            words = reason_words(reason, self.language)["say"]
            lines.append(tag("li", bdi(words[:1].upper() + words[1:]), " ", code(reason)))
        return self.section("reasons", tag("ul", *lines) if lines else self.nothing("reasons.none"))

    def _question(self) -> Html | None:
        if self.case.request is None:
            return None
        turns = [
            tag("div", tag("p", bdi(turn.role), class_="role"), said(turn.content), class_="turn")
            for turn in self.case.request.conversation
        ]
        earlier = joined([tag("h3", self.say("question.earlier")), *turns]) if turns else None
        return self.section("question", said(self.case.request.query, "said asked"), earlier)

    def _answer(self) -> Html | None:
        if self.undrafted:
            return self.section("answer", self.nothing("answer.none"))
        if self.case.request is None:
            return None
        marks = [mark for claim in self.claims for mark in self._marks(claim)]
        text = tag("div", marked(self.draft, marks, "span"), class_="said draft", dir="auto")
        return self.section("answer", text, self._key() if marks else self.nothing("answer.unjudged"))

    def _marks(self, claim: _Claim) -> list[Mark]:
        if claim.place is None:
            return []
        n, label = claim.number, self.value("status", claim.status)
        note = tag("a", f"{n} {label}", class_=f"tag {claim.look}", href=f"#claim-{n}", id=f"mark-{n}")
        return [Mark(*span, "gap") for span in claim.missing] + [Mark(*claim.place, f"claim {claim.look}", note)]

    def _key(self) -> Html:
        looks = [tag("span", self.say(f"status.{status}"), class_=f"claim {status}") for status in STATUSES]
        gap = tag("span", self.say("answer.gap"), class_="gap")
        return tag("p", f"{self.say('answer.key')}: ", joined([*looks, gap], " "), class_="key")

    def _response(self) -> Html | None:
        response = _text(self.verdict, "safe_response")
        if not response:
            return None
        title = "response"
        if _text(self.verdict, "action") == "deliver_with_warning":
            is_note = response == _text(self.verdict, "warning")
            title = "response.note" if is_note else "response.repaired" if self.repaired else "response.warned"
        return self.section("response", said(response), title=title)

    def _claims(self) -> Html | None:
        if self.undrafted:
            return None
        if not self.claims:
            return self.section("claims", self.nothing("claims.none"))
        if any(_text(claim.given, "text") for claim in self.claims):
            return self.section("claims", *map(self._claim_card, self.claims))
        return self.section("claims", self._claim_table())

    def _claim_table(self) -> Html:
        """Claims of which no texts are kept."""
        heads = [self.say(key) for key in ("claim", "status", "claim.score", "claim.decided_by")]
        rows = [
            [str(c.number), self._status(c), _number(c.given, "score", ".2f"), code(_text(c.given, "decided_by"))]
            for c in self.claims
        ]
        return _table(heads, [tag("tr", *(tag("td", cell) for cell in row), id=f"claim-{row[0]}") for row in rows])

    def _status(self, claim: _Claim) -> Html:
        return tag("span", bdi(self.value("status", claim.status)), class_=f"tag {claim.look}")

    def _claim_card(self, claim: _Claim) -> Html:
        given = claim.given
        number = f"{self.say('claim')} {claim.number}"
        back = tag("a", number, href=f"#mark-{claim.number}") if claim.place else number
        score = _number(given, "score", ".2f")
        probability = tag("span", f"{self.say('claim.score')} {score}", class_="score") if score else None
        missing = [tag("q", tag("bdi", self.draft[start:end])) for start, end in claim.missing]
        rows = [
            (self.say("claim.missing"), joined(missing, ", ")),
            (self.say("claim.says"), self._quote(claim)),
            (self.say("claim.source"), self._named(_items(given, "source_ids"))),
            (self.say("claim.detail"), bdi(_text(given, "detail"))),
            (self.say("claim.decided_by"), code(_text(given, "decided_by"))),
        ]
        astray = self.case.request is not None and claim.place is None
        note = tag("p", self.say("claim.misplaced"), class_="astray") if astray else None
        text = said(_text(given, "text")) if _text(given, "text") else None
        head = tag("h3", back, " ", self._status(claim), " ", probability)
        shown = [head, text, note, pairs(rows, "rows")]
        return tag("article", *shown, id=f"claim-{claim.number}", class_=f"card {claim.look}")

    def _quote(self, claim: _Claim) -> Html | None:
        quote = _text(claim.given, "quote")
        if not quote:
            return None
        found = any(quote in self.passages[n - 1].text for n in self._numbered(_items(claim.given, "source_ids")))
        note = tag("span", self.say("claim.unquoted"), class_="astray") if self.case.request and not found else None
        return joined([tag("q", tag("bdi", quote)), " " if note else None, note])

    def _numbered(self, sources: Iterable[object]) -> list[int]:
        """The passages of these sources, by number."""
        return [number for source in dict.fromkeys(map(str, sources)) for number in self.numbers.get(source, ())]

    def _named(self, sources: Iterable[object]) -> Html | None:
        """Sources by their id, each linked to its passages on this page."""
        named = []
        for source in dict.fromkeys(map(str, sources)):
            links = [tag("a", f"[{number}]", href=f"#source-{number}") for number in self.numbers.get(source, ())]
            if self.case.request and not links:
                links = [tag("span", f"({self.say('claim.unknown_source')})", class_="astray")]
            named.append(joined([*links, code(source)], " "))
        return joined(named, ", ") if named else None

    def _sources(self) -> Html | None:
        if self.case.request is None:
            return self._cited()
        if not self.passages:
            return self.section("sources", self.nothing("sources.none"))
        quotes = self._quotes()
        cited = {_text(citation, "source_id") for citation in _rows(self.verdict, "citations")}
        key = tag("p", self.say("sources.key"), class_="key") if quotes else None
        cards = [self._passage(n, p, quotes[n], p.source_id in cited) for n, p in enumerate(self.passages, start=1)]
        return self.section("sources", key, *cards)

    def _cited(self) -> Html | None:
        """What the verdict itself says about its sources, where the passages are not kept."""
        rows = _rows(self.verdict, "citations")
        named = [[_text(row, key) for key in ("source_id", "title", "url", "timestamp")] for row in rows]
        lines = [tag("li", joined(map(bdi, parts), ", ")) for parts in named]
        return self.section("sources", tag("ul", *lines), title="sources.cited") if lines else None

    def _quotes(self) -> Mapping[int, list[Mark]]:
        """Where the quotes of claims and conflicts stand in the passages."""
        found: dict[int, list[Mark]] = defaultdict(list)
        for claim in self.claims:
            name = self.say("passage.claim").format(number=claim.number)
            note = tag("a", name, href=f"#claim-{claim.number}", class_=f"tag {claim.look}")
            quote, sources = _text(claim.given, "quote"), _items(claim.given, "source_ids")
            self._find(quote, sources, f"quote {claim.look}", note, found)
        for number, conflict in enumerate(_rows(self.verdict, "conflicts"), start=1):
            name = self.say("passage.conflict").format(number=number)
            note = tag("a", name, href=f"#conflict-{number}", class_="tag ask")
            for statement in _rows(conflict, "statements"):
                self._find(_text(statement, "quote"), [statement.get("source_id")], "quote stated", note, found)
        return found

    def _find(self, quote: str, sources: Sequence[Any], look: str, note: Html, found: dict[int, list[Mark]]) -> None:
        for number in self._numbered(sources) if quote else ():
            start = self.passages[number - 1].text.find(quote)
            if start >= 0:
                found[number].append(Mark(start, start + len(quote), look, note))

    def _passage(self, number: int, passage: RetrievedPassage, quotes: Sequence[Mark], cited: bool) -> Html:
        similarity = passage.similarity
        other = json.dumps(passage.model_extra, ensure_ascii=False, default=str) if passage.model_extra else ""
        rows = [
            (self.say("passage.id"), code(passage.source_id)),
            (self.say("passage.url"), bdi(passage.url or "")),
            (self.say("passage.timestamp"), bdi(passage.timestamp or "")),
            (self.say("passage.similarity"), None if similarity is None else f"{similarity:.2f}"),
            (self.say("passage.other"), code(other)),
        ]
        text = tag("div", marked(passage.text, quotes, "mark"), class_="said", dir="auto")
        chip = tag("span", self.say("passage.cites"), class_="tag good") if cited else None
        head = tag("h3", f"[{number}] ", bdi(passage.title or passage.source_id), " " if chip else None, chip)
        shown = text if passage.text.strip() else self.nothing("passage.blank")
        return tag("article", head, pairs(rows, "rows"), shown, id=f"source-{number}", class_="card passage")

    def _conflicts(self) -> Html | None:
        cards = [self._conflict(n, given) for n, given in enumerate(_rows(self.verdict, "conflicts"), start=1)]
        return self.section("conflicts", *cards) if cards else None

    def _conflict(self, number: int, given: Mapping[str, Any]) -> Html:
        head = tag("h3", f"{self.say('conflict')} {number}: ", bdi(_text(given, "about")))
        lines = [
            tag("li", self._named([_text(row, "source_id")]), ": ", tag("q", tag("bdi", _text(row, "quote"))))
            for row in _rows(given, "statements")
        ]
        return tag("article", head, tag("ul", *lines), id=f"conflict-{number}", class_="card ask")

    def _findings(self) -> Html:
        found = _rows(self.verdict, "findings")
        if not found:
            return self.section("findings", self.nothing("findings.none"))
        heads = [self.say(f"finding.{column}") for column in ("outcome", "validator", "gate", "time")]
        return self.section("findings", _table(heads, map(self._finding, found), "checks"))

    def _finding(self, given: Mapping[str, Any]) -> Html:
        outcome, gate, stage, reason = (_text(given, key) for key in ("outcome", "gate", "stage", "reason"))
        repaired = given.get("repaired") is True
        decides = outcome == "errored" or (outcome == "flagged" and gate == "hard" and not repaired)
        tone = "bad" if decides else {"passed": "good", "flagged": "care", "skipped": "plain"}.get(outcome, "plain odd")
        detail, elapsed = _text(given, "detail"), _number(given, "elapsed_ms", ".2f")
        what = [
            tag("strong", bdi(_text(given, "validator"))),
            joined([" ", code(reason)]) if reason else None,
            tag("span", f" {self.say('finding.repaired')}", class_="score") if repaired else None,
            said(detail, "detail") if detail else None,
        ]
        return tag(
            "tr",
            tag("td", tag("span", bdi(self.value("outcome", outcome)), class_=f"tag {tone}")),
            tag("td", *what),
            tag("td", bdi(f"{self.value('gate', gate)}, {self.value('stage', stage)}")),
            tag("td", f"{elapsed} ms" if elapsed else "", class_="number"),
            class_={"bad": "decides", "care": "warns"}.get(tone, ""),
        )

    def _reviews(self) -> Html:
        cards = [self._review(review) for review in self.case.reviews]
        return self.section("reviews", *cards or [self.nothing("reviews.none")])

    def _review(self, review: ReviewLine) -> Html:
        label = self.value("review", review.label)
        head = tag("h3", bdi(label), " ", code(review.label) if label != review.label else None)
        by = tag("p", bdi(review.who), ", ", bdi(_moment(review.when)), class_="role")
        return tag("article", head, by, said(review.note) if review.note else None, class_="card")

    def _record(self) -> Html:
        """The facts as given, then what request and verdict say of themselves: what is new, and what differs."""
        verdict, request = self.verdict, self.case.request
        own = {
            "trace id": _text(verdict, "validator_trace_id"),
            "request id": _text(verdict, "request_id"),
            "policy hash": _text(verdict, "policy_hash"),
            "model id": _text(verdict, "model_id"),
            "package version": _text(verdict, "version"),
        }
        if request is not None:
            metadata, confidence = request.metadata, request.generation_confidence
            extra = metadata.model_extra
            own |= {
                "domain": metadata.domain or "",
                "session": metadata.session_id or "",
                "generation confidence": "" if confidence is None else f"{confidence:.2f}",
                "other metadata": json.dumps(extra, ensure_ascii=False, default=str) if extra else "",
            }
        given = self.case.facts
        rows = [(bdi(self.value("fact", name)) or name, code(value)) for name, value in given.items()]
        for name, value in own.items():
            if given.get(name) != value:
                label = self.value("fact", name)
                rows.append((self.say("fact.differs").format(label=label) if name in given else label, code(value)))
        return self.section("record", pairs(rows, "rows facts"))

    def _check(self) -> Html:
        replay = tag("li", self.say("check.unreplayable"))
        if self.case.request is not None:
            command = f"stillme audit replay {self.trace or 'TRACE'}"
            replay = tag("li", self.say("check.replay"), tag("code", command, class_="command"))
        verify = tag("li", self.say("check.verify"), tag("code", "stillme audit verify", class_="command"))
        return self.section("check", tag("p", self.say("check.page")), tag("ol", verify, replay))

    def _policy(self) -> Html:
        text = self.case.policy_text
        if text is None:
            return self.section("policy", self.nothing("policy.none"))
        folded = tag("details", tag("summary", self.say("policy.show")), said(text, "said listing"))
        return self.section("policy", folded)

    def _hidden(self, body: Html) -> Html | None:
        """The names of the characters that the page shows as codes."""
        codes = sorted({int(found, 16) for found in HIDDEN.findall(body)})
        if not codes:
            return None
        names = [f"U+{number:04X} {unicodedata.name(chr(number), '')}".strip() for number in codes[:MOST_HIDDEN_NAMED]]
        if len(codes) > MOST_HIDDEN_NAMED:
            names.append(self.say("hidden.more").format(count=len(codes) - MOST_HIDDEN_NAMED))
        return tag("footer", tag("p", f"{self.say('hidden')} {', '.join(names)}."))


def _table(heads: Iterable[str], rows: Iterable[Html], look: str = "") -> Html:
    header = tag("tr", *(tag("th", head, scope="col") for head in heads))
    return tag("table", tag("thead", header), tag("tbody", *rows), class_=look)
