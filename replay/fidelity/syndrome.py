"""Which frame a corrupted one was: netem flips one bit, and a CRC is linear.

The CRC-64/NVMe of two frames of one length differ by the CRC of their difference, without the
constants at both ends. Where that difference is a single bit, it is one of 8 values a byte,
so the pair is known, and the bit, from the fingerprints alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

REFLECTED_POLYNOMIAL = 0x9A6C9329AC4BC9B5
"""Of CRC-64/NVMe, 0xAD93D23594C93659, lowest bit first."""

BITS_OF_A_BYTE = 8


@lru_cache(maxsize=64)
def of_single_bits(longest_bytes: int) -> npt.NDArray[np.uint64]:
    """Return by how much a fingerprint changes with each bit of a frame, ascending.

    A bit's share depends on its distance from the frame's end: those of shorter frames are among
    them.
    """
    found = np.empty(longest_bytes * BITS_OF_A_BYTE, dtype=np.uint64)
    remainder = 1
    for place in range(found.size):
        remainder = (remainder >> 1) ^ (REFLECTED_POLYNOMIAL if remainder & 1 else 0)
        found[place] = remainder
    found.sort()
    return found


def is_single_bit(differences: npt.NDArray[np.uint64], longest_bytes: int) -> npt.NDArray[np.bool_]:
    """Whether each difference of two fingerprints (one XOR the other) is that of a single bit."""
    known = of_single_bits(longest_bytes)
    if known.size == 0:
        return np.zeros(differences.shape, dtype=np.bool_)
    places = np.searchsorted(known, differences)
    found: npt.NDArray[np.bool_] = known[np.minimum(places, known.size - 1)] == differences
    return found
