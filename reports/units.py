"""To text for people: seconds, bits per second, ratios, file names."""

from __future__ import annotations

_STEP = 1000.0
_NS_PER_S = 1_000_000_000


def seconds(ns: int) -> str:
    """Return nanoseconds as seconds with all nine digits, as Wireshark writes times.

    >>> seconds(10_996_465_920), seconds(-1)
    ('10.996465920', '-0.000000001')
    """
    whole, rest = divmod(abs(ns), _NS_PER_S)
    return f"{'-' if ns < 0 else ''}{whole}.{rest:09}"


def duration(time_s: float) -> str:
    """Return a time with a unit that suits its size.

    >>> duration(3.187097), duration(0.010216), duration(9.984e-06)
    ('3.187 s', '10.216 ms', '9.984 us')
    """
    size = abs(time_s)
    if size >= 1 or size == 0:
        return f"{time_s:.3f} s"
    if size >= 1e-3:
        return f"{time_s * 1e3:.3f} ms"
    return f"{time_s * 1e6:.3f} us"


def bits_per_second(rate_bps: float) -> str:
    """Return a rate with a decimal prefix.

    >>> bits_per_second(277600.0)
    '277.6 kbit/s'
    """
    value = rate_bps
    for prefix in ("", "k", "M", "G"):
        if abs(value) < _STEP:
            return f"{value:.4g} {prefix}bit/s"
        value /= _STEP
    return f"{value:.4g} Tbit/s"


def ratio(value: float) -> str:
    """Return a ratio as a percentage.

    >>> ratio(15 / 1515)
    '0.99 %'
    """
    return f"{value * 100:.2f} %"


def file_name(path: str) -> str:
    r"""Return a path that can be printed: bytes that are not UTF-8 become U+FFFD.

    >>> ascii(file_name("caf\udce9.pcap"))
    "'caf\\ufffd.pcap'"
    """
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
