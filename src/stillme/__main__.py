"""`python -m stillme` is the command `stillme`."""

from __future__ import annotations

from stillme.cli import main

if __name__ == "__main__":
    main()
