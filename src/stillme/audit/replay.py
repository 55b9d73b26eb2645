"""A stored request, verified again under its own policy: the same verdict, or exactly where and why not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import yaml

from stillme.audit.chain.record import Entry, compact, sha256
from stillme.audit.content import entry_of, request_in, verdict_in
from stillme.audit.store import AuditStore
from stillme.contract import parse_request
from stillme.errors import InputError, PolicyError
from stillme.grounding.grounder import Grounder
from stillme.guard import Guard, Occurrence
from stillme.policy import Policy
from stillme.reasons import Reason
from stillme.validators.base import Validator
from stillme.version import __version__

__all__ = ["Difference", "Replay", "Replayer"]

Outcome = Literal["same", "different", "not replayable"]
# Given anew each time; all else of a verdict follows from request, policy, model and version.
OF_THE_MOMENT: Final = frozenset({"request_id", "validator_trace_id", "elapsed_ms"})
# What a verdict was made with: where it changed it is a cause, and a difference only if it made one.
CONDITIONS: Final = frozenset({"version", "model_id", "policy_hash"})
# What reading a record that is not as it was written may lead to.
_MISREAD: Final = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two verdicts differ."""

    path: str
    recorded: Any
    replayed: Any


@dataclass(frozen=True, slots=True)
class Replay:
    """How a replay came out.

    `causes` says what is not as it was, also where it made no difference; or why there was no replay.
    """

    trace: str
    outcome: Outcome
    causes: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()


class Replayer:
    """Replays verdicts of one store; a policy is read once.

    A program that gave its guard validators or a grounder of its own gives them here too.
    """

    def __init__(
        self, store: AuditStore, validators: Iterable[Validator] = (), grounder: Grounder | None = None
    ) -> None:
        self._store = store
        self._validators = tuple(validators)
        self._grounder = grounder
        self._guards: dict[str, Guard | str] = {}

    def replay(self, entry: Entry) -> Replay:
        """Verify the request of a recorded verdict again and compare."""
        if entry.kind != "verdict":
            raise InputError(f"{entry.id} is a {entry.kind}: only verdicts can be replayed")
        try:
            meta = json.loads(entry.meta)
            if obstacle := _obstacle(entry, meta):
                return Replay(entry.id, "not replayable", (obstacle,))
            recorded = json.loads(compact(verdict_in(entry)))
            request = {**(request_in(entry) or {}), "as_of": recorded["as_of"]}
        except _MISREAD:
            return Replay(entry.id, "not replayable", ("its record cannot be read: run `stillme audit verify`",))
        guard = self._guard(str(entry.policy))
        again = guard if isinstance(guard, str) else _again(guard, request)
        return self._compared(entry.id, recorded, again, meta)

    def _compared(self, trace: str, recorded: dict[str, Any], again: Occurrence | str, meta: dict[str, Any]) -> Replay:
        if isinstance(again, str):
            return Replay(trace, "not replayable", (again,))
        replayed = json.loads(compact(verdict_in(entry_of(again))))
        found = tuple(_differences(recorded, replayed))
        changed = list(_changed(recorded, replayed))
        if not found:
            return Replay(trace, "same", tuple(changed))
        causes = [*changed, *_other_causes(meta, again)]
        return Replay(trace, "different", tuple(causes or ["nothing that is recorded explains it"]), found)

    def _guard(self, digest: str) -> Guard | str:
        if digest not in self._guards:
            self._guards[digest] = self._wired(digest)
        return self._guards[digest]

    def _wired(self, digest: str) -> Guard | str:
        text = self._store.policy_text(digest)
        if text is None:
            return "its policy is not in the store"
        if not isinstance(text, str) or sha256(text) != digest:
            return "its policy was changed: run `stillme audit verify`"
        try:
            settings = yaml.safe_load(text)
            if not isinstance(settings, Mapping):  # a text alone would be taken for the name of a file
                raise PolicyError("it is no mapping of settings")
            return Guard(Policy.load(settings), self._validators, self._grounder)
        except (PolicyError, yaml.YAMLError) as error:
            return f"its policy cannot be used any more: {error}"


def _again(guard: Guard, request: dict[str, Any]) -> Occurrence | str:
    """The verdict once more, or why this version does not take the request."""
    try:
        return guard.examine(parse_request(request), record=False)
    except InputError as error:
        return f"its request is not accepted any more: {error}"


def _obstacle(entry: Entry, meta: dict[str, Any]) -> str | None:
    if Reason.VALIDATORS_OFF in (entry.reasons or "").split(" "):
        return "the validators were off: nothing was decided"
    if meta["content"] != "full":
        return {"hashed": "only hashes of its texts were kept", "none": "its texts were not kept"}[meta["content"]]
    if entry.body is None:
        return "its texts were erased"
    if entry.body.digest != entry.body_digest:
        return "its texts are not what they were: run `stillme audit verify`"
    if meta["blanked"]:
        return "parts of its texts were redacted"
    return None


def _changed(recorded: dict[str, Any], replayed: dict[str, Any]) -> Iterator[str]:
    """What a verdict was made with then, and is made with now."""
    if recorded["version"] != __version__:
        yield f"version: recorded by {recorded['version']}, replayed by {__version__}"
    if recorded["model_id"] != replayed["model_id"]:
        yield f"model: recorded with {recorded['model_id']}, replayed with {replayed['model_id']}"
    if recorded["policy_hash"] != replayed["policy_hash"]:
        yield "policy: this version reads more or other settings out of the stored policy"


def _other_causes(meta: dict[str, Any], again: Occurrence) -> Iterator[str]:
    if sorted(meta["added"]) != sorted(again.added):
        yield f"validators that the program had added: {', '.join(meta['added']) or 'none'}, now {', '.join(again.added) or 'none'}"
    if any(finding[1] == "errored" for finding in meta["findings"]):
        yield "a validator failed or timed out when the verdict was made"
    if any(finding.outcome == "errored" for finding in again.verdict.findings):
        yield "a validator failed or timed out in the replay"


def _differences(recorded: Any, replayed: Any, path: str = "") -> Iterator[Difference]:
    """Every place where the two differ, as deep as it can be told."""
    if isinstance(recorded, dict) and isinstance(replayed, dict):
        for key in [*recorded, *(key for key in replayed if key not in recorded)]:
            if key not in OF_THE_MOMENT and (path or key not in CONDITIONS):
                below = f"{path}.{key}" if path else key
                yield from _differences(recorded.get(key), replayed.get(key), below)
    elif isinstance(recorded, list) and isinstance(replayed, list) and len(recorded) == len(replayed):
        for number, (one, other) in enumerate(zip(recorded, replayed, strict=True)):
            yield from _differences(one, other, f"{path}[{number}]")
    elif recorded != replayed:
        yield Difference(path, recorded, replayed)
