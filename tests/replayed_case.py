"""A replay of two routes that is partly not as asked for, made by numpy: always the same."""

from __future__ import annotations

import numpy as np
from impaired import Netem, log, sent, step
from pathscope.replay.fidelity.counts import Counters
from pathscope.replay.fidelity.measure import measure
from pathscope.replay.fidelity.model import Fidelity

ROUTES = (("wlan", "to_server"), ("cellular", "to_server"))


def case() -> Fidelity:
    """Three steps on the one, of which one loses too much; forty short ones on the other."""
    rng = np.random.default_rng(2026)
    wlan, cellular = sent(rng, 15_000, per_s=5000), sent(rng, 6000, per_s=2000)
    cellular.outcome[100:103] = 1
    asked = [
        step(delay_ms=10, loss_percent=1),
        step(1_000_000_000, delay_ms=40, jitter_ms=6, loss_percent=1, corrupt_percent=1),
        step(2_000_000_000, delay_ms=10, loss_percent=100),
    ]
    real = [*asked[:1], step(1_000_000_000, **dict(asked[1].impairment) | {"loss_percent": 3}),
            asked[2]]  # fmt: skip
    ramp = [
        step(number * 75_000_000, route=ROUTES[1], delay_ms=20 + number, loss_percent=2)
        for number in range(40)
    ]
    received = {0: Netem(rng, real).run(wlan), 1: Netem(rng, ramp).run(cellular)}
    counters = {
        0: Counters(tx_packets=15_000, tx_dropped=0, rx_packets=received[0].time_ns.size),
        1: Counters(tx_packets=5999, tx_dropped=0, rx_packets=received[1].time_ns.size),
    }
    return measure(log(wlan, cellular, names=ROUTES), received, asked + ramp, counters)
