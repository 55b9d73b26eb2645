"""The documents that the chat answers from, over HTTP: listed, added, removed. What is in them is found with `/v1/search`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, TypeVar, cast

from fastapi import FastAPI, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from stillme.chat.documents.extracts import clean
from stillme.chat.documents.file_formats import SUFFIXES
from stillme.chat.documents.ingest import ingest
from stillme.errors import InputError, shown
from stillme.models.embedding import embed
from stillme.service.bodies import as_model, read_json
from stillme.service.limits import Pool, within
from stillme.service.openapi import body_of, problems
from stillme.service.settings import ServiceSettings
from stillme.storage.knowledge.base import KnowledgeStore
from stillme.text.tokens import fold_text

__all__ = ["Documents", "RemovalRequest"]

TIMEOUT: Final = "STILLME_CHAT_TIMEOUT_S"
MOST_LISTED: Final = 200
LONGEST_NAME: Final = 200
Result = TypeVar("Result")


class DocumentList(BaseModel):
    """Some documents, by name."""

    documents: list[str]
    next: str | None = Field(description="send it as `after` for the following page; null at the end")
    total: int = Field(description="how many documents there are, whatever was looked for")
    chunks: int
    kinds: list[str] = Field(description="how the names of files end that can be read")


class AddedDocument(BaseModel):
    """What became of a file."""

    name: str
    state: str = Field(description="added, replaced or unchanged")
    chunks: int
    notes: list[str]


class RemovalRequest(BaseModel):
    """Documents to forget."""

    model_config = ConfigDict(extra="forbid")

    names: list[str] = Field(min_length=1, max_length=1_000)


class Removed(BaseModel):
    """How many documents were forgotten."""

    removed: int


@dataclass(frozen=True, slots=True)
class Documents:
    """The endpoints over a knowledge store."""

    store: KnowledgeStore
    pool: Pool
    settings: ServiceSettings

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        upload = {
            "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"format": "binary"}}}}
        }
        routes: list[tuple[str, str, Callable[..., Any], type[BaseModel], dict[str, Any] | None, str]] = [
            ("GET", "/v1/documents", self.listing, DocumentList, None, "The documents that answers stand on."),
            (
                "POST",
                "/v1/documents/upload",
                self.add,
                AddedDocument,
                upload,
                "Read a file in; one of its name is replaced.",
            ),
            ("POST", "/v1/documents/remove", self.remove, Removed, body_of(RemovalRequest), "Forget documents."),
        ]
        for method, path, endpoint, gives, extra, summary in routes:
            app.add_api_route(
                path,
                endpoint,
                methods=[method],
                response_model=gives,
                responses=problems(400, 401, 403, 408, 413, 415, 422, 429, 503),
                openapi_extra=extra,
                summary=summary,
                tags=["chat"],
            )

    async def listing(
        self,
        q: Annotated[
            str, Query(max_length=200, description="a part of the name, whatever the case and the accents")
        ] = "",
        after: Annotated[str, Query(max_length=500)] = "",
        limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
    ) -> DocumentList:
        """Names in alphabetical order, a page at a time."""

        def work() -> DocumentList:
            total, chunks = self.store.counts("knowledge")
            wanted = fold_text(q.strip())
            found = sorted(
                name for name in self.store.digests("knowledge") if wanted in fold_text(name) and name > after
            )
            following = found[limit - 1] if len(found) > limit else None
            return DocumentList(
                documents=found[:limit], next=following, total=total, chunks=chunks, kinds=sorted(SUFFIXES)
            )

        return await self._run(work)

    async def add(
        self,
        request: Request,
        name: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, description="the name of the file")],
    ) -> AddedDocument:
        """The body is the file as it is: Markdown, text, HTML or PDF."""
        content, plain = await request.body(), _file_name(name)
        return await self._run(lambda: self._read_in(plain, content))

    async def remove(self, request: Request) -> Removed:
        """Documents that there are not are forgotten already."""
        asked = as_model(RemovalRequest, await read_json(request))
        return Removed(removed=await self._run(lambda: self.store.remove("knowledge", asked.names)))

    def _read_in(self, name: str, content: bytes) -> AddedDocument:
        if not content:
            raise InputError(f"{shown(name)} is empty: send the file as the body")
        with tempfile.TemporaryDirectory(prefix="stillme-upload-") as folder:
            file = Path(folder) / name
            file.write_bytes(content)
            report = ingest([file], self.store, embed=embed)
        if report.failed:
            raise InputError(f"{shown(name)}: {report.failed[0].reason}")
        state = next(kind for kind in ("added", "replaced", "unchanged") if getattr(report, kind))
        return AddedDocument(name=name, state=state, chunks=report.chunks, notes=[note.reason for note in report.noted])

    async def _run(self, work: Callable[[], Result]) -> Result:
        return cast(Result, await within(self.settings.chat_timeout_s, self.pool.run(work), TIMEOUT))


def _file_name(name: str) -> str:
    """The last part of a name, as a file of this machine can have it."""
    plain = clean(PurePosixPath(name.replace("\\", "/")).name).strip(" .")
    if not plain or "/" in plain or "\0" in plain or len(plain.encode()) > LONGEST_NAME:
        raise InputError(f"{shown(name)} is no name of a file: 1 to {LONGEST_NAME} bytes, such as handbook.md")
    if PurePosixPath(plain).suffix.lower() not in SUFFIXES:
        raise InputError(f"{shown(plain)} is no kind of file that can be read: {', '.join(SUFFIXES)}")
    return plain
