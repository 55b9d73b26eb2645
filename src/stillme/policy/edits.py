"""A policy file with one value changed, everything else byte for byte as it was."""

from __future__ import annotations

from typing import Any

import yaml

__all__ = ["with_value"]


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
