"""Tests against the real packages that StillMe works inside. `make test-clients` installs them and runs these; `make test` leaves them out."""

from __future__ import annotations

import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would fetch prices when it is imported
collect_ignore_glob = [] if os.environ.get("STILLME_CLIENTS") else ["*_*.py"]
