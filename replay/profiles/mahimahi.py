"""Traces of mahimahi: a line is the millisecond in which 1504 bytes can be delivered.

The trace starts over at its last line. It is nothing but a rate: what else a profile says of a
path is named as lost.
"""

from __future__ import annotations

from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING, Any

from ..lab.impairment import complete
from .document import table_of
from .quantities import rounded
from .schedule import MOST_STEPS, schedule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .profile import Profile
    from .schedule import Step

OPPORTUNITY_BITS = 1504 * 8
"""An IP packet of 1500 bytes, and four bytes of its tunnel."""

MOST_LINES = 10_000_000
LONGEST_MS = 86_400_000

NS_PER_MS = 1_000_000

TOLERANCE_BITS = 1.0
"""Rates are rounded: an opportunity is not a millisecond late for a bit."""

OF_RATE = frozenset(("rate_kbit", "queue_packets", "keep_order"))


class MahimahiError(ValueError):
    """A trace that is none, or a profile that cannot be one."""


def read(text: str, path: str, direction: str, bin_ms: int) -> tuple[dict[str, Any], list[str]]:
    """Return the document of a profile whose rates are those of a trace, bin by bin, and warnings.

    Raises
    ------
    MahimahiError
        Naming the line that is wrong.
    """
    counts, period_ms = _counts(text, bin_ms)
    states: list[tuple[int, dict[str, Any]]] = []
    rate: dict[str, Any] = {}
    for number, count in enumerate(counts):
        width_ms = min(bin_ms, period_ms - number * bin_ms)
        # Bits a millisecond are kilobits a second.
        if count:
            rate = {"rate_kbit": rounded(count * OPPORTUNITY_BITS / width_ms)}
        states.append((number * bin_ms * NS_PER_MS, rate if count else {"loss_percent": 100}))
    warnings = ["when in a bin its opportunities come is not kept: the rate of a bin is even"]
    if empty := counts.count(0):
        warnings.append(
            f"{empty} of {len(counts)} bins of {bin_ms} ms have no opportunity: what is sent in"
            " them is lost here, and waits in mahimahi"
        )
    document: dict[str, Any] = {"repeat_s": period_ms / 1000}
    return document | {"paths": {path: table_of(states, direction)}}, warnings


def write(
    profile: Profile, path: str, paths: Sequence[str], direction: str, duration_ns: int
) -> tuple[str, list[str]]:
    """Return the trace of one direction of one of the paths, and what it cannot hold of it.

    Raises
    ------
    MahimahiError
        When the route has no rate at some time, or the trace would be too long.
    ProfileError
        When the profile cannot be scheduled.
    """
    steps = [
        step
        for step in schedule(profile, paths, duration_ns)
        if (step.path, step.direction) == (path, direction)
    ]
    lines = list(_opportunities(steps, duration_ns))
    warnings = [_left_out(steps)] if _other_keys(steps) else []
    if any(step.impairment["loss_percent"] >= 100 for step in steps):
        warnings.append("where the link is down, packets wait in mahimahi and are lost here")
    end_ms = ceil(duration_ns / NS_PER_MS)
    if not lines or lines[-1] < end_ms:
        lines.append(end_ms)
        warnings.append(f"an opportunity was added at {end_ms} ms, as a trace ends with one")
    if duration_ns != profile.repeat_ns:
        warnings.append(f"mahimahi starts over after {end_ms} ms, the profile does not")
    return "".join(f"{line}\n" for line in lines), warnings


def _counts(text: str, bin_ms: int) -> tuple[list[int], int]:
    """Opportunities in each bin, and the trace's length in milliseconds."""
    last = 0
    instants: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (line.isascii() and line.isdigit() and len(line) < 16):
            what = f"expected a number of milliseconds, found {line[:40]!r}"
            raise MahimahiError(f"line {number}: {what}")
        instant = int(line)
        if instant < last:
            raise MahimahiError(f"line {number}: {instant} ms are before the line above, {last}")
        if instant > LONGEST_MS:
            raise MahimahiError(f"line {number}: a profile lasts a day at most")
        last = instant
        instants.append(instant)
    if last == 0:
        raise MahimahiError("a trace ends after 0 ms")
    if last // bin_ms > MOST_STEPS:
        raise MahimahiError(f"{last} ms in bins of {bin_ms} ms are more than {MOST_STEPS:,}")
    # An opportunity is for what came until then: the last one is in the last bin.
    of_bin = [max(0, (instant - 1) // bin_ms) for instant in instants]
    counts = [0] * (-(-last // bin_ms))
    for number, group in groupby(of_bin):
        counts[number] = sum(1 for _ in group)
    return counts, last


def _opportunities(steps: Sequence[Step], duration_ns: int) -> Iterator[int]:
    """The millisecond of each opportunity."""
    ends = [*(step.at_ns for step in steps[1:]), duration_ns]
    bits, made = 0.0, 0
    for step, end_ns in zip(steps, ends, strict=True):
        start_ms, end_ms = step.at_ns / NS_PER_MS, end_ns / NS_PER_MS
        rate = _bits_per_ms(step)
        total = bits + rate * (end_ms - start_ms)
        if total / OPPORTUNITY_BITS > MOST_LINES:
            raise MahimahiError(f"the trace would have more than {MOST_LINES:,} lines")
        while (made + 1) * OPPORTUNITY_BITS <= total + TOLERANCE_BITS:
            made += 1
            after_ms = (made * OPPORTUNITY_BITS - TOLERANCE_BITS - bits) / rate
            yield min(ceil(start_ms + max(0.0, after_ms)), ceil(end_ms))
        bits = total


def _bits_per_ms(step: Step) -> float:
    if step.impairment["loss_percent"] >= 100:
        return 0.0
    rate = step.impairment.get("rate_kbit")
    if rate is None:
        what = "has no rate_kbit, and a trace of mahimahi is nothing but a rate"
        raise MahimahiError(f"{step.path} {step.direction}: at {step.at_ns / 1e9:g} s it {what}")
    return float(rate)


def _other_keys(steps: Sequence[Step]) -> list[str]:
    nothing = complete({})
    found = {
        key
        for step in steps
        for key, value in step.impairment.items()
        if value != nothing.get(key) and key not in OF_RATE
        if not (key == "loss_percent" and value >= 100)
    }
    return sorted(found)


def _left_out(steps: Sequence[Step]) -> str:
    return f"a trace of mahimahi has no {', '.join(_other_keys(steps))}"
