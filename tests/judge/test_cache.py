"""The same request gives the same answer: in one process, in the next one, and when many ask at once."""

from __future__ import annotations

import sqlite3
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stillme import BackendError
from stillme.judge.cache import AnswerCache
from tests.judge.support import (
    KEY,
    PASSAGE,
    Response,
    Seen,
    agreeing,
    entry,
    judge_at,
    playing,
    task,
    verdicts,
)
from tests.waiting import eventually

SOON = time.monotonic() + 86_400.0


def test_the_same_is_asked_once() -> None:
    """Whatever the endpoint would say the second time."""
    with playing(agreeing, verdicts(entry(1, "unsupported"))) as server:
        judge = judge_at(server)
        first, second = judge.judge([task()]), judge.judge([task()])

    assert first == second
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("settings", "texts"),
    [
        pytest.param({"model": "another"}, {}, id="another model"),
        pytest.param({"seed": 1}, {}, id="another seed"),
        pytest.param({"max_tokens": 5}, {}, id="another limit"),
        pytest.param({"structured": "json_object"}, {}, id="another form"),
        pytest.param({}, {"query": "How long?"}, id="another question"),
        pytest.param({}, {"passages": [PASSAGE + " "]}, id="another passage"),
        pytest.param({}, {"draft": "You can give unused gear back for a year."}, id="another draft"),
        pytest.param({}, {"conversation": ["Hello."]}, id="another conversation"),
    ],
)
def test_what_differs_in_anything_that_is_sent_is_asked_anew(
    tmp_path: Path, settings: dict[str, Any], texts: dict[str, Any]
) -> None:
    """A kept answer belongs to one request and to no other."""
    path = tmp_path / "judge.db"
    with playing(agreeing) as server:
        judge_at(server, cache=path).judge([task()])
        judge_at(server, cache=path, **settings).judge([task(**texts)])

    assert len(server.seen) == 2


def test_what_does_not_change_the_request_does_not_ask_anew(tmp_path: Path) -> None:
    """Neither the key, nor the time limits, nor how answers are scored."""
    path = tmp_path / "judge.db"
    with playing(agreeing) as server:
        judge_at(server, cache=path).judge([task()])
        judge_at(server, cache=str(path), api_key=KEY, timeout_s=9.0, ask_between=(0.1, 0.9)).judge([task()])

    assert len(server.seen) == 1


def test_a_file_keeps_the_answer_when_the_endpoint_is_gone(tmp_path: Path) -> None:
    """Another judge, later, with the same file: the same judgement without a connection."""
    path = tmp_path / "judge.db"
    with playing(agreeing) as server:
        first = judge_at(server, cache=path).judge([task()])

    assert judge_at(server, cache=path).judge([task()]) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_key_is_not_in_the_file(tmp_path: Path) -> None:
    """Only hashes of requests and the answers."""
    path = tmp_path / "judge.db"
    with playing(agreeing) as server:
        judge_at(server, cache=path, api_key=KEY).judge([task()])

    assert KEY.encode() not in path.read_bytes()
    assert task().query.raw.encode() not in path.read_bytes()


def test_an_answer_that_was_no_good_is_not_kept(tmp_path: Path) -> None:
    """It is asked anew, for the next request that wants it."""
    path = tmp_path / "judge.db"
    bad = verdicts(entry(1, "supported", 1, "nobody said this"))
    with playing(bad, agreeing) as server:
        judge = judge_at(server, cache=path)
        with pytest.raises(BackendError, match="does not say"):
            judge.judge([task()])
        assert not path.exists()
        assert judge.judge([task()])[0][0].supported

    assert len(server.seen) == 2


def test_half_a_letter_in_a_quote_can_be_kept(tmp_path: Path) -> None:
    """What no database takes is written out."""
    text = "The code is \ud800 and five words more."
    with playing(agreeing) as server:
        first = judge_at(server, cache=tmp_path / "judge.db").judge([task("The code is five.", [text])])

    assert judge_at(server, cache=tmp_path / "judge.db").judge([task("The code is five.", [text])]) == first
    assert first[0][0].supported


def until_waiting(cache: AnswerCache, others: int) -> None:
    """Return when so many wait for the answer that another asks for."""

    def are_waiting() -> bool:
        waiting = [len(asking._condition._waiters) for asking in cache._asking.values()]  # type: ignore[attr-defined]
        return sum(waiting) >= others

    assert eventually(are_waiting)


def test_many_who_ask_the_same_at_once_ask_once() -> None:
    """Eight threads, one request, eight equal judgements."""

    def at_last(seen: Seen) -> Response:
        until_waiting(judge._answers, 7)
        return agreeing(seen)

    with playing(at_last) as server:
        judge = judge_at(server)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: judge.judge([task()]), range(8)))

    assert len(server.seen) == 1
    assert found == [found[0]] * 8


def test_many_who_ask_the_same_at_once_fail_alike() -> None:
    """One failure, told to all."""

    def at_last(_: Seen) -> Response:
        until_waiting(judge._answers, 7)
        return Response(b"", 404)

    def message(_: int) -> str:
        with pytest.raises(BackendError) as error:
            judge.judge([task()])
        return str(error.value)

    with playing(at_last) as server:
        judge = judge_at(server)
        with ThreadPoolExecutor(8) as pool:
            found = set(pool.map(message, range(8)))

    assert (len(server.seen), len(found)) == (1, 1)


def test_who_waits_for_another_waits_no_longer_than_its_own_time() -> None:
    """Then it is an error."""
    cache, begun, go_on = AnswerCache(4), threading.Event(), threading.Event()

    def slowly() -> str:
        begun.set()
        return str(go_on.wait())

    slow = threading.Thread(target=cache.answer, args=("k", slowly, SOON))
    slow.start()
    begun.wait()

    with pytest.raises(BackendError, match="still unanswered: raise timeout_s"):
        cache.answer("k", lambda: "never", time.monotonic() + 0.05)
    go_on.set()
    slow.join()

    assert cache.answer("k", lambda: "never", SOON) == "True"


def test_an_interruption_leaves_nobody_waiting() -> None:
    """Whoever waited is told, and the next one may ask."""
    cache = AnswerCache(4)
    started, told = threading.Event(), []

    def interrupted() -> str:
        started.set()
        until_waiting(cache, 1)
        raise KeyboardInterrupt

    def wait() -> None:
        started.wait()
        with pytest.raises(BackendError, match="interrupted: verify again") as error:
            cache.answer("k", lambda: "never", SOON)
        told.append(str(error.value))

    waiting = threading.Thread(target=wait)
    waiting.start()
    with pytest.raises(KeyboardInterrupt):
        cache.answer("k", interrupted, SOON)
    waiting.join()

    assert len(told) == 1
    assert cache.answer("k", lambda: "now", SOON) == "now"


def test_memory_keeps_the_last_used_only() -> None:
    """The one that was used longest ago goes first."""
    cache = AnswerCache(2)
    asked: list[str] = []

    def ask(key: str) -> str:
        asked.append(key)
        return key.upper()

    for key in "ababcacb":
        assert cache.answer(key, lambda k=key: ask(k), SOON) == key.upper()  # type: ignore[misc]

    assert "".join(asked) == "abcab"


def test_of_two_processes_the_first_answer_holds(tmp_path: Path) -> None:
    """Both then say the same."""
    path = tmp_path / "judge.db"
    one, other = AnswerCache(4, path), AnswerCache(4, path)

    def overtaken() -> str:
        return "second" if other.answer("k", lambda: "first", SOON) else ""

    assert one.answer("k", overtaken, SOON) == "first"
    assert AnswerCache(4, path).answer("k", lambda: "third", SOON) == "first"


def test_many_processes_make_one_file(tmp_path: Path) -> None:
    """Sixteen caches, each as of a process of its own, begin the same file at once."""
    path = tmp_path / "judge.db"
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda n: AnswerCache(4, path).answer("k", lambda: str(n), SOON), range(16)))

    assert len(set(found)) == 1


def changed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE answers SET answer = replace(answer, 'unsupported', 'supported')")


def another(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE customers (name TEXT)")


def torn(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        pytest.param(changed, "holds an answer that was changed: delete the file", id="an answer changed by hand"),
        pytest.param(another, "is another kind of database: choose another path", id="another database"),
        pytest.param(torn, "cannot be used", id="a damaged file"),
        pytest.param(lambda p: p.write_text("notes " * 100), "cannot be used", id="no database"),
        pytest.param(lambda p: (p.unlink(), p.mkdir()), "cannot be used", id="a folder"),
    ],
)
def test_a_file_that_cannot_be_trusted_is_an_error(tmp_path: Path, damage: Any, what: str) -> None:
    """Nothing is read from it, nothing is asked behind its back, and a file of another kind is left as it is."""
    path = tmp_path / "judge.db"
    with playing(verdicts(entry(1, "unsupported"))) as server:
        judge_at(server, cache=path).judge([task()])
        damage(path)
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(BackendError, match=what) as error:
            judge_at(server, cache=path).judge([task()])

    assert "judge.db" in str(error.value)
    assert (path.read_bytes() if path.is_file() else b"") == before
    assert len(server.seen) == 1


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    """An answer that cannot be kept would not be the same the next time."""
    with playing(agreeing) as server, pytest.raises(BackendError, match=r"cannot be used .*check its folder and disk"):
        judge_at(server, cache=tmp_path / "nowhere" / "judge.db").judge([task()])
