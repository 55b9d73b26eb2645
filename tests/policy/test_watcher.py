"""A followed file comes into force whole or not at all."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from stillme.errors import PolicyError
from stillme.policy import Policy, PolicyWatcher
from tests.policy.support import Write
from tests.waiting import eventually


class Events(list[tuple[str, str]]):
    def __call__(self, kind: str, detail: str) -> None:
        self.append((kind, detail))

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self]


class TestWatcher:
    def test_it_starts_with_the_policy_of_the_file(self, write: Write) -> None:
        watcher = PolicyWatcher(write("mode: warn"))

        assert (watcher.policy, watcher.error, watcher.poll()) == (Policy.load({"mode": "warn"}), None, False)

    @pytest.mark.parametrize("content", ["mode: loud", "mode: [", "- x"])
    def test_a_bad_file_at_the_start_raises(self, write: Write, content: str) -> None:
        with pytest.raises(PolicyError):
            PolicyWatcher(write(content))

    def test_a_missing_file_or_a_senseless_interval_at_the_start_raises(self, write: Write, tmp_path: Path) -> None:
        with pytest.raises(PolicyError, match="there is no policy file"):
            PolicyWatcher(tmp_path / "nowhere.yaml")
        with pytest.raises(PolicyError, match="interval_s must be above 0, got 0"):
            PolicyWatcher(write("mode: warn"), interval_s=0)

    def test_a_changed_file_comes_into_force(self, write: Write) -> None:
        events = Events()
        watcher = PolicyWatcher(write("mode: warn"), on_event=events)

        write("mode: enforce")

        assert watcher.poll() is True
        assert (watcher.policy.mode, watcher.error) == ("enforce", None)
        assert events == [("reloaded", f"policy.yaml: mode enforce, policy {watcher.policy.hash[:12]}")]
        assert watcher.poll() is False

    def test_a_change_of_the_same_size_and_time_is_seen_while_the_file_is_young(self, write: Write) -> None:
        path = write("limits: {passages: 11}")
        watcher = PolicyWatcher(path)
        stamp = path.stat()

        path.write_text("limits: {passages: 22}", encoding="utf-8")
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        watcher.poll()

        assert watcher.policy.limits.passages == 22

    def test_a_bad_file_leaves_the_last_good_policy_and_says_so_once(self, write: Write) -> None:
        events = Events()
        watcher = PolicyWatcher(write("mode: warn"), on_event=events)
        good = watcher.policy

        write("mode: warn\non_error: shrug\n")
        polled = [watcher.poll() for _ in range(3)]

        message = "on_error must be one of refuse, deliver, got 'shrug' (policy.yaml line 2)"
        assert polled == [True, False, False]
        assert watcher.policy is good
        assert str(watcher.error) == message
        assert events == [("failed", message)]

    def test_it_recovers_when_the_file_is_good_again(self, write: Write) -> None:
        events = Events()
        watcher = PolicyWatcher(write("mode: warn"), on_event=events)

        for content in ("mode: [", "mode: loud", "mode: enforce"):
            write(content)
            watcher.poll()

        assert (watcher.policy.mode, watcher.error) == ("enforce", None)
        assert events.kinds == ["failed", "failed", "recovered"]

    def test_it_recovers_to_the_content_it_had(self, write: Write) -> None:
        events = Events()
        watcher = PolicyWatcher(write("mode: warn"), on_event=events)

        for content in ("mode: [", "mode: warn"):
            write(content)
            watcher.poll()

        assert (watcher.policy.mode, watcher.error, events.kinds) == ("warn", None, ["failed", "recovered"])

    def test_a_deleted_file_leaves_the_policy_until_it_is_back(self, write: Write) -> None:
        events = Events()
        path = write("mode: warn")
        watcher = PolicyWatcher(path, on_event=events)

        path.unlink()
        assert [watcher.poll(), watcher.poll()] == [True, False]
        assert (watcher.policy.mode, "there is no policy file" in str(watcher.error)) == ("warn", True)
        write("mode: warn")
        watcher.poll()

        assert (watcher.policy.mode, watcher.error, events.kinds) == ("warn", None, ["failed", "recovered"])

    def test_a_file_written_in_place_is_seen(self, write: Write) -> None:
        path = write("mode: warn")
        watcher = PolicyWatcher(path)

        path.write_text("mode: enforce", encoding="utf-8")
        watcher.poll()

        assert watcher.policy.mode == "enforce"

    def test_a_file_that_is_being_rewritten_is_taken_whole_or_not_at_all(self, write: Write) -> None:
        path = write("mode: warn")
        watcher = PolicyWatcher(path)
        done = threading.Event()

        def keep_writing() -> None:
            count = 100
            while not done.is_set():
                count += 1
                path.write_text(f"mode: enforce\nlimits:\n  passages: {count}\n", encoding="utf-8")

        writer = threading.Thread(target=keep_writing)
        writer.start()
        seen = [(watcher.poll(), watcher.policy)[1] for _ in range(3)]
        done.set()
        writer.join()
        watcher.poll()

        assert all(policy.mode == "warn" or policy.limits.passages > 100 for policy in seen)
        assert (watcher.policy.mode, watcher.error) == ("enforce", None)

    def test_a_file_emptied_by_a_writer_does_not_become_lite(self, write: Write) -> None:
        watcher = PolicyWatcher(write("mode: enforce"))

        write("")
        watcher.poll()

        assert watcher.policy.mode == "enforce"
        assert str(watcher.error) == "policy.yaml is empty: a running policy is not dropped for that"

    def test_a_file_that_became_a_directory_or_huge_is_an_error(self, write: Write) -> None:
        path = write("mode: warn")
        watcher = PolicyWatcher(path)

        write("#" * 300_000)
        watcher.poll()
        first = str(watcher.error)
        path.unlink()
        path.mkdir()
        watcher.poll()

        assert "is larger than" in first
        assert "is not a file" in str(watcher.error)
        assert watcher.policy.mode == "warn"

    def test_an_untouched_file_is_not_read_again(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        path = write("mode: warn")
        monkeypatch.setattr("stillme.policy.watcher.SETTLED_NS", -1)  # its stamp is old enough to be believed
        watcher = PolicyWatcher(path)
        opened: list[str] = []
        OPENED.append(opened)

        for _ in range(100):
            assert watcher.poll() is False

        OPENED.remove(opened)
        assert str(path) not in opened

    def test_it_follows_in_the_background(self, write: Write) -> None:
        events = Events()
        with PolicyWatcher(write("mode: warn"), interval_s=0.01, on_event=events) as watcher:
            write("mode: loud")
            wait_until(lambda: watcher.error is not None)
            write("mode: enforce")
            wait_until(lambda: watcher.policy.mode == "enforce")
            assert watcher.start() is watcher
        count = threading.active_count()
        write("mode: monitor")

        assert watcher.policy.mode == "enforce"
        assert events.kinds[-1] in ("recovered", "reloaded")
        assert threading.active_count() == count
        watcher.stop()

    def test_it_can_be_stopped_by_its_listener_and_started_again(self, write: Write) -> None:
        stopped: list[str] = []

        def listener(kind: str, detail: str) -> None:  # noqa: ARG001
            watcher.stop()
            stopped.append(kind)

        watcher = PolicyWatcher(write("mode: warn"), interval_s=0.01, on_event=listener)

        for count, mode in enumerate(("enforce", "monitor", "warn"), 1):
            watcher.start()
            write(f"mode: {mode}")
            wait_until(lambda count=count: len(stopped) == count)  # type: ignore[misc]
            assert watcher.policy.mode == mode
        write("mode: enforce")

        assert watcher._thread is None
        assert watcher.policy.mode == "warn"

    def test_a_listener_that_raises_does_not_end_the_watch(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        reported: list[str] = []
        monkeypatch.setattr(threading, "excepthook", lambda args: reported.append(str(args.exc_value)))

        def listener(kind: str, detail: str) -> None:  # noqa: ARG001
            raise RuntimeError(f"cannot log {kind}")

        with PolicyWatcher(write("mode: warn"), interval_s=0.01, on_event=listener) as watcher:
            write("mode: enforce")
            wait_until(lambda: len(reported) == 1)
            write("mode: monitor")
            wait_until(lambda: watcher.policy.mode == "monitor")

        assert reported[0] == "cannot log reloaded"

    def test_readers_never_see_half_a_policy(self, write: Write) -> None:
        strict = "mode: enforce\nlimits:\n  passages: 10\n  query_chars: 10\n"
        loose = "mode: warn\nlimits:\n  passages: 20\n  query_chars: 20\n"
        seen: set[tuple[str, int, int]] = set()
        done = threading.Event()
        watcher = PolicyWatcher(write(strict))

        def read() -> None:
            while not done.is_set():
                policy = watcher.policy
                seen.add((policy.mode, policy.limits.passages, policy.limits.query_chars))

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for content in (loose, "mode: [", strict, "", loose):
            write(content)
            watcher.poll()
        done.set()
        for reader in readers:
            reader.join()

        assert seen == {("enforce", 10, 10), ("warn", 20, 20)}


OPENED: list[list[str]] = []
"""Who wants to know which files are opened."""


def _note_opened(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        for opened in OPENED:
            opened.append(str(arguments[0]))


sys.addaudithook(_note_opened)


def wait_until(holds: Callable[[], bool], seconds: float = 600) -> None:
    assert eventually(holds, seconds), "it did not happen in time"
