"""Tests against the real packages that StillMe works inside. `make test-clients` installs them and runs these; `make test` leaves them out."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("STILLME_CLIENTS") else ["*_*.py"]
