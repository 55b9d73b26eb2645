"""The files that a batch reads: named one by one, by a folder or by a pattern, in an order that does not depend on the machine."""

from __future__ import annotations

import glob
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from stillme.errors import InputError, shown

__all__ = ["FORMS", "InputFile", "find_inputs", "form_of"]

FORMS: Final = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
COMPRESSED: Final = ".gz"
WAY_OUT: Final = "name files that end in .jsonl, .ndjson, .csv (each also with .gz), .parquet or .pq"


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of rows, by the name that results carry."""

    name: str
    form: str
    size: int

    @property
    def is_compressed(self) -> bool:
        """Whether gzip packed it."""
        return self.name.endswith(COMPRESSED)


def form_of(name: str) -> str | None:
    """jsonl, csv or parquet by how a name ends; None where it is none of them."""
    form = FORMS.get(Path(name.removesuffix(COMPRESSED)).suffix.lower())
    return None if form == "parquet" and name.endswith(COMPRESSED) else form


def find_inputs(sources: Sequence[str], out: Path) -> list[InputFile]:
    """The files that the sources name, each once, in the order of the sources and sorted within; what belongs to `out` is no input."""
    found = dict.fromkeys(name for source in sources for name in _names(source))
    names = [name for name in found if not _belongs(Path(name), out)]
    if not names:
        problem = "what is there is the output itself" if found else "no file of rows is there"
        raise InputError(f"{', '.join(map(shown, sources))}: {problem}; {WAY_OUT}")
    return [_file(name) for name in names]


def _names(source: str) -> list[str]:
    path = Path(source)
    if path.is_dir():
        return sorted(str(each) for each in path.rglob("*") if each.is_file() and form_of(each.name))
    if path.is_file():
        return [source]
    if glob.has_magic(source):
        found = glob.glob(source, recursive=True)  # noqa: PTH207  (an absolute pattern is welcome here)
        return sorted(name for name in found if Path(name).is_file())
    raise InputError(f"{shown(source)} is no file, no folder and no pattern: {WAY_OUT}")


def _belongs(path: Path, out: Path) -> bool:
    return path.resolve().parent == out.resolve().parent and (
        path.name == out.name or path.name.startswith(f"{out.name}.")
    )


def _file(name: str) -> InputFile:
    form = form_of(name)
    if form is None:
        raise InputError(f"{shown(name)} is in no form that is known: {WAY_OUT}")
    if form == "parquet" and find_spec("pyarrow") is None:
        raise InputError(f"{shown(name)} is Parquet, which needs pyarrow: pip install 'stillme[parquet]'")
    if any(unicodedata.category(character) == "Cs" for character in name):
        raise InputError(f"{shown(name)} is a name that is not UTF-8, and results carry it: rename the file")
    return InputFile(name, form, Path(name).stat().st_size)
