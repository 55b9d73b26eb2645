"""Follows a policy file while it is in use, and keeps the last good policy in force."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from stillme.errors import PolicyError, shown
from stillme.policy.model import Policy, policy_from
from stillme.policy.reader import PolicySource, file_bytes, parsed

__all__ = ["PolicyWatcher"]

# Time stamps of files are coarse: for this long after a change, a second one may leave them as they are.
SETTLED_NS = 2_000_000_000
STEADY_READS = 10
STEADY_PAUSE_S = 0.02


@dataclasses.dataclass(frozen=True, slots=True)
class _InForce:
    policy: Policy
    error: PolicyError | None = None


class _Look(threading.Thread):
    """One look on behalf of a following thread: what a listener raises is reported and ends only this look."""

    def __init__(self, poll: Callable[[], bool]) -> None:
        super().__init__(target=poll, name="stillme-policy", daemon=True)
        self.follower = threading.current_thread()


class PolicyWatcher:
    """Follows a policy file: `policy` is always the last good one, `error` what is wrong with the file now.

    `on_event(kind, detail)` hears of "reloaded", "failed" (the old policy stays in force) and "recovered", each once.
    `changes` are made to whatever the file says: what a flag or the environment sets. `defaults` hold where the file says nothing.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        interval_s: float = 1.0,
        on_event: Callable[[str, str], None] | None = None,
        changes: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        """Load the file, raising PolicyError if it is bad; `poll` or `start` follows it from there."""
        if not interval_s > 0:
            raise PolicyError(f"interval_s must be above 0, got {shown(interval_s)}")
        self._path = Path(path)
        self._interval_s = interval_s
        self._on_event = on_event
        self._changes = dict(changes or {})
        self._defaults = dict(defaults or {})
        self._polling = threading.Lock()
        self._starting = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._stamp = self._file_stamp()
        content = file_bytes(self._path)
        self._digest: bytes | None = _digest(content)
        self._in_force = _InForce(self._policy_from(parsed(content, self._path.name)))

    @property
    def policy(self) -> Policy:
        """The last good policy."""
        return self._in_force.policy

    @property
    def error(self) -> PolicyError | None:
        """Why the file as it is now is not in force, or None when it is."""
        return self._in_force.error

    def poll(self) -> bool:
        """Look at the file once; True if what it says changed what is in force or the error."""
        with self._polling:
            event = self._look()
        if event is not None and self._on_event is not None:
            self._on_event(*event)
        return event is not None

    def listen(self, on_event: Callable[[str, str], None]) -> None:
        """Tell this listener from now on, in place of the one before."""
        self._on_event = on_event

    def start(self) -> PolicyWatcher:
        """Poll in a daemon thread every `interval_s` seconds."""
        with self._starting:
            if self._thread is None:
                # Its own for each thread: one that is ending must not see it cleared.
                self._stopping = threading.Event()
                follow = threading.Thread(
                    target=self._follow, args=(self._stopping,), name="stillme-policy", daemon=True
                )
                self._thread = follow
                follow.start()
        return self

    def stop(self) -> None:
        """End the thread and wait for it; the policy stays available."""
        with self._starting:
            thread, self._thread = self._thread, None
            self._stopping.set()
        here = threading.current_thread()
        # A listener may call this: the thread that waits for the listener cannot be waited for.
        waiting = here.follower if isinstance(here, _Look) else here
        if thread is not None and thread is not waiting:
            thread.join()

    def __enter__(self) -> PolicyWatcher:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _follow(self, stopping: threading.Event) -> None:
        while not stopping.wait(self._interval_s):
            if not self._is_as_judged(self._file_stamp()):
                look = _Look(self.poll)
                look.start()
                look.join()

    def _look(self) -> tuple[str, str] | None:
        stamp = self._file_stamp()
        if self._is_as_judged(stamp):
            return None
        try:
            content = _steady_bytes(self._path, self._digest)
        except PolicyError as error:
            self._stamp = self._digest = None
            return self._reject(error)
        if content is None:
            return None
        judged, self._digest, self._stamp = self._digest, _digest(content), stamp
        if self._digest == judged:
            return None
        try:
            return self._adopt(self._loaded(content))
        except PolicyError as error:
            return self._reject(error)

    def _is_as_judged(self, stamp: tuple[int, ...] | None) -> bool:
        """Whether it is the file judged last; a young one can change again within the resolution of its stamp."""
        return stamp is not None and stamp == self._stamp and time.time_ns() - max(stamp[:2]) > SETTLED_NS

    def _loaded(self, content: bytes) -> Policy:
        """The policy in the file, built, so that nothing about it can fail once it is in force."""
        source = parsed(content, self._path.name)
        if not source.settings and self.policy != self._policy_from(PolicySource({})):
            raise PolicyError(f"{self._path.name} is empty: a running policy is not dropped for that")
        return self._policy_from(source)

    def _policy_from(self, source: PolicySource) -> Policy:
        policy = policy_from(dataclasses.replace(source, settings={**self._defaults, **source.settings}))
        if self._changes:
            policy = policy.with_changes(self._changes)
        policy.build()
        return policy

    def _adopt(self, policy: Policy) -> tuple[str, str]:
        kind = "reloaded" if self.error is None else "recovered"
        self._in_force = _InForce(policy)
        return kind, f"{self._path.name}: mode {policy.mode}, policy {policy.hash[:12]}"

    def _reject(self, error: PolicyError) -> tuple[str, str] | None:
        before = self._in_force
        self._in_force = _InForce(before.policy, error)
        return None if str(before.error) == str(error) else ("failed", str(error))

    def _file_stamp(self) -> tuple[int, ...] | None:
        try:
            status = self._path.stat()
        except (OSError, ValueError):
            return None
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _steady_bytes(path: Path, judged: bytes | None) -> bytes | None:
    """The content once two reads in a row agree, or None while somebody writes; known content needs one read."""
    content = file_bytes(path)
    for _ in range(STEADY_READS):
        if _digest(content) == judged:
            return content
        time.sleep(STEADY_PAUSE_S)
        again = file_bytes(path)
        if again == content:
            return content
        content = again
    return None


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
