"""What the results of a batch are made of, and the files that it keeps: OUT, OUT.run.json with the heading, OUT.report.json at the end."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from stillme.batch.inputs import InputFile, form_of
from stillme.batch.judging import Recipe
from stillme.errors import InputError, shown
from stillme.version import __version__

__all__ = ["Batch", "Heading", "held"]

WAY_OUT = "name another output, or give --anew"


@dataclass(frozen=True, slots=True)
class Batch:
    """Which rows are verified how, and where the results go."""

    files: Sequence[InputFile]
    out: Path
    recipe: Recipe
    model_id: str
    is_dated: bool = False
    """Whether somebody said which point in time rows without their own are judged at; else it is when the batch began."""

    @property
    def form(self) -> str:
        """How the results are written; InputError where the name does not say."""
        form = form_of(self.out.name)
        if form is None or self.out.name.endswith(".gz"):
            raise InputError(
                f"{shown(str(self.out))} is in no form that is known: name a file .jsonl, .csv or .parquet"
            )
        return form

    @property
    def lines(self) -> Path:
        """Where lines go while the batch runs."""
        return self.out if self.form == "jsonl" else self.beside("lines.jsonl")

    @property
    def report_file(self) -> Path:
        """Is there once the batch is complete."""
        return self.beside("report.json")

    @property
    def size(self) -> int:
        """The bytes of the input."""
        return sum(file.size for file in self.files)

    def beside(self, ending: str) -> Path:
        """A file that belongs to the output."""
        return self.out.with_name(f"{self.out.name}.{ending}")


@dataclass(frozen=True, slots=True)
class Heading:
    """What results depend on: where one of these is another, it is another batch."""

    files: list[str]
    policy_hash: str
    model_id: str
    version: str
    as_of: str
    mapping: dict[str, str]
    brief: bool

    @staticmethod
    def of(batch: Batch) -> Heading:
        """The heading of a batch that begins now."""
        recipe = batch.recipe
        names = [file.name for file in batch.files]
        return Heading(
            names, recipe.policy_hash, batch.model_id, __version__, recipe.as_of, recipe.mapping, recipe.brief
        )

    def check(self, batch: Batch) -> None:
        """InputError where a batch is not the one that was begun under this heading."""
        words = {"files": "input", "policy_hash": "policy", "model_id": "model", "version": "version of stillme"}
        words |= {"mapping": "--map", "brief": "--brief"} | ({"as_of": "--as-of"} if batch.is_dated else {})
        wanted = Heading.of(batch)
        other = [word for key, word in words.items() if getattr(self, key) != getattr(wanted, key)]
        if other:
            raise InputError(f"{shown(str(batch.out))} was begun with another {' and another '.join(other)}: {WAY_OUT}")


@contextmanager
def held(batch: Batch, *, anew: bool = False) -> Iterator[Heading]:
    """The heading of the batch, which nobody else can go on with meanwhile; the hold ends with the process, however that ends."""
    if not batch.out.parent.is_dir():
        raise InputError(f"{shown(str(batch.out.parent))} is no folder: make it first, or name an output elsewhere")
    with batch.beside("run.json").open("a+", encoding="utf-8") as file:
        _lock(file, batch.out)
        file.seek(0)
        text = file.read()
        if anew or not (text and _is_begun(batch)):
            _clear(batch, is_ours=anew or bool(text))
            file.truncate(0)
            file.write(json.dumps(asdict(Heading.of(batch)), ensure_ascii=False, indent=1))
            file.flush()
            yield Heading.of(batch)
            return
        heading = _read(text, batch.out)
        heading.check(batch)
        yield heading


def _is_begun(batch: Batch) -> bool:
    """Whether anything was written under the heading that is there."""
    return batch.report_file.is_file() or (batch.lines.is_file() and batch.lines.stat().st_size > 0)


def _clear(batch: Batch, *, is_ours: bool) -> None:
    """Remove what an earlier batch left; what is not known to be ours stays."""
    if batch.out.exists() and not is_ours:
        batch.beside("run.json").unlink()
        raise InputError(f"{shown(str(batch.out))} is there and no batch of ours: {WAY_OUT}")
    for path in (batch.lines, batch.out, batch.report_file):
        path.unlink(missing_ok=True)


def _read(text: str, out: Path) -> Heading:
    try:
        return Heading(**json.loads(text))
    except (ValueError, TypeError):
        raise InputError(f"{shown(str(out))} has a heading that cannot be read: {WAY_OUT}") from None


def _lock(file: TextIO, out: Path) -> None:
    if os.name != "posix":
        return
    import fcntl  # noqa: PLC0415  (not on every system)

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(f"{shown(str(out))} is being written by another batch: wait for it, or name another") from None
