"""The policy file over HTTP: read, checked, tried on what is recorded and on labelled cases, saved with a reason, and brought back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from stillme.audit import AuditStore
from stillme.errors import InputError, PolicyError
from stillme.evaluation.changes import policy_changes
from stillme.evaluation.rollout.versions import (
    PolicyVersion,
    checked_text,
    file_problems,
    roll_back,
    save,
    text_digest,
    version,
    versions,
)
from stillme.evaluation.runs.case_files import case_from, read_cases, starter_file
from stillme.evaluation.runs.cases import Case
from stillme.evaluation.whatif import RecordedTraffic, WhatIf, what_if
from stillme.guard import Guard
from stillme.policy import Policy
from stillme.policy.reader import file_bytes
from stillme.service.bodies import as_model, read_json
from stillme.service.problems import Problem, ProblemError
from stillme.service.records import NO_STORE, Records, Route, add_routes, answer

__all__ = ["POLICY_BODIES", "PolicyEndpoints"]

NO_FILE: Final = "the policy in force is no file: write policy.yaml and serve with --policy policy.yaml"
LONGEST_TEXT: Final = 300_000
MOST_VERSIONS: Final = 100
MOST_TRIED: Final = 2_000
# A trial ends by itself before it would be given up: what it has found by then is told, and that it is not all.
SHARE_OF_TIME: Final = 0.6
# How many flips of each direction are told one by one.
MOST_TOLD: Final = 100
Text = Annotated[str, Field(max_length=LONGEST_TEXT, description="the whole policy file, YAML")]
Why = Annotated[str, Field(min_length=1, max_length=10_000, description="why; it goes into the record")]
Known = Annotated[
    str,
    Field(description="`digest` of the file that this change began with: one that changed since is not overwritten"),
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PolicyText(_Body):
    """A policy to check."""

    text: Text


class WhatIfRequest(_Body):
    """A policy to try."""

    text: Text
    on: Literal["traffic", "reviewed", "starter", "cases"] = Field(
        "traffic", description="the newest recorded verdicts, those with a label, the bundled cases, or the cases sent"
    )
    most: int = Field(
        200, ge=1, le=MOST_TRIED, description="how many requests are judged: the newest, or cases evenly spread"
    )
    cases: list[dict[str, Any]] | None = Field(
        None, max_length=MOST_TRIED, description="cases as `stillme eval` reads them"
    )


class SaveRequest(_Body):
    """A new text of the policy file."""

    text: Text
    why: Why
    known: Known


class RollBackRequest(_Body):
    """An earlier version to bring back."""

    version: str
    why: Why
    known: Known


POLICY_BODIES: Final = (PolicyText, WhatIfRequest, SaveRequest, RollBackRequest)


@dataclass(frozen=True, slots=True)
class PolicyEndpoints:
    """The endpoints over the policy file, which may be none, and the guards that follow it.

    `changes` is what the environment puts over whatever the file says.
    """

    records: Records
    guards: Sequence[Guard]
    file: Path | None
    changes: Mapping[str, Any]

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        check = "What is wrong with a policy, line by line, and what it changes."
        one = "One version, and how the one in force differs."
        routes = (
            Route("GET", "/v1/policy/file", self.show, "The policy file as it stands."),
            Route("POST", "/v1/policy/check", self.check, check, PolicyText),
            Route(
                "POST",
                "/v1/policy/what-if",
                self.try_out,
                "Which verdicts would be others under this policy.",
                WhatIfRequest,
            ),
            Route("POST", "/v1/policy/save", self.save, "Put a policy in force, with a reason.", SaveRequest),
            Route("GET", "/v1/policy/history", self.history, "The versions of the policy file, the newest first."),
            Route("GET", "/v1/policy/history/{version_id}", self.earlier, one),
            Route("POST", "/v1/policy/roll-back", self.roll_back, "Bring an earlier version back.", RollBackRequest),
        )
        add_routes(app, routes)

    async def show(self) -> Response:
        """The text, its digest, what is wrong with it, and whether it can be changed here; without a file what is in force, written out."""
        return answer(await self.records.run(self._file))

    async def check(self, request: Request) -> Response:
        """Problems with their lines; of a text that has none, how it differs from what is in force."""
        asked = as_model(PolicyText, await read_json(request))
        return answer(await self.records.run(lambda: self._checked(asked.text)))

    async def try_out(self, request: Request) -> Response:
        """Judge recorded requests or cases under the policy in force and under this one; nothing is recorded."""
        asked = as_model(WhatIfRequest, await read_json(request))
        return answer(await self.records.run(lambda: self._tried(asked)))

    async def save(self, request: Request) -> Response:
        """Check, record, replace: a text that is no policy, or that changes the mode, is refused and changes nothing."""
        asked, who = as_model(SaveRequest, await read_json(request)), _who(request)

        def work(store: AuditStore, file: Path) -> PolicyVersion:
            return save(store, file, asked.text, by=who, why=asked.why, known=asked.known)

        return answer(await self.records.run(lambda: self._changed(work)))

    async def roll_back(self, request: Request) -> Response:
        """The text of an earlier version in the mode of today, recorded as a version of its own."""
        asked, who = as_model(RollBackRequest, await read_json(request)), _who(request)

        def work(store: AuditStore, file: Path) -> PolicyVersion:
            return roll_back(store, file, asked.version, by=who, why=asked.why, known=asked.known)

        return answer(await self.records.run(lambda: self._changed(work)))

    async def history(self) -> Response:
        """Who changed the file when and why; a version that was found was written by other means."""
        found = await self.records.run(lambda: versions(self.records.required, MOST_VERSIONS))
        return answer({"versions": [_row(each) for each in found]})

    async def earlier(self, version_id: str) -> Response:
        """The text as it was."""

        def work() -> dict[str, Any]:
            try:
                found = version(self.records.required, version_id)
            except InputError as error:
                raise ProblemError(Problem(404, str(error))) from None
            return {**_row(found), "text": found.text, **(self._checked(found.text or ""))}

        return answer(await self.records.run(work))

    # the work

    def _file(self) -> dict[str, Any]:
        guard = self.guards[0]
        text = file_bytes(self.file).decode("utf-8", "replace") if self.file else guard.policy.to_yaml()
        problem = guard.policy_problem
        return {
            "file": self.file.name if self.file else None,
            "text": text,
            "digest": text_digest(text),
            "problem": str(problem) if problem else None,
            "policy_hash": guard.policy.hash,
            "mode": guard.policy.mode,
            "may_write": self.file is not None and self.records.store is not None,
            "reason": None if self.file and self.records.store else NO_FILE if self.records.store else NO_STORE,
        }

    def _checked(self, text: str) -> dict[str, Any]:
        found = file_problems(text, self._name)
        if found:
            return {"problems": [asdict(each) for each in found], "policy_hash": None, "mode": None, "changes": []}
        policy = self._read(text)
        changes = [asdict(each) for each in policy_changes(self.guards[0].policy, policy)]
        return {"problems": [], "policy_hash": policy.hash, "mode": policy.mode, "changes": changes}

    def _tried(self, asked: WhatIfRequest) -> dict[str, Any]:
        try:
            after = self._read(asked.text)
        except PolicyError as error:
            raise InputError(str(error)) from None
        cases: list[Case] = []
        traffic: RecordedTraffic | None = None
        if asked.on in ("traffic", "reviewed"):
            traffic = RecordedTraffic(self.records.required, newest=asked.most, reviewed=asked.on == "reviewed")
        else:
            cases = _spread(
                list(read_cases(starter_file())) if asked.on == "starter" else _cases_of(asked.cases), asked.most
            )
        end = time.monotonic() + self.records.settings.timeout_s * SHARE_OF_TIME
        late: list[bool] = []

        def is_over() -> bool:
            late.append(time.monotonic() > end)
            return late[-1]

        found = what_if(
            self.guards[0].policy, after, traffic or cases, as_of=datetime.now(UTC), examples=MOST_TOLD, is_over=is_over
        )
        return _flips(found, cases, is_cut_short=late[-1])

    def _changed(self, work: Callable[[AuditStore, Path], PolicyVersion]) -> dict[str, Any]:
        if self.file is None:
            raise InputError(NO_FILE)
        done = work(self.records.required, self.file)
        for guard in self.guards:
            guard.refresh()
        return {**_row(done), "in_force": self.guards[0].policy.hash}

    def _read(self, text: str) -> Policy:
        policy = checked_text(text, self._name)
        return policy.with_changes(self.changes) if self.changes else policy

    @property
    def _name(self) -> str:
        return self.file.name if self.file else "policy.yaml"


def _cases_of(given: Sequence[Mapping[str, Any]] | None) -> list[Case]:
    if not given:
        raise InputError("cases must be a list of at least one case where `on` is cases")
    found = []
    for n, values in enumerate(given):
        try:
            found.append(case_from(values))
        except InputError as error:
            raise InputError(f"cases.{n}: {error}") from None
    return found


def _spread(cases: Sequence[Case], most: int) -> list[Case]:
    """So many of the cases, from the first to the last: files of cases are in order of what they try."""
    return [cases[n * len(cases) // most] for n in range(most)] if len(cases) > most else list(cases)


def _flips(found: WhatIf, cases: Sequence[Case], *, is_cut_short: bool) -> dict[str, Any]:
    """What the comparison says, and of each flip of a case its request, which is recorded nowhere."""
    requests = {case.id: case.request.model_dump(mode="json", exclude_unset=True) for case in cases}
    told = asdict(found) | {"is_cut_short": is_cut_short}
    for example in told["examples"]:
        example["request"] = requests.get(example["name"])
    return told | {"flipped": found.flipped, "against": found.against, "unjudged": found.unjudged}


def _row(found: PolicyVersion) -> dict[str, Any]:
    return {name: value for name, value in asdict(found).items() if name != "text"}


def _who(request: Request) -> str:
    return str(request.scope.get("stillme.caller") or "local")
