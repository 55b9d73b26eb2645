"""Symmetric int8 values with one scale a channel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Quantised = tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]


def quantise(weights: npt.NDArray[np.float32], axis: int) -> Quantised:
    """Int8 values and the scale of each channel along `axis`."""
    others = tuple(i for i in range(weights.ndim) if i != axis)
    peaks = np.abs(weights).max(axis=others, keepdims=True)
    scales = np.where(peaks == 0, 1.0, peaks / 127.0).astype(np.float32)
    return np.clip(np.rint(weights / scales), -127, 127).astype(np.int8), scales
