"""The command line. Importing it loads nothing: `main` imports what it runs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["main"]


def main() -> None:
    """Run the command line; a defect of ours is one line as well, unless STILLME_TRACEBACK is set."""
    from stillme.cli.commands import cli

    if not os.environ.get("STILLME_TRACEBACK"):
        sys.excepthook = _report_defect
    cli(prog_name="stillme")


def _report_defect(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    from stillme.cli.printing import complain
    from stillme.errors import shown

    complain(f"stillme failed: {kind.__name__}: {shown(str(error), 200)} (STILLME_TRACEBACK=1 shows where)")
