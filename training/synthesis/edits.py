"""Changes that make a supported claim false or unfounded, with the exact characters at fault."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from training.examples import CONTRADICTED, NOT_SUPPORTED, UNSUPPORTED
from training.synthesis.lexicon import lexicon
from training.synthesis.names import YEAR, names, numbers, years
from training.synthesis.substitutes import Substitutes
from training.text import Span


@dataclass(frozen=True, slots=True)
class Material:
    """A claim, the passage that supports it, and names from elsewhere to go wrong with."""

    lang: str
    claim: str
    passage: str
    foreign_names: tuple[str, ...] = ()
    substitutes: Substitutes | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """A changed claim; `replaced` and `by` tell the change, so that it can be made in the passage too."""

    text: str
    spans: tuple[Span, ...]
    label: str
    replaced: str
    by: str


Edit = Callable[[Material, random.Random], Edited | None]


def replace_span(text: str, span: Span, by: str) -> tuple[str, Span]:
    """The text with `span` replaced, and where the replacement stands."""
    start, end = span
    return text[:start] + by + text[end:], (start, start + len(by))


def _edited(claim: str, span: Span, by: str, label: str) -> Edited:
    text, where = replace_span(claim, span, by)
    return Edited(text, (where,), label, claim[slice(*span)], by)


def phrase_spans(text: str, phrase: str) -> Iterator[Span]:
    """Where a phrase stands as whole words, as written or with a capital."""
    at = text.find(phrase)
    while at >= 0 and phrase:
        end = at + len(phrase)
        if not _is_letter(text[at - 1 : at]) and not _is_letter(text[end : end + 1]):
            yield at, end
            at = text.find(phrase, end)
        else:
            at = text.find(phrase, at + 1)


def _is_letter(char: str) -> bool:
    return char.isalnum() or char == "_"


def _pick_phrase(text: str, pairs: Sequence[tuple[str, str]], chance: random.Random) -> tuple[Span, str] | None:
    found = [(span, new) for old, new in pairs for span in phrase_spans(text, old)]
    if not found:
        return None
    # A longer phrase holds a shorter one ("ít nhất", "ít"): change the whole of it.
    longest = [
        (span, new)
        for span, new in found
        if not any(o[0] <= span[0] and span[1] <= o[1] and o != span for o, _ in found)
    ]
    return chance.choice(longest)


def swap_name(material: Material, chance: random.Random) -> Edited | None:
    """Put another name of the passage, or else a foreign one, in the place of a name."""
    own = names(material.claim)
    if not own:
        return None
    span = chance.choice(own)
    old = material.claim[slice(*span)]
    inside = sorted({material.passage[slice(*s)] for s in names(material.passage)})
    near = [n for n in inside if n not in material.claim and not _overlaps(n, old)]
    far = [n for n in material.foreign_names if n not in material.passage and not _overlaps(n, old)]
    pool = near if near and (not far or chance.random() < 0.6) else far
    if not pool:
        return None
    return _edited(material.claim, span, chance.choice(pool), NOT_SUPPORTED)


def _overlaps(one: str, other: str) -> bool:
    return bool(set(one.casefold().split()) & set(other.casefold().split()))


def wrong_subject(material: Material, chance: random.Random) -> Edited | None:
    """Tell the right fact of the wrong one: the claim's first name becomes a foreign name."""
    own = names(material.claim)
    far = [n for n in material.foreign_names if n not in material.passage]
    if not own or own[0][0] > len(material.claim) // 2 or not far:
        return None
    return _edited(material.claim, own[0], chance.choice(far), NOT_SUPPORTED)


def change_number(material: Material, chance: random.Random) -> Edited | None:
    """Change a number, in digits or in words, so that it is not in the passage."""
    options: list[tuple[Span, str]] = []
    for span in numbers(material.claim):
        options.append((span, _other_number(material.claim[slice(*span)], chance)))
    listed = lexicon(material.lang).number_words
    for word in listed:
        for span in phrase_spans(material.claim, word):
            options.append((span, chance.choice([other for other in listed if other != word])))
    fresh = [(span, new) for span, new in options if not list(phrase_spans(material.passage, new))]
    if not fresh:
        return None
    span, new = chance.choice(fresh)
    return _edited(material.claim, span, new, CONTRADICTED)


def _other_number(text: str, chance: random.Random) -> str:
    if re.fullmatch(r"1\d{3}|20\d{2}", text):
        return str(int(text) + chance.choice([-1, 1]) * chance.randint(1, 25))
    places = [i for i, char in enumerate(text) if char.isdigit()]
    place = chance.choice(places)
    low = 1 if place == 0 else 0
    digits = [str(d) for d in range(low, 10) if str(d) != text[place]]
    return text[:place] + chance.choice(digits) + text[place + 1 :]


def move_number(material: Material, chance: random.Random) -> Edited | None:
    """Put another number of the passage in the place of a number, a year for a year."""
    options: list[tuple[Span, str]] = []
    inside = sorted({material.passage[slice(*span)] for span in numbers(material.passage)})
    for span in numbers(material.claim):
        old = material.claim[slice(*span)]
        alike = [n for n in inside if bool(YEAR.fullmatch(n)) == bool(YEAR.fullmatch(old))]
        options += [(span, new) for new in alike if not list(phrase_spans(material.claim, new))]
    if not options:
        return None
    span, new = chance.choice(options)
    return _edited(material.claim, span, new, NOT_SUPPORTED)


def change_date(material: Material, chance: random.Random) -> Edited | None:
    """Change a month or a year."""
    options = [(span, _other_number(material.claim[slice(*span)], chance)) for span in years(material.claim)]
    months = lexicon(material.lang).months
    for month in months:
        for span in phrase_spans(material.claim, month):
            if month != "May" or re.match(r"\s\d", material.claim[span[1] :]):
                options.append((span, chance.choice([other for other in months if other != month])))
    for match in re.finditer(r"(?<=tháng )(\d{1,2})(?!\d)", material.claim):
        month_number = chance.choice([n for n in range(1, 13) if n != int(match.group())])
        options.append((match.span(), str(month_number)))
    fresh = [(span, new) for span, new in options if not list(phrase_spans(material.passage, new))]
    if not fresh:
        return None
    span, new = chance.choice(fresh)
    return _edited(material.claim, span, new, CONTRADICTED)


def change_unit(material: Material, chance: random.Random) -> Edited | None:
    """Change the unit behind a number."""
    options: list[tuple[Span, str]] = []
    for first, *others in lexicon(material.lang).units:
        for span in phrase_spans(material.claim, first):
            if re.search(r"[\d%] $|\d$", material.claim[: span[0]]):
                options += [(span, other) for other in others]
    if not options:
        return None
    span, new = chance.choice(options)
    return _edited(material.claim, span, new, CONTRADICTED)


_EN_AUXILIARY = re.compile(
    r"(?<!\w)(is|are|was|were|has been|have been|had been|can|could|will|would|should|must|did|does|do)(?= \w)"
)
_EN_NEGATED = re.compile(
    r"(?<!\w)(is|are|was|were|has|have|had|can|could|will|would|should|must|did|does|do) not(?!\w)"
)
_VI_NEGATABLE = (
    ("có thể", "không thể"), ("là", "không phải là"), ("đã được", "chưa được"), ("đã", "chưa"),
    ("được", "không được"), ("sẽ", "sẽ không"), ("có", "không có"), ("bị", "không bị"), ("phải", "không phải"),
)  # fmt: skip
_VI_NEGATED = (("không phải là", "là"), ("không thể", "có thể"), ("không có", "có"), ("chưa", "đã"), ("không", "có"))


def negate(material: Material, chance: random.Random) -> Edited | None:
    """Put in a negation, or take one out."""
    return _negate_en(material, chance) if material.lang == "en" else _negate_vi(material, chance)


def _negate_en(material: Material, chance: random.Random) -> Edited | None:
    negated = list(_EN_NEGATED.finditer(material.claim))
    if negated:
        match = chance.choice(negated)
        return _edited(material.claim, match.span(), match.group(1), CONTRADICTED)
    found = list(_EN_AUXILIARY.finditer(material.claim))
    if not found:
        return None
    match = found[0]
    first, _, rest = match.group().partition(" ")
    by = f"{first} {chance.choice(['not', 'not', 'never'])}" + (f" {rest}" if rest else "")
    return _edited(material.claim, match.span(), by, CONTRADICTED)


def _negate_vi(material: Material, chance: random.Random) -> Edited | None:
    picked = _pick_phrase(material.claim, _VI_NEGATED, chance)
    if picked is None:
        found = [(span, new) for old, new in _VI_NEGATABLE for span in phrase_spans(material.claim, old)]
        picked = min(found, key=lambda item: (item[0][0], -item[0][1])) if found else None
    if picked is None:
        return None
    return _edited(material.claim, *picked, CONTRADICTED)


def reverse(material: Material, chance: random.Random) -> Edited | None:
    """Put a word's opposite in its place."""
    listed = lexicon(material.lang).opposites
    both = [*listed, *((new, old) for old, new in listed)]
    picked = _pick_phrase(material.claim, both, chance)
    return None if picked is None else _edited(material.claim, *picked, CONTRADICTED)


def strengthen(material: Material, chance: random.Random) -> Edited | None:
    """Change a quantifier, a frequency or a modal to one the passage does not bear."""
    picked = _pick_phrase(material.claim, lexicon(material.lang).strengthened, chance)
    return None if picked is None else _edited(material.claim, *picked, NOT_SUPPORTED)


def swap_roles(material: Material, chance: random.Random) -> Edited | None:
    """Let two names of the claim change places."""
    own = names(material.claim)
    pairs = [
        (a, b)
        for place, a in enumerate(own)
        for b in own[place + 1 :]
        if not _overlaps(material.claim[slice(*a)], material.claim[slice(*b)])
        and len(re.findall(r"\w+", material.claim[a[1] : b[0]])) >= 2
    ]
    if not pairs:
        return None
    first, second = chance.choice(pairs)
    one, other = material.claim[slice(*first)], material.claim[slice(*second)]
    middle = material.claim[first[1] : second[0]]
    text = material.claim[: first[0]] + other + middle + one + material.claim[second[1] :]
    late = first[0] + len(other) + len(middle)
    spans = ((first[0], first[0] + len(other)), (late, late + len(one)))
    return Edited(text, spans, NOT_SUPPORTED, "", "")


def add_unfounded(material: Material, chance: random.Random) -> Edited | None:
    """Add a clause the passage knows nothing of."""
    lists = lexicon(material.lang)
    body = material.claim.rstrip()
    end = body[-1] if body and body[-1] in ".!?" else ""
    body = body[: len(body) - len(end)]
    kinds: list[str] = [chance.choice(lists.additions)]
    far = [n for n in material.foreign_names if n not in material.passage]
    if far:
        kinds.append(chance.choice(lists.additions_with_name).format(name=chance.choice(far)))
    year = str(chance.randint(1750, 2022))
    if not years(material.claim) and year not in material.passage:
        kinds.append(chance.choice(lists.additions_with_year).format(year=year))
    clauses = material.substitutes.clauses if material.substitutes else ()
    kinds += [c for c in chance.sample(clauses, min(6, len(clauses))) if c.strip(" ,") not in material.passage]
    addition = chance.choice(kinds)
    start = len(body) + len(addition) - len(addition.lstrip(" ,"))
    return Edited(body + addition + end, ((start, len(body) + len(addition)),), UNSUPPORTED, "", "")


def substitute(material: Material, chance: random.Random) -> Edited | None:
    """Put another word, which fits between the same neighbours, in the place of a word."""
    options = material.substitutes.options(material.claim) if material.substitutes else []
    synonyms = {frozenset(pair) for pair in lexicon(material.lang).synonyms}
    options = [
        (span, new) for span, new in options
        if frozenset((material.claim[slice(*span)], new)) not in synonyms
        and not list(phrase_spans(material.claim, new))
    ]  # fmt: skip
    if not options:
        return None
    span = chance.choice(sorted({span for span, _ in options}))
    new = chance.choice([new for place, new in options if place == span])
    return _edited(material.claim, span, new, NOT_SUPPORTED)


_LIST = re.compile(r"(\w{3,}(?: \w{3,})?)(?=, [^,.;]{3,30},? (?:and|or|và|hoặc) )")


def add_item(material: Material, chance: random.Random) -> Edited | None:
    """Put one more item into a list."""
    lists = list(_LIST.finditer(material.claim))
    if not lists or material.substitutes is None:
        return None
    match = chance.choice(lists)
    named = match.group().split()[-1][0].isupper()
    pool = material.foreign_names if named else material.substitutes.items
    pool = tuple(item for item in pool if item.casefold() not in material.passage.casefold())
    if not pool:
        return None
    item = chance.choice(pool)
    text = f"{material.claim[: match.end()]}, {item}{material.claim[match.end() :]}"
    start = match.end() + 2
    return Edited(text, ((start, start + len(item)),), UNSUPPORTED, "", "")


def drop_condition(material: Material, chance: random.Random) -> Edited | None:
    """Leave out the condition under which the claim holds; what then overstates is all of it."""
    found = [
        match
        for opening in lexicon(material.lang).conditions
        for match in re.finditer(rf",? (?<!\w){re.escape(opening)} [^,.;]{{6,90}}(?=[,.;])", material.claim)
        if len(material.claim[: match.start()].split()) >= 4
    ]
    if not found:
        return None
    match = min(found, key=lambda m: (m.start(), -m.end()))
    text = material.claim[: match.start()] + material.claim[match.end() :]
    return Edited(text, ((0, match.start()),), UNSUPPORTED, "", "")


EDITS: dict[str, Edit] = {
    "substitute": substitute,
    "move_number": move_number,
    "add_item": add_item,
    "drop_condition": drop_condition,
    "swap_name": swap_name,
    "wrong_subject": wrong_subject,
    "change_number": change_number,
    "change_date": change_date,
    "change_unit": change_unit,
    "negate": negate,
    "reverse": reverse,
    "strengthen": strengthen,
    "swap_roles": swap_roles,
    "add_unfounded": add_unfounded,
}
