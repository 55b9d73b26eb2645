"""Two policies on the same requests: what differs between them, which decisions flip, and who agrees with that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.record import Entry
from stillme.audit.retention import erase
from stillme.contract import VerifyRequest
from stillme.errors import InputError
from stillme.evaluation.runs.cases import Case
from stillme.evaluation.whatif import Flow, RecordedTraffic, Slice, what_if
from stillme.policy import Policy
from tests.audit.conftest import KEY, occurrence, request

NOW = datetime(2026, 2, 16, 9, tzinfo=UTC)
MILD = Policy.load({"grounding": {"model": "none"}})
CLOSE = Policy.load(
    {
        "grounding": {"model": "none"},
        "thresholds": {"min_similarity_for_factual": 0.7, "min_similarity_for_source_required": 0.7},
    }
)
PASSAGE = "We accept returns of unused gear within 30 days of delivery."
VIETNAMESE = {
    "query": "Thời hạn trả hàng là bao nhiêu ngày?",
    "draft_answer": "Thời hạn trả hàng là 30 ngày [1].",
    "text": "Thời hạn trả hàng là 30 ngày.",
}


def asked(similarity: float, language: str = "en", domain: str | None = "shop", **changes: Any) -> dict[str, Any]:
    """A request whose draft is supported by a passage of some similarity."""
    vietnamese = language == "vi"
    passage = {"source_id": "faq", "text": VIETNAMESE["text"] if vietnamese else PASSAGE, "similarity": similarity}
    said = {name: VIETNAMESE[name] for name in ("query", "draft_answer")} if vietnamese else {}
    return request(
        **{"retrieved_context": [passage], "metadata": {"language": language, "domain": domain}, **said, **changes}
    )


def case(name: str, similarity: float, expected: str | None = None, **changes: Any) -> Case:
    return Case.model_validate({"id": name, "request": asked(similarity, **changes), "expected": expected})


CASES = [
    case("near", 0.9, "answer"),
    case("between, to be answered", 0.6, "answer"),
    case("between, to be refused", 0.6, "refuse"),
    case("between, to be asked back", 0.6, "ask_clarify", domain=None),
    case("between, who knows", 0.6, language="vi"),
    case("far", 0.2, "refuse", language="vi", domain=None),
]
FLOW = Flow("answer", "refuse", 4, with_labels=1, against_labels=1, neither=1, unlabelled=1)


def test_flips_are_counted_by_direction_code_language_and_domain_and_against_what_is_expected() -> None:
    """Four cases lie between the two thresholds; one of them should be refused, one answered, one asked back, one is not labelled."""
    found = what_if(MILD, CLOSE, CASES, as_of=NOW)

    assert (found.judged, found.reused, found.not_judged) == (6, 0, ())
    assert found.flips == (FLOW,)
    assert (found.flipped, found.against, found.unjudged) == (4, 1, 0)
    assert found.actions == ()
    assert (found.labelled, found.right_before, found.right_after) == (5, 3, 3)
    assert found.slices == (
        Slice("reason", "low_context_similarity", None, (FLOW,)),
        Slice("language", "en", 4, (Flow("answer", "refuse", 3, 1, 1, 1, 0),)),
        Slice("language", "vi", 2, (Flow("answer", "refuse", 1, 0, 0, 0, 1),)),
        Slice("domain", "(none)", 2, (Flow("answer", "refuse", 1, 0, 0, 1, 0),)),
        Slice("domain", "shop", 4, (Flow("answer", "refuse", 3, 1, 1, 0, 1),)),
    )


def test_the_other_way_round_every_flip_turns_and_so_do_the_labels() -> None:
    """What went against a label goes with it."""
    found = what_if(CLOSE, MILD, CASES, as_of=NOW)

    assert found.flips == (Flow("refuse", "answer", 4, with_labels=1, against_labels=1, neither=1, unlabelled=1),)
    assert (found.right_before, found.right_after) == (3, 3)


def test_examples_are_few_and_short_and_those_against_a_label_come_first() -> None:
    """Of each direction at most as many as were asked for."""
    long = case("long", 0.6, draft_answer="Unused gear can be returned within 30 days [1]. " * 40)

    found = what_if(MILD, CLOSE, [long, *CASES], as_of=NOW, examples=2)

    assert [(e.name, e.standing, e.codes) for e in found.examples] == [
        ("between, to be answered", "against", ("low_context_similarity",)),
        ("long", "unlabelled", ("low_context_similarity",)),
    ]
    assert len(found.examples[1].draft) == 200
    assert what_if(MILD, CLOSE, CASES, as_of=NOW, examples=0).examples == ()


def test_the_same_source_gives_the_same_result() -> None:
    """Nothing of a result depends on when or in what company a case is judged."""
    assert what_if(MILD, CLOSE, CASES * 9, as_of=NOW) == what_if(MILD, CLOSE, CASES * 9, as_of=NOW)


def test_actions_change_without_a_flip_where_only_the_mode_differs() -> None:
    """The decision is the same in every mode."""
    enforced = MILD.with_changes({"mode": "enforce"})

    found = what_if(MILD, enforced, CASES, as_of=NOW)

    assert found.flips == ()
    assert found.actions == (Flow("deliver", "block", 1),)


def test_a_request_over_a_limit_of_one_policy_alone_is_a_flip_to_no_verdict() -> None:
    """It is not passed over; over the limits of both it is counted apart."""
    narrow = MILD.with_changes({"limits": {"query_chars": 41}})  # the English question has 41 characters
    cases = [case("fits", 0.9), case("too long", 0.9, query="How long do I have to return unused gear, sir?")]

    assert what_if(MILD, narrow, cases, as_of=NOW).flips == (Flow("answer", "no verdict", 1, unlabelled=1),)
    both = what_if(narrow, narrow, cases, as_of=NOW)
    assert (both.judged, both.not_judged) == (1, (("it is over a limit of both policies, or no request at all", 1),))


def test_a_case_without_a_moment_is_judged_as_of_the_one_that_is_given() -> None:
    """A date that has passed by then is none of the future."""
    dated = case("dated", 0.9, draft_answer="Returns have been accepted since 3 May 2027 [1].")
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)
    hard = MILD.with_changes({"validators": {"FactualHallucinationValidator": {"enabled": False}}})
    without = hard.with_changes({"validators": {"FutureDatesValidator": {"enabled": False}}})

    assert what_if(hard, without, [dated], as_of=early).flipped == 1
    assert what_if(hard, without, [dated], as_of=late).flipped == 0


@pytest.mark.parametrize("count", [-1, -100])
def test_a_negative_number_of_examples_is_refused(count: int) -> None:
    with pytest.raises(InputError, match="examples must be 0 or more"):
        what_if(MILD, CLOSE, CASES, as_of=NOW, examples=count)


# recorded traffic


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AuditStore]:
    """A store in SQLite."""
    with AuditStore(tmp_path / "audit.db", key=KEY) as made:
        yield made


def kept(store: AuditStore, policy: Any, similarity: float, **changes: Any) -> str:
    """Record a verdict of the real guard; its trace id."""
    made = occurrence(policy, **asked(similarity, **changes))
    store.record([replace(made, at=NOW)])
    return str(made.verdict.validator_trace_id)


def label(store: AuditStore, trace: str, said: str, who: str = "lan") -> None:
    """Record a label at a time of our own."""
    at = "2026-02-16T10:00:00.000000Z"
    store.add([Entry("review", f"review-{uuid4()}", at, "{}", ref=trace, label=said, caller=who)])


def test_recorded_traffic_is_judged_again_and_flips_are_held_against_review_labels(store: AuditStore) -> None:
    """Made under the first policy, its verdicts are taken as they stand; the second one judges again."""
    for similarity, said in [(0.6, "correct"), (0.6, "missed_hallucination"), (0.6, "unclear"), (0.6, None)]:
        trace = kept(store, MILD, similarity)
        if said:
            label(store, trace, said)
    label(store, kept(store, MILD, 0.2), "false_refusal")

    found = what_if(MILD, CLOSE, RecordedTraffic(store), as_of=NOW)

    assert (found.judged, found.reused, found.made_otherwise) == (5, 5, 0)
    assert found.flips == (Flow("answer", "refuse", 4, with_labels=1, against_labels=1, neither=0, unlabelled=2),)
    assert (found.labelled, found.right_before, found.right_after) == (3, 1, 1)


def test_a_verdict_under_another_policy_is_judged_again_under_both(store: AuditStore) -> None:
    """What was recorded then stands for neither of them; the label is of the recorded decision."""
    trace = kept(store, {"thresholds": {"min_similarity_for_factual": 1.0}}, 0.6)  # refused, with the shipped model
    label(store, trace, "false_refusal")

    found = what_if(MILD, CLOSE, RecordedTraffic(store), as_of=NOW)

    assert (found.reused, found.made_otherwise) == (0, 1)
    assert found.flips == (Flow("answer", "refuse", 1, against_labels=1),)


@pytest.mark.parametrize(
    ("audit", "why"),
    [
        pytest.param({"content": "hashed"}, "only hashes of its texts were kept", id="hashed"),
        pytest.param({"content": "none"}, "its texts were not kept", id="not kept"),
        pytest.param({"redact": {"gear": "gear"}}, "parts of its texts were blanked", id="redacted"),
    ],
)
def test_texts_that_are_not_there_as_they_were_are_counted_and_said(store: AuditStore, audit: Any, why: str) -> None:
    """Judging what is left of a request would be judging another one."""
    kept(store, {"grounding": {"model": "none"}, "audit": audit}, 0.6)
    kept(store, MILD, 0.6)

    found = what_if(MILD, CLOSE, RecordedTraffic(store), as_of=NOW)

    assert (found.judged, found.not_judged) == (1, ((why, 1),))


def test_erased_and_altered_texts_are_counted_apart(store: AuditStore) -> None:
    """Neither is judged."""
    erase(store, Filter(id=kept(store, MILD, 0.6)), who="a customer", why="asked")
    kept(store, MILD, 0.6)
    store.database.write(
        lambda writing: writing.rows(
            "UPDATE stillme_audit_body SET text = replace(text, '30', '31') WHERE seq = (SELECT max(seq) FROM stillme_audit_body)"
        )
    )

    found = what_if(MILD, CLOSE, RecordedTraffic(store), as_of=NOW)

    assert found.judged == 0
    assert found.not_judged == (
        ("it is not as it was written: run `stillme audit verify`", 1),
        ("its texts are gone", 1),
    )


def test_a_filter_chooses_the_traffic(store: AuditStore) -> None:
    """Only what it takes is judged."""
    kept(store, MILD, 0.6)
    kept(store, MILD, 0.6, language="vi")

    found = what_if(MILD, CLOSE, RecordedTraffic(store, Filter(language="vi")), as_of=NOW)

    assert [(part.by, part.name, part.judged) for part in found.slices] == [
        ("reason", "low_context_similarity", None),
        ("language", "vi", 1),
        ("domain", "shop", 1),
    ]


def test_names_that_callers_choose_are_counted_up_to_a_number() -> None:
    """A domain for every request does not grow the result without end."""
    cases = [case(f"case {n}", 0.6, domain=f"domain {n:03}") for n in range(203)]

    domains = [part for part in what_if(MILD, CLOSE, cases, as_of=NOW).slices if part.by == "domain"]

    assert len(domains) == 201
    assert domains[0] == Slice("domain", "(others)", 3, (Flow("answer", "refuse", 3, unlabelled=3),))


# settings


def test_the_contract_is_not_in_the_way_of_requests_without_metadata() -> None:
    """The least that a request may be is judged like any other."""
    bare = Case(id="bare", request=VerifyRequest(query="How long can gear be returned?"))

    assert what_if(MILD, CLOSE, [bare], as_of=NOW).judged == 1


def test_the_source_is_read_a_batch_at_a_time() -> None:
    """A hundred thousand cases are never in memory together."""
    ahead, read, done = [], 0, 0

    def source() -> Iterator[Case]:
        nonlocal read
        for _ in range(100):
            read += 1
            yield CASES[0]

    def advance(count: int) -> None:
        nonlocal done
        ahead.append(read - done)
        done += count

    what_if(MILD, CLOSE, source(), as_of=NOW, advance=advance)

    assert (done, max(ahead)) == (100, 32)
