"""How a policy file is changed: one value, everything else byte for byte as it was; and the file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import yaml

from stillme.errors import BackendError, shown

__all__ = ["replacement", "with_value"]


def with_value(content: bytes, path: tuple[str, ...], written: str) -> bytes:
    """The file with the value at a path replaced by a piece of YAML; where it has none, a line is put before its neighbours.

    The sections above the value must be there. Whoever calls this reads the result again: anchors carry a change elsewhere.
    """
    text = content.decode("utf-8-sig")
    start, end, new = _place(text, path, written)
    mark = content[: len(content) - len(text.encode())]
    return mark + (text[:start] + new + text[end:]).encode()


def _place(text: str, path: tuple[str, ...], written: str) -> tuple[int, int, str]:
    """Which characters are to be replaced, and by what."""
    newline = "\r\n" if "\r\n" in text else "\n"
    line = f"{path[-1]}: {written}"
    # The reader in Python: its marks count characters.
    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    if node is None:
        return len(text), len(text), f"{'' if not text or text.endswith(newline) else newline}{line}{newline}"
    for section in path[:-1]:
        node = next(value for key, value in node.value if key.value == section)
    for key, value in node.value:
        if key.value == path[-1]:
            start, end = value.start_mark.index, value.end_mark.index
            return start, end, written if start < end else f" {written}"
    if not node.value:  # only braces have nothing in them
        return node.end_mark.index - 1, node.end_mark.index - 1, line
    first = node.value[0][0].start_mark
    return first.index, first.index, line + (", " if node.flow_style else f"{newline}{' ' * first.column}")


@contextmanager
def replacement(path: Path, content: bytes) -> Iterator[Callable[[], None]]:
    """A new file beside the old one, with its owner and permissions; it takes its place when asked, or is gone."""
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        before = path.stat()
        with part.open("xb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        part.chmod(before.st_mode & 0o7777)
        if (part.stat().st_uid, part.stat().st_gid) != (before.st_uid, before.st_gid):
            os.chown(part, before.st_uid, before.st_gid)
        yield lambda: _put(part, path)
    except OSError as error:
        raise BackendError(f"{shown(str(path))} cannot be replaced: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink()


def _put(part: Path, path: Path) -> None:
    try:
        part.replace(path)
    except OSError as error:
        raise BackendError(
            f"{shown(str(path))} is unchanged, although its change is recorded: {error.strerror or error}"
        ) from None
