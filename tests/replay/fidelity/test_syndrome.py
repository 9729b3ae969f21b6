"""A changed bit, found from two checksums."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.fidelity.syndrome import (
    REFLECTED_POLYNOMIAL,
    is_single_bit,
    of_single_bits,
)

ONES = 2**64 - 1


def crc64_nvme(data: bytes) -> int:
    """Bit by bit, as the NVM Express specification has it."""
    remainder = ONES
    for byte in data:
        remainder ^= byte
        for _ in range(8):
            remainder = (remainder >> 1) ^ (REFLECTED_POLYNOMIAL * (remainder & 1))
    return remainder ^ ONES


def test_the_checksum_is_the_one_of_the_catalogue() -> None:
    assert crc64_nvme(b"123456789") == 0xAE8B14860A799888


@given(st.binary(min_size=1, max_size=100), st.data())
def test_one_changed_bit_is_known(frame: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, 8 * len(frame) - 1))
    changed = bytearray(frame)
    changed[place // 8] ^= 1 << place % 8
    apart = np.array([crc64_nvme(frame) ^ crc64_nvme(bytes(changed))], np.uint64)
    assert is_single_bit(apart, 100).all()
    assert is_single_bit(apart, len(frame)).all()


def test_other_changes_are_not() -> None:
    rng = np.random.default_rng(1)
    frame = rng.bytes(300)
    apart = [0]
    for count in (2, 3, 8):
        changed = bytearray(frame)
        for place in rng.choice(2400, count, replace=False).tolist():
            changed[place // 8] ^= 1 << place % 8
        apart.append(crc64_nvme(frame) ^ crc64_nvme(bytes(changed)))
    assert not is_single_bit(np.array(apart, np.uint64), 1514).any()


def test_every_bit_has_a_value_of_its_own() -> None:
    found = of_single_bits(9000)
    assert len(np.unique(found)) == 72_000
    assert not is_single_bit(np.array([1], np.uint64), 0).any()
