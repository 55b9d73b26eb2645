"""Turn a question and its answer into a statement, in English and in Vietnamese."""

from __future__ import annotations

import random
import re

from training.synthesis.lexicon import lexicon
from training.text import Span

Statement = tuple[str, Span]

# Vietnamese asks in place: the asking words stand where the answer will stand.
_VI_ASKING: tuple[tuple[str, str], ...] = (
    (r"là (?:những |cái |điều )?gì(?= *\?)", "là {a}"),
    (r"là ai(?= *\?)", "là {a}"),
    (r"là bao nhiêu(?= *\?)", "là {a}"),
    (r"là khi nào(?= *\?)", "là {a}"),
    (r"là năm nào(?= *\?)", "là {a}"),
    (r"(?:vào )?khi nào(?= *\?)|bao giờ(?= *\?)|vào lúc nào(?= *\?)|từ khi nào(?= *\?)", "{in_time}"),
    (r"(?:vào |trong )?năm nào(?= *\?)", "{in_year}"),
    (r"(?:ở|tại) (?:đâu|nơi nào)(?= *\?)", "{in_place}"),
    (r"vào thời gian nào(?= *\?)|vào ngày nào(?= *\?)", "{in_time}"),
    (r"^(?:những )?ai(?= )", "{a}"),
    (r"(?<= )ai(?= *\?)", "{a}"),
    (r"bao nhiêu", "{number}"),
    (r"(?<!bậc )(?<!thứ )mấy", "{number}"),
    (r"^(?:điều|cái|những|thứ) gì(?= )", "{a}"),
    (r"(?<= )(?:những |cái |điều |những điều )?gì(?= *\?)", "{a}"),
)
_VI_WHICH = re.compile(r"^(?:những |các )?((?:\w+ ){1,3}?)(?:nào|gì) (?=\w)", re.IGNORECASE)
_VI_WHICH_INSIDE = re.compile(r"(\w+ )(?:nào|gì)(?= )|((?:\w+ )?\w+ )(?:nào|gì)(?= *\?)")
_VI_MANNER = re.compile(r"thế nào|làm sao|ra sao|tại sao|vì sao|^khi nào|nghĩa là gì", re.IGNORECASE)
_EN_WHICH_SUBJECT = re.compile(
    r"(?:what|which)(?: \w+){0,2}? ((?:(?:is|was|are|were|has been|have been|can be)(?: \w+ly)? \w+(?:ed|en|wn|ld|nt|de) "
    r"|(?:\w{3,}ed|led|won|wrote|made|held|took|gave|became|began|lost|built|found|brought) )\w)",
    re.IGNORECASE,
)
_AUXILIARY = r"(is|are|was|were|has|have|had|can|could|will|would|should|may|did|does|do)"


def statement(question: str, answer: str, lang: str, chance: random.Random) -> Statement:
    """A statement that says what the question asks for, and where the answer stands in it."""
    question, answer = question.strip(), answer.strip().rstrip(".,;: ")
    made = placed_statement(question, answer, lang)
    if made is None:
        form = chance.choice(lexicon(lang).question_forms)
        opening = form.split("{answer}")[0].format(question=question)
        text = form.format(question=question, answer=answer)
        return text, (len(opening), len(opening) + len(answer))
    return made


def placed_statement(question: str, answer: str, lang: str) -> Statement | None:
    """The answer in the place of the asking words; None where the form of the question does not allow it."""
    question, answer = question.strip(), answer.strip().rstrip(".,;: ")
    return _vietnamese(question, answer) if lang == "vi" else _english(question, answer)


_SOMETHING: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "en": (
        (re.compile(r"\bwhen\b|\byear\b", re.I), "at some time"),
        (re.compile(r"\bwhere\b|\bcity\b|\bcountry\b", re.I), "in some place"),
        (re.compile(r"\bhow many\b", re.I), "some number"),
        (re.compile(r"\bwho\b|\bwhom\b", re.I), "someone"),
        (re.compile(r"\bwhat\b|\bwhich\b", re.I), "something"),
    ),
    "vi": (
        (re.compile(r"khi nào|bao giờ|năm nào|ngày nào|thời gian nào|lúc nào", re.I), "vào một thời điểm nhất định"),
        (re.compile(r"(?:ở|tại) (?:đâu|nơi nào)", re.I), "ở một nơi nhất định"),
        (re.compile(r"bao nhiêu|\bmấy\b", re.I), "một số"),
        (re.compile(r"\bai\b", re.I), "một người"),
        (re.compile(r"\bgì\b", re.I), "một điều"),
        (re.compile(r"\bnào\b", re.I), "nào đó"),
    ),
}


def premise(question: str, lang: str) -> str | None:
    """What a question takes for granted, as a statement; None where its form does not allow it."""
    question = question.strip()
    opens_with_which = lang == "vi" and _VI_WHICH.match(question)
    something = next((text for pattern, text in _SOMETHING[lang] if pattern.search(question)), None)
    if something is None or opens_with_which:
        return None
    made = placed_statement(question, something, lang)
    return None if made is None else made[0]


def _placed(before: str, answer: str, after: str) -> Statement:
    """Join the parts into one sentence and tell where the answer stands."""
    before = re.sub(r"\s+", " ", before).lstrip()
    after = re.sub(r"\s+", " ", after).rstrip(" ?.")
    if before and not before.endswith((" ", '"', "“")):
        before += " "
    if after and after[0] not in " ,;:":
        after = " " + after
    shown = answer if before else answer[:1].upper() + answer[1:]
    before = before[:1].upper() + before[1:]
    return f"{before}{shown}{after}.", (len(before), len(before) + len(shown))


def _vietnamese(question: str, answer: str) -> Statement | None:
    if _VI_MANNER.search(question):
        return None
    if not question.endswith("?"):
        question += "?"
    forms = {
        "{a}": "",
        "{in_time}": "" if re.match(r"(?:vào|trong|từ|khi|sau|trước)\b", answer, re.I) else "vào ",
        "{in_year}": "" if re.match(r"(?:vào|trong|năm|từ)\b", answer, re.I) else "vào năm ",
        "{in_place}": "" if re.match(r"(?:ở|tại|trong)\b", answer, re.I) else "ở ",
        "{number}": "",
    }
    for pattern, form in _VI_ASKING:
        match = re.search(pattern, question, re.IGNORECASE)
        if match is None:
            continue
        if form == "{number}":
            return _vietnamese_number(question, match.span(), answer)
        opening = "là " if form == "là {a}" else forms[form]
        return _placed(question[: match.start()] + opening, answer, question[match.end() :])
    match = _VI_WHICH.match(question)
    if match:
        return _placed("", answer, " " + question[match.end() :])
    match = _VI_WHICH_INSIDE.search(question)
    if match:
        noun = match.group(1) or match.group(2)
        noun = "" if answer.casefold().startswith(noun.strip().casefold()) else noun
        return _placed(question[: match.start()] + noun, answer, question[match.end() :])
    return None


def _vietnamese_number(question: str, span: Span, answer: str) -> Statement:
    after = question[span[1] :]
    noun = re.match(r" (\w+)", after)
    # "37 triệu hành khách" already names what is counted; the question's noun would say it twice.
    if noun and re.search(rf"\b{re.escape(noun.group(1))}\b", answer, re.IGNORECASE):
        counted = answer.casefold().split(noun.group(1).casefold(), 1)[1].split()
        words_after = after.split()
        drop = 1
        while drop <= len(counted) and drop < len(words_after) and words_after[drop].casefold() == counted[drop - 1]:
            drop += 1
        after = " " + " ".join(words_after[drop:])
    return _placed(question[: span[0]], answer, after)


def _english(question: str, answer: str) -> Statement | None:
    question = question.rstrip("? ")
    for maker in (_english_subject, _english_time_or_place, _english_be, _english_in_place):
        made = maker(question, answer)
        if made is not None:
            return made
    return None


def _english_subject(question: str, answer: str) -> Statement | None:
    """Who wrote it? Which team won?"""
    match = re.match(
        rf"(?:who|what)(?:'s)? (?!{_AUXILIARY}\b|kind|type|sort|percent)(\w+(?:ed|s|t|d|e|w|n|k)) ", question, re.I
    )
    if match and not re.match(r"(?:what) \w+ (?:is|are|was|were|did|does|do|has|have|can|of|in|for)\b", question, re.I):
        return _placed("", answer, " " + question.split(" ", 1)[1])
    match = re.match(r"who (?:is|was|are|were|has|had|can|will) (?=\w+(?:ed|ing|en|n|t)\b)", question, re.I)
    if match:
        return _placed("", answer, " " + question.split(" ", 1)[1])
    match = _EN_WHICH_SUBJECT.match(question)
    if match:
        return _placed("", answer, " " + question[match.start(1) :])
    return None


def _english_time_or_place(question: str, answer: str) -> Statement | None:
    """When was Guillotin born? In what year did it open? Where is it found?"""
    match = re.match(
        rf"(when|where|in what year|in which year|what year|in what city|in which city|in what country) {_AUXILIARY} (.+)$",
        question, re.I,
    )  # fmt: skip
    if match is None:
        return None
    asked, auxiliary, rest = match.group(1).casefold(), match.group(2).casefold(), match.group(3)
    has_preposition = re.match(
        r"(?:in|on|at|by|near|from|during|after|before|since|around|between|within)\b", answer, re.I
    )
    preposition = "" if has_preposition else "in "
    if asked == "when" and re.search(r"\d{1,2} \w+ \d{4}|[A-Z]\w+ \d{1,2}", answer):
        preposition = "" if has_preposition else "on "
    opening = preposition.capitalize() if preposition else ""
    text, span = _placed(opening, answer, ", " + _inverted(auxiliary, rest))
    return text, span


def _inverted(auxiliary: str, rest: str) -> str:
    """Subject before the auxiliary again, where the verb's place can be told by its form."""
    parts = rest.split(" ")
    if auxiliary in ("did", "does", "do"):
        return rest
    for place, part in enumerate(parts):
        if place and re.fullmatch(r"\w+(?:ed|ing|en|rn|wn|lt|nt|ld|pt|de|found|made|held|set|known|located)", part):
            return " ".join([*parts[:place], auxiliary, *parts[place:]])
    return f"{rest} {auxiliary}" if len(parts) <= 3 else f"{' '.join(parts[:-1])} {auxiliary} {parts[-1]}"


def _english_be(question: str, answer: str) -> Statement | None:
    """What is the name of it? Who was the king?"""
    match = re.match(
        r"(?:what|who|which) (is|was|are|were) ((?:the|a|an|his|her|its|their|one|another|some|two|[A-Z]\w+(?:'s|’s)) .+)$",
        question,
        re.I,
    )
    if match is None:
        return None
    subject = match.group(2)
    return _placed(f"{subject} {match.group(1).casefold()} ", answer, "")


def _english_in_place(question: str, answer: str) -> Statement | None:
    """It was named after whom? The work was done in which year?"""
    match = re.search(r"(?:\bwhat|\bwho|\bwhom|\bhow many|\bwhich \w+|\bwhat \w+)$", question, re.I)
    if match is None or match.start() < 10:
        return None
    return _placed(question[: match.start()], answer, "")
