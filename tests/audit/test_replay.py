"""A stored request gives the same verdict again, or it is said exactly where it differs and why, or why it cannot be told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings

from stillme import Guard
from stillme.audit import AuditStore, Filter
from stillme.audit.chain.record import Body, Entry, compact, sha256
from stillme.audit.replay import Difference, Replay, Replayer
from stillme.audit.retention import erase, prune
from stillme.audit.review.reviews import review
from stillme.errors import InputError
from stillme.guard import grounder_for
from stillme.policy import Policy
from stillme.policy.sections import Retention
from stillme.reasons import Gate
from stillme.storage.audit.database import POLICY
from stillme.validators.base import Finding
from stillme.version import __version__
from tests.audit.conftest import KEY, request
from tests.audit.support import POLICIES, REQUESTS, Tables, trace, verdicts
from tests.policy.conftest import sample
from tests.soak import examples

__all__ = ["sample"]  # a fixture


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuditStore]:
    """A store in a file for all tests of this module: replaying does not depend on the engine."""
    folder = tmp_path_factory.mktemp("replay")
    store = AuditStore(folder / "audit.db", key=KEY, journal=folder / "journal")
    yield store
    store.close()


def recorded(store: AuditStore, given: dict[str, Any], policy: Any = None, **guard: Any) -> Entry:
    """What the store has of a verdict just given."""
    verdict = Guard({**(policy or {}), "audit": (policy or {}).get("audit", {})}, audit=store, **guard).verify(given)
    name = verdict.validator_trace_id
    found = store.find(name).entry if name else list(store.records(Filter(kind="verdict")))[-1].entry
    assert found is not None
    return found


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(given=REQUESTS, policy=POLICIES)
def test_a_replay_gives_the_same_verdict(shelf: AuditStore, given: dict[str, Any], policy: dict[str, Any]) -> None:
    """In both languages, with or without a draft, under any preset, mode and setting."""
    entry = recorded(shelf, given, policy)

    assert Replayer(shelf).replay(entry) == Replay(entry.id, "same")


def test_a_replay_on_either_engine(store: AuditStore) -> None:
    """What a database gave back replays like what was put in."""
    entries = [recorded(store, request(), {"extends": preset}) for preset in ("lite", "book", "strict")]
    replayer = Replayer(store)

    assert [replayer.replay(entry).outcome for entry in entries] == ["same"] * 3


def test_years_later_the_day_of_the_verdict_counts(shelf: AuditStore) -> None:
    """A date that was in the future then is judged as of then."""
    given = request(query="When does it open?", draft_answer="The hall opens on 3 May 2021.", as_of="2020-01-01")
    then = recorded(shelf, given)
    without = recorded(shelf, {key: value for key, value in given.items() if key != "as_of"})

    assert "unsupported_future_date" in str(then.reasons)
    assert "unsupported_future_date" not in str(without.reasons)
    assert [Replayer(shelf).replay(entry).outcome for entry in (then, without)] == ["same", "same"]


def test_odd_extra_keys_do_not_keep_a_verdict_from_being_replayed(shelf: AuditStore) -> None:
    """They are no part of what is verified."""
    entry = recorded(shelf, request(metadata={"language": "en", "extra": [object(), "\ud800", 10**5000]}))

    assert Replayer(shelf).replay(entry).outcome == "same"


# plugins and what a program adds


@pytest.mark.usefixtures("sample")
def test_a_policy_with_a_plugin_replays_with_the_plugin(shelf: AuditStore) -> None:
    """The stored policy names it and its parameters."""
    loud = request(draft_answer="Gear can be returned within 30 days of delivery!!! [1]")
    entry = recorded(shelf, loud, {"validators": {"CalmTone": {"allowed": 2}}})

    assert "shouting" in str(entry.reasons)
    assert Replayer(shelf).replay(entry) == Replay(entry.id, "same")


@pytest.mark.usefixtures("sample")
def test_a_policy_whose_plugin_is_gone_is_not_replayable(shelf: AuditStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says which validator is not there, and is no traceback."""
    entry = recorded(shelf, request(), {"validators": {"CalmTone": {"allowed": 2}}})
    monkeypatch.undo()

    found = Replayer(shelf).replay(entry)

    assert found.outcome == "not replayable"
    assert "its policy cannot be used any more" in found.causes[0]
    assert "CalmTone" in found.causes[0]


class Shouting:
    """A program's own validator."""

    name: ClassVar[str] = "Shouting"

    def run(self, _: Any) -> Finding:
        return Finding("Shouting", "flagged", "draft", Gate.HARD, "shouting", "it shouts")


def test_validators_that_a_program_added_are_needed_again(shelf: AuditStore) -> None:
    """With them the verdict is the same; without them it is said that they are missing."""
    entry = recorded(shelf, request(), validators=[Shouting()])

    with_it = Replayer(shelf, validators=[Shouting()]).replay(entry)
    without = Replayer(shelf).replay(entry)

    assert with_it == Replay(entry.id, "same")
    assert without.outcome == "different"
    assert without.causes == ("validators that the program had added: Shouting, now none",)
    assert Difference("decision", "refuse", "answer") in without.differences


DEFAULT_GROUNDER = grounder_for(Policy.load())


class OtherGrounder:
    """The default grounder under another name."""

    id = "other-grounder"

    def judge(self, tasks: Any) -> Any:
        return DEFAULT_GROUNDER.judge(tasks)


def test_another_model_with_the_same_result_is_the_same_and_said(shelf: AuditStore) -> None:
    """What changed is named although it made no difference; with the model of then nothing changed."""
    entry = recorded(shelf, request(), grounder=OtherGrounder())

    found = Replayer(shelf).replay(entry)

    assert found == Replay(
        entry.id, "same", (f"model: recorded with other-grounder, replayed with {DEFAULT_GROUNDER.id}",)
    )
    assert Replayer(shelf, grounder=OtherGrounder()).replay(entry) == Replay(entry.id, "same")


class Doubting(OtherGrounder):
    """A grounder that believes nothing."""

    id = "doubting"

    def judge(self, tasks: Any) -> Any:
        return [[replace(j, status="unsupported", score=0.1) for j in judged] for judged in super().judge(tasks)]


def test_another_model_with_another_result_is_named(shelf: AuditStore) -> None:
    """Where the verdicts differ is told place by place, and that the model is another one."""
    entry = recorded(shelf, request(), {"mode": "enforce"})

    found = Replayer(shelf, grounder=Doubting()).replay(entry)

    assert (found.outcome, found.causes) == (
        "different",
        (f"model: recorded with {DEFAULT_GROUNDER.id}, replayed with doubting",),
    )
    assert Difference("claims[0].status", "supported", "unsupported") in found.differences
    assert Difference("decision", "answer", "refuse") in found.differences
    assert "model_id" not in {difference.path for difference in found.differences}


def test_another_version_is_named(shelf: AuditStore) -> None:
    """Same verdict, other version: the same, and said; another verdict: different, and the version is the cause."""
    entry = recorded(shelf, request())
    older = replace(entry, version="0.0.1")
    changed = replace(older, decision="refuse")

    same, different = Replayer(shelf).replay(older), Replayer(shelf).replay(changed)

    cause = f"version: recorded by 0.0.1, replayed by {__version__}"
    assert same == Replay(entry.id, "same", (cause,))
    assert different == Replay(entry.id, "different", (cause,), (Difference("decision", "refuse", "answer"),))


def test_a_policy_that_is_read_otherwise_is_named(shelf: AuditStore) -> None:
    """A version that knows more settings gives the stored policy another hash."""
    entry = recorded(shelf, request())
    meta = json.loads(entry.meta)

    found = Replayer(shelf).replay(replace(entry, meta=compact({**meta, "policy_hash": "0" * 64, "calibrated": True})))

    assert (found.outcome, found.causes) == (
        "different",
        ("policy: this version reads more or other settings out of the stored policy",),
    )
    assert found.differences == (Difference("calibrated", True, False),)


def test_a_difference_that_nothing_explains_is_said(shelf: AuditStore) -> None:
    """Same version, model and policy, another verdict: then something else is wrong, and that is said."""
    entry = recorded(shelf, request())

    found = Replayer(shelf).replay(replace(entry, band="low"))

    assert found == Replay(
        entry.id,
        "different",
        ("nothing that is recorded explains it",),
        (Difference("confidence_band", "low", "medium"),),
    )


def test_a_validator_that_failed_then_is_a_cause(shelf: AuditStore) -> None:
    """A timeout is no property of the request: the verdict of a calmer moment may differ."""

    class Failing(Shouting):
        def run(self, _: Any) -> Finding:
            raise RuntimeError("no disk")

    entry = recorded(shelf, request(), validators=[Failing()])

    found = Replayer(shelf, validators=[Shouting()]).replay(entry)

    assert (found.outcome, found.causes) == (
        "different",
        ("a validator failed or timed out when the verdict was made",),
    )


# what cannot be replayed


def replays(store: AuditStore, entry: Entry) -> tuple[str, tuple[str, ...]]:
    found = Replayer(store).replay(entry)
    return found.outcome, found.causes


@pytest.mark.parametrize(
    ("content", "cause"),
    [("hashed", "only hashes of its texts were kept"), ("none", "its texts were not kept")],
)
def test_without_the_texts_nothing_is_replayed(shelf: AuditStore, content: str, cause: str) -> None:
    """It says how the texts were kept."""
    entry = recorded(shelf, request(), {"audit": {"content": content}})

    assert replays(shelf, entry) == ("not replayable", (cause,))


def test_erased_and_removed_texts_are_not_replayed(shelf: AuditStore) -> None:
    """Nor are those that retention took."""
    erased, old = verdicts()[0], verdicts(days_ago=400)[0]
    shelf.record([erased, old])
    erase(shelf, Filter(id=trace(erased)), who="a customer", why="asked")
    prune(shelf, Retention.model_validate({"verdict": {"text_days": 365}}))

    for one in (erased, old):
        entry = shelf.find(trace(one)).entry
        assert entry is not None
        assert replays(shelf, entry) == ("not replayable", ("its texts were erased",))


def test_redacted_texts_are_not_replayed(shelf: AuditStore) -> None:
    """A blanked place may have been what decided."""
    redact = {"audit": {"redact": {"email": True}}}
    blanked = recorded(shelf, request(query="May I write to lan@shop.example?"), redact)
    untouched = recorded(shelf, request(), redact)

    assert replays(shelf, blanked) == ("not replayable", ("parts of its texts were redacted",))
    assert replays(shelf, untouched) == ("same", ())


def with_request(entry: Entry, **changes: Any) -> Entry:
    """The entry as a version might have written it whose requests had other fields."""
    assert entry.body is not None
    body = json.loads(entry.body.text)
    body["request"] = {key: value for key, value in {**body["request"], **changes}.items() if value is not ...}
    kept = Body.of(compact(body))
    return replace(entry, body=kept, body_digest=kept.digest)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param({"tone": "calm"}, "unknown key 'tone'", id="a field that is gone"),
        pytest.param({"query": ...}, "query is missing", id="a field that is now required"),
        pytest.param({"query": "x" * 9000}, "limits.query_chars is 8000", id="a limit that is now lower"),
        pytest.param(
            {"retrieved_context": [{"text": "no id"}]}, "source_id is missing", id="a passage that is read otherwise"
        ),
        pytest.param({"query": " "}, "query is blank", id="a question that is none"),
    ],
)
def test_a_request_that_is_not_accepted_any_more(shelf: AuditStore, changes: dict[str, Any], problem: str) -> None:
    """A request that this version does not take is not replayable, never a traceback."""
    outcome, causes = replays(shelf, with_request(recorded(shelf, request()), **changes))

    assert outcome == "not replayable"
    assert causes[0].startswith("its request is not accepted any more: ")
    assert problem in causes[0]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"meta": "{}"}, id="an empty meta"),
        pytest.param({"meta": "[]"}, id="a meta that is a list"),
        pytest.param({"meta": "no JSON"}, id="a meta that is no JSON"),
        pytest.param({"meta": "[" * 100_000}, id="a meta nested without end"),
        pytest.param({"meta": None}, id="no meta"),
        pytest.param({"meta": '{"content":"half"}'}, id="a content that is none"),
        pytest.param({"meta": '{"content":"full","blanked":0}'}, id="half a meta"),
        pytest.param(
            {"body": Body("no JSON", "x"), "body_digest": Body("no JSON", "x").digest}, id="a body that is no JSON"
        ),
        pytest.param({"body": Body("{}", "x"), "body_digest": Body("{}", "x").digest}, id="an empty body"),
        pytest.param({"body": Body("[]", "x"), "body_digest": Body("[]", "x").digest}, id="a body that is a list"),
    ],
)
def test_a_record_that_cannot_be_read_is_not_replayable(shelf: AuditStore, change: dict[str, Any]) -> None:
    """Whatever somebody made of it: the replay goes on to the next."""
    entry = replace(recorded(shelf, request()), **change)

    assert replays(shelf, entry) == ("not replayable", ("its record cannot be read: run `stillme audit verify`",))


def test_texts_that_were_changed_are_not_replayed(shelf: AuditStore) -> None:
    """A replay of other texts would prove nothing."""
    entry = recorded(shelf, request())
    assert entry.body is not None
    edited = replace(entry, body=Body(entry.body.text.replace("30", "31"), entry.body.salt))

    assert replays(shelf, edited) == (
        "not replayable",
        ("its texts are not what they were: run `stillme audit verify`",),
    )


@pytest.mark.parametrize(
    ("text", "is_own", "cause"),
    [
        pytest.param(None, False, "its policy is not in the store", id="deleted"),
        pytest.param("mode: warn", False, "its policy was changed: run `stillme audit verify`", id="edited"),
        pytest.param("mode: [", True, "its policy cannot be used any more", id="no YAML"),
        pytest.param("mode: loud", True, "its policy cannot be used any more", id="a mode that is gone"),
        pytest.param("gears: 5", True, "its policy cannot be used any more", id="a key that is gone"),
        pytest.param("/etc/hostname", True, "its policy cannot be used any more", id="a path is not followed"),
        pytest.param("strict", True, "its policy cannot be used any more", id="a name is not a policy"),
    ],
)
def test_a_policy_that_cannot_be_used(tmp_path: Path, text: str | None, is_own: bool, cause: str) -> None:
    """Gone, edited or not understood any more: not replayable, with the reason."""
    with AuditStore(tmp_path / "audit.db", key=KEY, journal=tmp_path / "journal") as store:
        entry, tables = recorded(store, request()), Tables(str(tmp_path / "audit.db"))
        if text is None:
            tables.run(f"DELETE FROM {POLICY}")  # noqa: S608  (a name of ours)
        else:
            tables.run(f"UPDATE {POLICY} SET text = ?", text)  # noqa: S608
        if text is not None and is_own:
            tables.run(f"UPDATE {POLICY} SET digest = ?", sha256(text))  # noqa: S608
            entry = replace(entry, policy=sha256(text))
        tables.close()

        outcome, causes = replays(store, entry)

    assert outcome == "not replayable"
    assert causes[0].startswith(cause)


def test_only_verdicts_are_replayed(shelf: AuditStore) -> None:
    """A review has no request."""
    entry = recorded(shelf, request())

    with pytest.raises(InputError, match="is a review: only verdicts can be replayed"):
        Replayer(shelf).replay(review(shelf, entry.id, "correct", "lan"))


def test_a_replay_records_nothing(shelf: AuditStore) -> None:
    """The store is as it was."""
    entry = recorded(shelf, request())
    before = shelf.head()

    Replayer(shelf).replay(entry)

    assert shelf.head() == before
