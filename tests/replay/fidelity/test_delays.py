"""The delays that an impairment asks for, by netem's tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from impaired import step
from pathscope.replay.fidelity.delays import Delays, asked_for, parse_table, tables_of_tc


def asked(**impairment: Any) -> Delays:
    found = asked_for(step(**impairment).impairment, tables_of_tc())
    assert found is not None
    return found


def test_a_constant_delay_is_one() -> None:
    found = asked(delay_ms=20)
    assert (found.low_ms, found.median_ms, found.high_ms) == (20, 20, 20)


def test_evenly_within_the_jitter() -> None:
    found = asked(delay_ms=20, jitter_ms=5)
    assert found.low_ms == pytest.approx(15, abs=0.01)
    assert found.median_ms == pytest.approx(20, abs=0.01)
    assert found.high_ms == pytest.approx(25, abs=0.01)


def test_the_tables_of_tc_are_read() -> None:
    normal = asked(delay_ms=50, jitter_ms=5, distribution="normal")
    assert normal.values_ms.mean() == pytest.approx(50, abs=0.05)
    assert normal.values_ms.std() == pytest.approx(5, rel=0.02)
    assert normal.low_ms == pytest.approx(30)
    pareto = asked(delay_ms=50, jitter_ms=5, distribution="pareto")
    assert pareto.median_ms < pareto.values_ms.mean()


def test_nothing_is_sent_before_it_came() -> None:
    found = asked(delay_ms=1, jitter_ms=2)
    assert found.low_ms == 0
    assert np.mean(found.values_ms == 0) == pytest.approx(0.25, abs=0.01)


def test_a_profile_brings_its_own_and_a_stranger_is_none() -> None:
    impairment = step(delay_ms=10, jitter_ms=2, distribution="mine").impairment
    found = asked_for(impairment, {"mine": [-1.0, 0.5, 0.5, 9.0]})
    assert found is not None
    # Netem's tables reach four deviations.
    assert found.values_ms.tolist() == [8, 11, 11, 18]
    assert asked_for(impairment, {}) is None


def test_a_file_of_tc_has_comments() -> None:
    assert parse_table("# words 1 2\n -8192 0\n4096\n") == [-1, 0, 0.5]
