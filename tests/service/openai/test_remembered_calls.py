"""What calls asked, kept until their answers come: in memory, in a file, on a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from stillme.contract import RetrievedPassage, Turn
from stillme.errors import BackendError
from stillme.service.openai.remembered_calls import RememberedCalls, SharedCalls, shared_calls
from stillme.service.openai.request_sources import Asked, Taken

ASKED = Asked(
    "Phí rút tiền là bao nhiêu?",
    (RetrievedPassage(source_id="phi", text="Phí là 3.300 đồng.", title="Biểu phí", similarity=0.9),),
    (Turn(role="user", content="Chào"),),
    "vi",
    "s-1",
    ("image_url",),
    2,
    (Taken("system", "tags", ("phi",), 0),),
    upstream_url="https://model.example/v1",
    upstream_api_key="a-secret",
)


def test_calls_are_remembered_within_bounds() -> None:
    """The oldest makes room, by number and by size; callers do not see each other's."""
    calls = RememberedCalls(most=2, most_characters=20)
    for name in ("a", "b", "c"):
        calls.keep("me", name, Asked(name))
    calls.keep("me", "c", Asked("c again"))
    calls.keep("me", None, Asked("nobody"))

    assert [calls.find("me", name) for name in ("a", "b", "c")] == [None, Asked("b"), Asked("c again")]
    assert calls.find("you", "b") is None
    calls.keep("me", "long", Asked("x" * 20))
    assert [calls.find("me", name) for name in ("b", "c", "long")] == [None, None, Asked("x" * 20)]
    assert RememberedCalls(seconds=-1).find("me", "a") is None


@pytest.mark.slow
@pytest.mark.parametrize("place", ["a file", "a server"])
def test_another_process_finds_what_was_asked(place: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """What one process keeps another one finds, whole but for a key of the caller's, and no other caller does."""
    store = request.getfixturevalue("postgres_url") if place == "a server" else str(tmp_path / "audit.db")
    here, there = shared_calls(store, tmp_path), shared_calls(store, tmp_path)
    here.keep("key:a", "call-1", ASKED)
    here.keep("key:a", None, ASKED)

    found = there.find("key:a", "call-1")
    assert found is not None
    assert (found.question, found.passages, found.conversation) == (ASKED.question, ASKED.passages, ASKED.conversation)
    assert (found.language, found.session_id, found.unread, found.set_aside) == ("vi", "s-1", ("image_url",), 2)
    assert (found.taken, found.upstream_url, found.upstream_api_key) == (ASKED.taken, None, None)
    assert [there.find(*names) for names in (("key:b", "call-1"), ("key:a", "call-2"), ("key:a", None))] == [None] * 3


def test_what_was_asked_is_forgotten(tmp_path: Path) -> None:
    """What is too old is not found, and is gone from the file with the next call."""
    kept = shared_calls(str(tmp_path / "audit.db"), tmp_path)
    assert isinstance(kept, SharedCalls)
    SharedCalls(kept._execute, seconds=-1).keep("me", "old", ASKED)
    assert kept.find("me", "old") is None
    kept.keep("me", "new", Asked("new"))

    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"new" in everything
    assert b"3.300" not in everything
    assert (tmp_path / "calls.db").stat().st_mode & 0o077 == 0


def test_where_no_record_is_kept_nothing_is_written(tmp_path: Path) -> None:
    """Without an audit store what was asked stays in memory."""
    shared_calls(None, tmp_path).keep("me", "call", ASKED)

    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """What cannot be kept is not said to be kept."""
    with pytest.raises(BackendError, match="cannot be kept"):
        shared_calls(str(tmp_path / "audit.db"), tmp_path / "not" / "there").keep("me", "call", ASKED)
