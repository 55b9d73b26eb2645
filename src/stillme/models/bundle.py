"""The shipped files: what the manifest says of them, and the files themselves once their hashes are checked."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, Final, TypeVar

from stillme.errors import BackendError

__all__ = ["WEIGHTS", "checked", "loaded_once", "manifest", "session"]

WEIGHTS: Final = Path(__file__).with_name("weights")
THREADS: Final = 2
Loaded = TypeVar("Loaded")


@cache
def manifest() -> dict[str, Any]:
    """Name, version, hashes and thresholds of the shipped models."""
    try:
        once: dict[str, Any] = json.loads((WEIGHTS / "manifest.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BackendError(f"the model files of this installation cannot be read: {error}; install it again") from None
    return once


@cache
def checked(name: str) -> Path:
    """The path of a model file whose content is the one that was shipped."""
    path = WEIGHTS / name
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BackendError(f"the model file {name} cannot be read: {error.strerror or error}; install again") from None
    if digest != manifest()["files"].get(name):
        raise BackendError(f"the model file {name} is not the one that was shipped: install it again")
    return path


def session(name: str) -> Any:
    """An ONNX Runtime session over a model file; it may be used by several threads at once."""
    import onnxruntime  # noqa: PLC0415  (a tenth of a second, paid when a model is first needed)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin between calls would take the processor from the rest of the service.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(checked(name)), options, providers=["CPUExecutionProvider"])


def loaded_once(load: Callable[[], Loaded]) -> Callable[[], Loaded]:
    """What a function loads, the one of this process: several threads that ask first wait for one of them."""
    loading, loaded = threading.RLock(), cache(load)

    @wraps(loaded)
    def once() -> Loaded:
        with loading:
            return loaded()

    return once
