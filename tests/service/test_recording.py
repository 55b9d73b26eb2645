"""Nothing of an answer goes out that is not recorded: what began and did not come to its end says so."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.checking import check_store
from stillme.audit.chain.record import Entry
from stillme.audit.retention import erase, prune
from stillme.audit.review.listing import row_of, unfinished
from stillme.cli.commands import cli
from stillme.errors import BackendError
from stillme.guard import Guard, Occurrence, Opening
from stillme.policy.sections import Retention
from tests.chat.upstream import Upstream, chunk, chunks, event, stream, streamed
from tests.service.conftest import Start
from tests.service.guarding import (
    ASKING,
    CAU_HOI,
    CONTEXT,
    EXTRA,
    FALSE,
    HOURS,
    NGU_CANH,
    QUESTION,
    TRUE,
    Guarding,
    guarding,
)
from tests.service.test_server import process

FIRST = "The museum opens at 9 am [1]."
HANGING = streamed(*chunks(f"{FIRST} Admission ", done=False, finish_reason=None), "hang")


@contextmanager
def streaming(url: str, **more: Any) -> Iterator[Iterator[str]]:
    """The texts of a streamed answer, as they arrive."""
    body = {"model": "m", "messages": ASKING, "stream": True, **EXTRA, **more}
    with httpx.stream("POST", f"{url}/v1/chat/completions", json=body, timeout=30) as answer:
        yield _texts(answer)


def _texts(answer: httpx.Response) -> Iterator[str]:
    for line in answer.iter_lines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:]).get("choices", ()):
                if text := choice["delta"].get("content"):
                    yield text


def entries(store: AuditStore, kind: str) -> list[Entry]:
    return [record.entry for record in store.records(Filter(kind=kind)) if record.entry]


def listed(where: Path | str, *options: str) -> list[dict[str, Any]]:
    """What `stillme audit list` prints."""
    done = CliRunner().invoke(cli, ["audit", "list", "--store", str(where), "--json", *options], catch_exceptions=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AuditStore]:
    """A real store in a file."""
    with AuditStore(tmp_path / "audit.db") as made:
        yield made


@contextmanager
def recording(store: AuditStore, *script: Any, **policy: Any) -> Iterator[Guarding]:
    with guarding(*script, guard=Guard({"mode": "enforce", **policy}, audit=store)) as guard:
        yield guard


@pytest.mark.parametrize("mode", ["monitor", "warn", "enforce"])
def test_the_first_claim_goes_out_behind_its_record(store: AuditStore, mode: str) -> None:
    """When a client reads the first claim the store has it that an answer goes out; the verdict at the end closes that record."""
    with recording(store, HANGING, mode=mode) as guard, streaming(guard.url) as texts:
        first = next(texts)
        begun = entries(store, "opening")
        open_then = unfinished(store)

    (verdict,) = entries(store, "verdict")
    assert first == FIRST
    assert [entry.id for entry in begun] == list(open_then) == [verdict.ref]
    assert (begun[0].verified, begun[0].decision, begun[0].caller) == (0, None, "key:tests")
    assert unfinished(store) == set()
    assert check_store(store, store.keyring).is_complete


@pytest.mark.parametrize(
    ("play", "openings"),
    [
        pytest.param(stream(TRUE), 1, id="an answer of several claims has one, which is closed"),
        pytest.param(stream(FALSE), 1, id="so has one that is stopped in the middle"),
        pytest.param(stream(FIRST), 0, id="one claim alone goes out behind its verdict"),
    ],
)
def test_what_came_to_its_end_is_finished(store: AuditStore, play: Any, openings: int) -> None:
    """Every opening has its verdict, and the list shows verdicts alone."""
    with recording(store, play) as guard, streaming(guard.url) as texts:
        list(texts)

    assert (len(entries(store, "opening")), unfinished(store)) == (openings, set())
    assert [row["kind"] for row in listed(store.where)] == ["verdict"]
    assert len(listed(store.where, "--kind", "opening")) == openings


def test_a_service_that_is_killed_leaves_an_unfinished_record(tmp_path: Path) -> None:
    """After SIGKILL in the middle of a stream the store says what was asked and that it is unfinished, and is whole."""
    question = {
        "messages": [{"role": "user", "content": CAU_HOI}],
        "stillme": {"context": NGU_CANH, "session_id": "s-1"},
    }
    begun = streamed(*chunks("Bảo tàng mở cửa lúc 9 giờ sáng [1]. Giá vé ", done=False, finish_reason=None), "hang")
    where = tmp_path / "data" / "audit.db"
    with (
        Upstream(begun) as upstream,
        process(tmp_path / "data", STILLME_UPSTREAM_URL=upstream.url, STILLME_MODE="enforce") as (url, served),
        streaming(url, **question) as texts,
    ):
        first = next(texts)
        served.kill()
        served.wait(30)

    with AuditStore(where, create=False) as store:
        whole = check_store(store, store.keyring).is_complete
    rows = listed(where)
    shown = CliRunner().invoke(cli, ["audit", "show", rows[0]["id"], "--store", str(where)], catch_exceptions=False)
    table = CliRunner().invoke(cli, ["audit", "list", "--store", str(where), "--human"], catch_exceptions=False)
    assert (first, whole) == ("Bảo tàng mở cửa lúc 9 giờ sáng [1].", True)
    assert [(row["kind"], row["state"], row["verified"], row["query"]) for row in rows] == [("opening", "unfinished", False, CAU_HOI)]  # fmt: skip
    assert "unfinished" in table.stdout
    assert "unfinished" in shown.stdout
    assert CAU_HOI in " ".join(shown.stdout.split())


def test_a_disk_that_is_full_leaves_an_unfinished_record(store: AuditStore, caplog: pytest.LogCaptureFixture) -> None:
    """Where the end cannot be recorded the beginning is, as unfinished."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with recording(store, HANGING) as guard, streaming(guard.url) as texts:
        assert next(texts) == FIRST
        resource.setrlimit(resource.RLIMIT_FSIZE, (Path(f"{store.where}-wal").stat().st_size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))  # the service has ended: it has tried

    (opening,) = entries(store, "opening")
    assert entries(store, "verdict") == []
    assert unfinished(store) == {opening.id}
    assert "could not be recorded" in caplog.text


@pytest.mark.parametrize(
    "play",
    [
        pytest.param(stream(TRUE), id="a claim"),
        pytest.param(streamed(event(chunk() | {"choices": [{"index": 0, "delta": {"reasoning_content": "12 euros"}}]}), *chunks(TRUE)), id="a thought"),
    ],
)  # fmt: skip
def test_nothing_goes_out_before_its_record(play: Any) -> None:
    """Where the beginning cannot be recorded there is an error, and no word of the answer."""

    class Full:
        def open(self, opening: Opening) -> None:
            raise BackendError("the disk of secret-host is full")

        def record(self, occurrences: Sequence[Occurrence]) -> None:
            raise BackendError("the disk of secret-host is full")

    with guarding(play, guard=Guard({"mode": "monitor"}, audit=Full())) as guard:
        response = httpx.post(
            f"{guard.base_url}/chat/completions", json={"model": "m", "messages": ASKING, "stream": True, **EXTRA}
        )

    assert not any(word in response.text for word in ("museum", "euros", "secret-host", "[DONE]"))
    assert '"error"' in response.text


def test_a_client_that_leaves_after_a_thought_leaves_nothing_unfinished(store: AuditStore) -> None:
    """What went out without any text is closed all the same."""
    thinking = event(chunk() | {"choices": [{"index": 0, "delta": {"reasoning_content": "Let me see."}}]})
    with recording(store, streamed(thinking, "hang"), mode="monitor") as guard:
        body = {"model": "m", "messages": ASKING, "stream": True, **EXTRA}
        with httpx.stream("POST", f"{guard.base_url}/chat/completions", json=body, timeout=30) as answer:
            assert any("Let me see." in line for line in answer.iter_lines())

    assert len(entries(store, "opening")) == 1
    assert unfinished(store) == set()


def request(**more: Any) -> dict[str, Any]:
    return {"query": QUESTION, "retrieved_context": CONTEXT, "metadata": {"session_id": "s-1"}, **more}


def test_a_request_cannot_close_another_s_record(store: AuditStore) -> None:
    """Whatever a caller writes into its metadata: only the program that began a delivery ends it."""
    guard = Guard(audit=store)
    opening = guard.announce(request())

    guard.verify(request(draft_answer=TRUE, metadata={"opening": opening, "ref": opening}))

    assert unfinished(store) == {opening}


@pytest.mark.parametrize(
    ("policy", "state", "query"),
    [
        pytest.param({}, "kept", QUESTION, id="whole"),
        pytest.param({"content": "hashed"}, "hashed", None, id="as hashes"),
        pytest.param({"content": "none"}, "not kept", None, id="not at all"),
        pytest.param({"redact": {"museum": "museum"}}, "redacted", QUESTION.replace("museum", 6 * "█"), id="redacted"),
    ],
)
def test_an_opening_is_kept_as_the_policy_says(store: AuditStore, policy: Any, state: str, query: str | None) -> None:
    """Its texts are a person's words, as those of a verdict are."""
    Guard({"audit": policy}, audit=store).announce(request(), caller="key:lan")

    (record,) = store.records(Filter(kind="opening"))
    row = row_of(record)
    assert (row["texts"], row["query"], row["session"], row["caller"]) == (state, query, "s-1", "key:lan")
    assert HOURS not in str(record) or state in ("kept", "redacted")
    assert check_store(store, store.keyring).is_complete


def test_an_erasure_reaches_the_opening_of_a_verdict(store: AuditStore) -> None:
    """Whoever erases an answer by its trace erases what was recorded when it began; the chain stays whole."""
    guard = Guard(audit=store)
    opening = guard.announce(request())
    trace = guard.examine(request(draft_answer=TRUE), opening=opening).verdict.validator_trace_id

    erased = erase(store, Filter(id=trace), who="a customer", why="asked for it")

    assert set(erased) == {opening, trace}
    assert all(record.entry is None or record.entry.body is None for record in store.records())
    assert check_store(store, store.keyring).is_complete


def test_openings_are_kept_as_long_as_verdicts(store: AuditStore) -> None:
    """The retention of verdicts is theirs, and takes them together."""
    guard = Guard(audit=store)
    guard.examine(request(draft_answer=TRUE), opening=guard.announce(request()))

    pruned = prune(store, Retention.model_validate({"verdict": {"days": 1}}), datetime.now(UTC) + timedelta(days=2))

    assert pruned.records == 2
    assert (entries(store, "opening"), entries(store, "verdict")) == ([], [])
    assert check_store(store, store.keyring).is_complete


# checkpoints


def test_the_service_makes_checkpoints_by_itself(start: Start) -> None:
    """From its start to its end, into the file beside the store, without being asked."""
    service = start()
    service.post("/v1/verify", request(draft_answer=TRUE))
    assert service.parts.store is not None
    at_the_end = service.parts.store.head().seq
    assert service.parts.checkpoints is not None
    service.parts.checkpoints.close()

    lines = [json.loads(line) for line in (service.folder / "audit.db.checkpoints").read_text("utf-8").splitlines()]
    assert lines[0]["seq"] <= at_the_end == lines[-1]["seq"]


@pytest.mark.parametrize(
    ("environment", "file"),
    [
        pytest.param({"STILLME_CHECKPOINT_S": "0"}, None, id="none where the operator wants none"),
        pytest.param({"STILLME_AUDIT_STORE": "none"}, None, id="none without a store"),
        pytest.param({"STILLME_AUDIT_CHECKPOINTS": "{}/elsewhere/points"}, "elsewhere/points", id="where the operator says"),
    ],
)  # fmt: skip
def test_where_checkpoints_go(start: Start, tmp_path: Path, environment: dict[str, str], file: str | None) -> None:
    """The settings say how often, and where."""
    service = start(**{name: value.format(tmp_path) for name, value in environment.items()})
    if service.parts.checkpoints is not None:
        service.parts.checkpoints.close()

    found = [path for path in tmp_path.rglob("*") if path.name.endswith(("checkpoints", "points"))]
    assert found == ([tmp_path / file] if file else [])
