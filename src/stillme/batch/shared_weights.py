"""Read once, in a process that is then copied for each worker: importing this reads the models, each for one thread.

A session of several threads would not survive the copy. Where reading fails it fails again in the worker that needs it, and says so there.
"""

from __future__ import annotations

import gc

from stillme.models import bundle
from stillme.models.embedding import embedder
from stillme.models.grounding import grounding_model
from stillme.validators.chain import attempt

__all__: list[str] = []

bundle.threads = 1
for load in (grounding_model, embedder):
    attempt(load)
gc.freeze()
