"""The base weights file is read as it was written."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from training.base_weights import dequantise_q4_0, read_base_weights


def test_q4_0_blocks_hold_low_nibbles_first_then_high() -> None:
    """Each value is its nibble minus eight, times the scale of its block."""
    nibbles = bytes([0x90] + [0x88] * 15)

    values = dequantise_q4_0(np.float16(0.5).tobytes() + nibbles, 32)

    assert values.shape == (32,)
    assert values[0] == -4.0
    assert values[16] == 0.5
    assert np.count_nonzero(values) == 2


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """A wrong magic is an error that names the file."""
    path = tmp_path / "other.bin"
    path.write_bytes(b"NOPE" + struct.pack("<I", 1))

    with pytest.raises(ValueError, match=r"other\.bin"):
        read_base_weights(path)
