"""What if the policy were another: which decisions flip, in which direction, and whether people agree with the flips.

Every request is judged under both policies as of the same moment, so that a flip is due to the policies alone. A recorded verdict stands
for one of them only where policy, model and version agree with it; else it is judged again, and where its texts are not there as they
were it is counted apart. Requests are read in batches and nothing but counts and a few examples is kept.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Final, Literal

from stillme.audit.chain.record import Entry, Record
from stillme.audit.query import Filter
from stillme.audit.review.cases import altered, request_of, verdict_of
from stillme.audit.review.listing import newest, reviews, text_state
from stillme.audit.store import AuditStore
from stillme.contract import Verdict, VerifyRequest, parse_request
from stillme.decision import STRICTNESS, asked
from stillme.errors import InputError
from stillme.evaluation.changes import SettingChange, policy_changes
from stillme.evaluation.rollout.review_labels import Opinion, Truth, agrees, opinions
from stillme.evaluation.runs.cases import Case
from stillme.guard import Guard, check_limits, grounder_for
from stillme.policy import Policy
from stillme.reasons import Decision, Gate
from stillme.verification.memory import JudgedOnce
from stillme.version import __version__

__all__ = ["NO_VERDICT", "FlipExample", "Flow", "RecordedTraffic", "Slice", "WhatIf", "what_if"]

BATCH: Final = 32
NO_VERDICT: Final = "no verdict"
LONGEST_TEXT: Final = 200
# Names that callers choose are counted up to so many; the rest together.
MOST_NAMES: Final = 200
OTHERS: Final = "(others)"
UNNAMED: Final = "(none)"
Standing = Literal["with", "against", "neither", "unlabelled"]
NOT_READABLE: Final = {
    "redacted": "parts of its texts were blanked",
    "hashed": "only hashes of its texts were kept",
    "not kept": "its texts were not kept",
    "gone": "its texts are gone",
    "none": "it has no texts",
}
REFUSED: Final = "it is over a limit of both policies, or no request at all"
# What reading a record that is not as it was written may lead to.
_MISREAD: Final = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


# what is compared


@dataclass(frozen=True, slots=True)
class RecordedTraffic:
    """The recorded verdicts of a store that a filter takes; with `newest` only so many, and with `reviewed` only those with a label."""

    store: AuditStore
    wanted: Filter = field(default_factory=Filter)
    newest: int | None = None
    reviewed: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """A direction in which decisions go, how often, and what labels or expected decisions say to that."""

    before: str
    after: str
    count: int
    with_labels: int = 0
    against_labels: int = 0
    neither: int = 0
    unlabelled: int = 0


@dataclass(frozen=True, slots=True)
class Slice:
    """The flips of one reason code, language or domain; `judged` is None for a code, since most requests have none."""

    by: Literal["reason", "language", "domain"]
    name: str
    judged: int | None
    flips: tuple[Flow, ...]


@dataclass(frozen=True, slots=True)
class FlipExample:
    """A flip to look at; its texts are shortened and untrusted. `codes` are those that ask for the stricter decision."""

    name: str
    before: str
    after: str
    codes: tuple[str, ...]
    language: str
    domain: str | None
    truth: str | None
    standing: Standing
    query: str
    draft: str


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What changes from one policy to the other; `flips` are of decisions, `actions` of what the modes make of them.

    `reused` verdicts were taken from records; `made_otherwise` are records of another model, or with validators that a program had
    added: they are judged again without those. `labelled` requests have a label or an expected decision; `right_before` and
    `right_after` of them are decided like that.
    """

    before: str
    after: str
    changes: tuple[SettingChange, ...]
    judged: int
    reused: int
    made_otherwise: int
    not_judged: tuple[tuple[str, int], ...]
    flips: tuple[Flow, ...]
    actions: tuple[Flow, ...]
    slices: tuple[Slice, ...]
    labelled: int
    right_before: int
    right_after: int
    examples: tuple[FlipExample, ...]

    @property
    def flipped(self) -> int:
        return sum(flow.count for flow in self.flips)

    @property
    def against(self) -> int:
        """How many flips go against a label or an expected decision."""
        return sum(flow.against_labels for flow in self.flips)

    @property
    def unjudged(self) -> int:
        """How many requests could not be judged again."""
        return sum(count for _, count in self.not_judged)


def what_if(
    before: Policy,
    after: Policy,
    source: Iterable[Case] | RecordedTraffic,
    *,
    as_of: datetime,
    examples: int = 3,
    advance: Callable[[int], None] | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> WhatIf:
    """Judge every request of the source under both policies and count what differs.

    `as_of` is the moment for cases that name none; a recorded request keeps its own. `examples` are kept for each direction.
    Where `is_over` says so between two batches the rest is left unread.
    """
    if examples < 0:
        raise InputError(f"examples must be 0 or more, got {examples}")
    bench, tally = _BothGuards(before, after), _FlipCounts(examples)
    items = _traffic(source) if isinstance(source, RecordedTraffic) else (_of_case(case, as_of) for case in source)
    while not is_over() and (batch := list(islice(items, BATCH))):
        for item, old, new in bench.judged(batch, tally):
            tally.take(item, old, new)
        if advance is not None:
            advance(len(batch))
    return tally.result(before, after, bench)


# one request, judged twice


@dataclass(frozen=True, slots=True)
class _Item:
    name: str
    request: VerifyRequest | None = None
    truth: Truth | None = None
    recorded: Entry | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _Ruling:
    """What one policy makes of a request."""

    decision: str
    action: str
    codes: tuple[str, ...] = ()
    language: str | None = None


_NONE: Final = _Ruling(NO_VERDICT, NO_VERDICT)


def _of_case(case: Case, as_of: datetime) -> _Item:
    request = case.request
    dated = request if request.as_of is not None else request.model_copy(update={"as_of": as_of})
    return _Item(case.id, dated, case.expected.value if case.expected else None)


def _traffic(source: RecordedTraffic) -> Iterator[_Item]:
    store = source.store
    known = opinions(reviews(store, Filter()))

    def keep(record: Record) -> bool:
        return not source.reviewed or (record.entry is not None and record.entry.id in known)

    wanted = replace(source.wanted, kind="verdict")
    for record in store.records(wanted) if source.newest is None else newest(store, wanted, source.newest, keep):
        if record.entry is not None and keep(record):
            yield _of_record(record, record.entry, known.get(record.entry.id))


def _of_record(record: Record, entry: Entry, said: Opinion | None) -> _Item:
    try:
        state = text_state(entry)
        if state != "kept":
            return _Item(entry.id, problem=NOT_READABLE[state])
        if altered(record):
            return _Item(entry.id, problem="it is not as it was written: run `stillme audit verify`")
        request, as_of = request_of(entry), json.loads(entry.meta)["as_of"]
        if request is None:
            return _Item(entry.id, problem="this version cannot read its request")
        dated = request.model_copy(update={"as_of": datetime.fromisoformat(as_of)})
    except _MISREAD:
        return _Item(entry.id, problem="it cannot be read: run `stillme audit verify`")
    return _Item(entry.id, dated, said.truth(str(entry.decision)) if said else None, entry)


class _BothGuards:
    """Both guards, and which recorded verdicts stand for one of them."""

    def __init__(self, before: Policy, after: Policy) -> None:
        # One memory for policies that ground alike: what both ask is judged once.
        self._memories = {id(g): JudgedOnce(g) for g in map(grounder_for, (before, after))}
        self._sides = [_Judge(policy, self._memories[id(grounder_for(policy))]) for policy in (before, after)]
        self.made_otherwise = 0

    @property
    def reused(self) -> int:
        """How many verdicts were taken from records."""
        return sum(side.reused for side in self._sides)

    def judged(self, items: Sequence[_Item], tally: _FlipCounts) -> Iterator[tuple[_Item, _Ruling, _Ruling]]:
        """What both policies make of the items that at least one of them can judge; the others are counted."""
        readable = [item for item in items if item.request is not None]
        self.made_otherwise += sum(self._made_otherwise(item.recorded) for item in readable if item.recorded)
        tally.not_judged.update(str(item.problem) for item in items if item.request is None)
        old, new = (side.judge(readable) for side in self._sides)
        for item, one, other in zip(readable, old, new, strict=True):
            if one is _NONE and other is _NONE:
                tally.not_judged[REFUSED] += 1
            else:
                yield item, one, other
        for memory in self._memories.values():
            memory.forget()

    def _made_otherwise(self, entry: Entry) -> bool:
        models = {memory.id for memory in self._memories.values()}
        return entry.model not in models or bool(json.loads(entry.meta)["added"])


class _Judge:
    """One of the two policies."""

    def __init__(self, policy: Policy, grounder: JudgedOnce) -> None:
        self._policy = policy
        self._model = grounder.id
        self._guard = Guard(policy, grounder=grounder)
        self.reused = 0

    def judge(self, items: Sequence[_Item]) -> list[_Ruling]:
        """What the policy makes of each; no verdict where a request is over one of its limits."""
        known = [self._standing(item) for item in items]
        waiting = [item.request for item, side in zip(items, known, strict=True) if side is None]
        requests = (request for request in waiting if request is not None)
        fresh = iter(self._guard.examine_batch(requests, record=False))
        return [side or _side(next(fresh).verdict) for side in known]

    def _standing(self, item: _Item) -> _Ruling | None:
        """What is known without judging: that of a record made under the same conditions, or that a limit forbids it."""
        if item.recorded is not None and self._made_alike(item.recorded):
            self.reused += 1
            return _side(verdict_of(item.recorded))
        try:
            check_limits(parse_request(item.request or {}), self._policy)
        except InputError:
            return _NONE
        return None

    def _made_alike(self, entry: Entry) -> bool:
        meta = json.loads(entry.meta)
        return (
            meta["policy_hash"] == self._policy.hash
            and entry.model == self._model
            and entry.version == __version__
            and not meta["added"]
            # What failed or ran out of time then need not do so again.
            and all(finding[1] != "errored" for finding in meta["findings"])
        )


def _side(verdict: Verdict) -> _Ruling:
    decision = Decision(verdict.decision)
    hard = [f for f in verdict.findings if f.reason and f.gate is Gate.HARD and not f.repaired]
    asking = [str(f.reason) for f in hard if asked(f.outcome, str(f.reason)) is decision]
    return _Ruling(decision.value, verdict.action, tuple(dict.fromkeys(asking)), verdict.language)


# counting

_STRICTNESS: Final = {**{decision.value: n for decision, n in STRICTNESS.items()}, NO_VERDICT: len(STRICTNESS)}
_ORDER: Final = tuple(_STRICTNESS)
Direction = tuple[str, str]


@dataclass(slots=True)
class _FlipCounts:
    examples: int
    not_judged: Counter[str] = field(default_factory=Counter)
    judged: int = 0
    labelled: int = 0
    right: list[int] = field(default_factory=lambda: [0, 0])
    flips: dict[Direction, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    actions: Counter[Direction] = field(default_factory=Counter)
    slices: dict[tuple[str, str], dict[Direction, Counter[str]]] = field(default_factory=dict)
    totals: Counter[tuple[str, str]] = field(default_factory=Counter)
    names: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    kept: dict[tuple[Direction, bool], list[FlipExample]] = field(default_factory=lambda: defaultdict(list))

    def take(self, item: _Item, old: _Ruling, new: _Ruling) -> None:
        self.judged += 1
        if item.truth is not None:
            self.labelled += 1
            self.right[0] += agrees(item.truth, old.decision)
            self.right[1] += agrees(item.truth, new.decision)
        places = self._places(item, old, new)
        self.totals.update(places)
        if old.action != new.action:
            self.actions[old.action, new.action] += 1
        if old.decision != new.decision:
            self._flip(item, old, new, places)

    def _places(self, item: _Item, old: _Ruling, new: _Ruling) -> list[tuple[str, str]]:
        """The language and the domain that the request is counted under."""
        domain = item.request.metadata.domain if item.request else None
        named = [("language", str(old.language or new.language)), ("domain", domain or UNNAMED)]
        return [(by, self._name(by, name)) for by, name in named]

    def _name(self, by: str, name: str) -> str:
        known = self.names[by]
        if name not in known and len(known) >= MOST_NAMES:
            return OTHERS
        known.add(name)
        return name

    def _flip(self, item: _Item, old: _Ruling, new: _Ruling, places: list[tuple[str, str]]) -> None:
        direction, standing = (old.decision, new.decision), _standing(item.truth, old, new)
        stricter = max(old, new, key=lambda side: _STRICTNESS[side.decision])
        self.flips[direction][standing] += 1
        codes = [("reason", self._name("reason", code)) for code in stricter.codes]
        for place in places + codes:
            self.slices.setdefault(place, defaultdict(Counter))[direction][standing] += 1
        kept = self.kept[direction, standing == "against"]
        if len(kept) < self.examples:
            kept.append(_example(item, old, new, stricter, standing))

    def result(self, before: Policy, after: Policy, bench: _BothGuards) -> WhatIf:
        return WhatIf(
            before=before.hash,
            after=after.hash,
            changes=policy_changes(before, after),
            judged=self.judged,
            reused=bench.reused,
            made_otherwise=bench.made_otherwise,
            not_judged=tuple(sorted(self.not_judged.items())),
            flips=_flows(self.flips),
            actions=tuple(Flow(*pair, count, unlabelled=0) for pair, count in sorted(self.actions.items())),
            slices=tuple(self._slices()),
            labelled=self.labelled,
            right_before=self.right[0],
            right_after=self.right[1],
            examples=tuple(self._examples()),
        )

    def _slices(self) -> Iterator[Slice]:
        for by in ("reason", "language", "domain"):
            for place in sorted(place for place in self.slices if place[0] == by):
                judged = None if by == "reason" else self.totals[place]
                yield Slice(by, place[1], judged, _flows(self.slices[place]))

    def _examples(self) -> Iterator[FlipExample]:
        """For each direction, those that go against a label first."""
        for direction in sorted(self.flips, key=_in_order):
            yield from [*self.kept[direction, True], *self.kept[direction, False]][: self.examples]


def _standing(truth: Truth | None, old: _Ruling, new: _Ruling) -> Standing:
    if truth is None:
        return "unlabelled"
    was, is_now = agrees(truth, old.decision), agrees(truth, new.decision)
    if was == is_now:
        return "neither"
    return "with" if is_now else "against"


def _example(item: _Item, old: _Ruling, new: _Ruling, stricter: _Ruling, standing: Standing) -> FlipExample:
    request = item.request or VerifyRequest(query="-")
    return FlipExample(
        name=item.name,
        before=old.decision,
        after=new.decision,
        codes=stricter.codes,
        language=str(old.language or new.language),
        domain=_short(request.metadata.domain) if request.metadata.domain else None,
        truth=item.truth,
        standing=standing,
        query=_short(request.query),
        draft=_short(request.draft_answer or ""),
    )


def _short(text: str) -> str:
    line = " ".join(text[: 2 * LONGEST_TEXT].split())
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"


def _flows(counted: Mapping[Direction, Counter[str]]) -> tuple[Flow, ...]:
    kinds = ("with", "against", "neither", "unlabelled")
    rows = [(pair, counted[pair]) for pair in sorted(counted, key=_in_order)]
    return tuple(Flow(*pair, said.total(), *(said[kind] for kind in kinds)) for pair, said in rows)


def _in_order(pair: Direction) -> tuple[int, int]:
    return _ORDER.index(pair[0]), _ORDER.index(pair[1])
