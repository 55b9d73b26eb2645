"""Cases from a file, one at a time: a JSON object a line, or the rows of a CSV file.

What is wrong is reported with its line, several problems at once, and a file with a problem is not used at all: `checked` reads it
through before anything is run. Reading keeps the ids of the cases, to find one that comes twice, and nothing else of them.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from pydantic import ValidationError

from stillme.batch.columns import CONTEXT, assembled, from_json
from stillme.batch.input_files import STDIN, json_value, opened_input, plain_name
from stillme.contract import VerifyRequest, parse_request
from stillme.errors import InputError, shown, way_out
from stillme.evaluation.runs.cases import Case, ClaimLabel

__all__ = ["COLUMNS", "STARTER", "CaseFile", "case_from", "checked", "read_cases", "starter_file", "written"]

STARTER: Final = "starter"
MOST_BYTES: Final = 64 * 1024 * 1024
MOST_PROBLEMS: Final = 10
COLUMNS: Final = (
    *("id", "query", "draft_answer", "context", "expected", "supported", "claims", "reasons"),
    *("category", "tags", "language", "domain", "as_of", "generation_confidence", "why"),
)
"""Of a CSV file; `context_2`, `context_3` and so on hold further passages."""
WORDS: Final = dict.fromkeys(("true", "yes", "1", "supported"), True) | dict.fromkeys(
    ("false", "no", "0", "unsupported"), False
)
Place = tuple[int, Callable[[], Case]]
"""A line, and what reads the case that ends there."""


@dataclass(frozen=True, slots=True)
class CaseFile:
    """Cases that were read through once and can be read again, as often as they are needed."""

    name: str
    """As a user named them."""
    path: Path
    count: int
    sha256: str
    """Of the cases in order, in one form whatever file they were in."""
    places: frozenset[int] | None = None
    """Where the cases of a sample stand in the file; None where it is all of them."""

    def __iter__(self) -> Iterator[Case]:
        return _at(read_cases(self.path), self.places)

    def __len__(self) -> int:
        return self.count


def checked(file: str | Path, limit: int | None = None, name: str | None = None) -> CaseFile:
    """The cases of a file, or a sample of `limit` of them, counted and hashed; InputError where one of them cannot be used."""
    if str(file) == STDIN:
        raise InputError("standard input can be read once only: write it to a file first")
    places = _sample([_stratum(case) for case in read_cases(file)], limit) if limit else None
    digest, count = hashlib.sha256(), 0
    for count, case in enumerate(_at(read_cases(file), places), 1):  # noqa: B007  (the last number is how many there were)
        digest.update(written(case).encode("utf-8"))
    if not count:
        raise InputError(f"{plain_name(file)} has no cases: give one JSON object a line")
    return CaseFile(name or str(file), Path(file), count, digest.hexdigest(), places)


def _stratum(case: Case) -> tuple[str, ...]:
    """What a sample holds in the same shares as the whole."""
    return case.expected or "", case.category or "", case.request.metadata.language


def _sample(strata: Sequence[tuple[str, ...]], size: int) -> frozenset[int]:
    """Evenly spaced places of the cases ordered by stratum: each stratum has its share, and the same file gives the same sample."""
    ordered = sorted(range(len(strata)), key=strata.__getitem__)
    taken = min(size, len(ordered))
    return frozenset(ordered[(2 * k + 1) * len(ordered) // (2 * taken)] for k in range(taken))


def _at(cases: Iterator[Case], places: frozenset[int] | None) -> Iterator[Case]:
    return (case for place, case in enumerate(cases) if places is None or place in places)


def starter_file() -> Path:
    """Where the bundled cases are."""
    path = Path(__file__).with_name("starter.jsonl")
    if not path.is_file():
        raise InputError("this installation has no bundled cases: install it again, or name a file of cases")
    return path


def written(case: Case) -> str:
    """The case as a line of JSON, the same for the same case."""
    values = case.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def read_cases(file: str | Path) -> Iterator[Case]:
    """The cases of a file (`-`: JSON lines on standard input) as they are read; InputError with every problem up to ten.

    After the first problem no further case is given, but the file is read on to report what else is wrong.
    """
    name = plain_name(file)
    with opened_input(file) as stream:
        places = _csv_rows(stream, name) if Path(file).suffix.lower() == ".csv" else _lines(stream)
        with closing(places):
            yield from _sound(places, name)


def case_from(values: object) -> Case:
    """A case from parsed JSON, or an InputError that names the field, the value and the way out."""
    if not isinstance(values, Mapping):
        raise InputError(f"a case is a JSON object, got {type(values).__name__}")
    try:
        case = Case.model_validate(dict(values))
    except ValidationError as error:
        raise InputError(_explain(error)) from None
    parse_request(case.request)
    return case


def _sound(places: Iterable[Place], name: str) -> Iterator[Case]:
    """The cases up to the first problem; every id once."""
    seen: dict[str, int] = {}
    problems: list[str] = []
    for line, read in places:
        try:
            case = read()
            if case.id in seen:
                raise InputError(f"id {shown(case.id)} is that of line {seen[case.id]}, too: give each case its own")
            seen[case.id] = line
        except InputError as error:
            problems.append(f"{name} line {line}: {error}")
            if len(problems) == MOST_PROBLEMS:
                problems.append("and maybe more: the rest was not read")
                break
            continue
        if not problems:
            yield case
    if problems:
        raise InputError("\n".join(problems))


# JSON lines


def _lines(stream: BinaryIO) -> Generator[Place, None, None]:
    rows = iter(lambda: stream.readline(MOST_BYTES), b"")
    for number, row in enumerate(rows, 1):
        text = row.removeprefix(b"\xef\xbb\xbf") if number == 1 else row
        if text.strip():
            yield number, partial(_json_case, text.rstrip())


def _json_case(row: bytes) -> Case:
    if len(row) >= MOST_BYTES:
        raise InputError(f"longer than {MOST_BYTES >> 20} MiB: a case is one line")
    return case_from(json_value(row, "a case", hint="; a case is one JSON object on one line"))


# CSV


def _csv_rows(stream: BinaryIO, name: str) -> Generator[Place, None, None]:
    text = TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    try:
        heading = text.readline()
        delimiter = ";" if heading.count(";") > heading.count(",") else ","
        columns = [column.strip() for column in next(csv.reader([heading], delimiter=delimiter), [])]
        _check_columns(columns, name)
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num + 1, partial(_row_case, columns, row)
    except UnicodeDecodeError:
        raise InputError(f"{name} is not UTF-8 text: save it as CSV UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{name} cannot be read as CSV: {error}; long texts fit into JSON lines") from None
    finally:
        text.detach()


def _check_columns(columns: list[str], name: str) -> None:
    for column in columns:
        if column not in COLUMNS and not CONTEXT.fullmatch(column):
            hint = way_out(column, COLUMNS, "columns are")
            raise InputError(f"{name} line 1: {shown(column)} is no column: {hint}")
    for column in columns:
        if columns.count(column) > 1:
            raise InputError(f"{name} line 1: the column {shown(column)} is there twice")
    for needed in ("id", "query"):
        if needed not in columns:
            raise InputError(f"{name} line 1: the column {needed} is missing")


def _row_case(columns: list[str], row: list[str]) -> Case:
    if len(row) != len(columns):
        raise InputError(f"{len(row)} cells under {len(columns)} columns")
    cells = {column: cell for column, cell in zip(columns, row, strict=True) if cell.strip()}
    case: dict[str, Any] = {key: cells[key].strip() for key in ("id", "expected", "category", "why") if key in cells}
    lists = {
        key: [p.strip() for p in re.split(r"[;|]", cells.get(key, "")) if p.strip()] for key in ("reasons", "tags")
    }
    named = {key: cells[key].strip() for key in ("language", "domain") if key in cells}
    return case_from(case | lists | {"request": assembled(cells | named), "claims": _labels(cells)})


def _labels(cells: Mapping[str, str]) -> list[Any]:
    """What `claims` says as a JSON list, else what `supported` says of the draft as a whole."""
    if "claims" in cells:
        return cast("list[Any]", from_json("claims", cells["claims"]))
    if "supported" not in cells:
        return []
    supported = WORDS.get(cells["supported"].strip().casefold())
    if supported is None:
        raise InputError(f"supported is true or false, got {shown(cells['supported'])}")
    return [{"text": cells.get("draft_answer", ""), "supported": supported, "start": 0}]


# what is wrong with a case


def _explain(error: ValidationError) -> str:
    """The first three problems of a case, each with field, value and way out."""
    problems = error.errors(include_url=False, include_context=False)
    lines = [_problem(p["type"], p["loc"], p["msg"], p.get("input")) for p in problems[:3]]
    more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
    return "; ".join(lines) + more


def _problem(kind: str, loc: tuple[int | str, ...], message: str, value: object) -> str:
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")
    if kind == "extra_forbidden":
        known = Case if len(loc) == 1 else VerifyRequest if loc[0] == "request" else ClaimLabel
        return f"unknown key {shown(field)}: {way_out(str(loc[-1]), known.model_fields, 'valid keys:')}"
    if kind == "missing":
        return f"{field} is missing: it is required"
    text = message.removeprefix("Value error, ").replace("Input should", "should")
    if not field:
        return text
    return f"{field}: {text}, got {shown(value)}"
