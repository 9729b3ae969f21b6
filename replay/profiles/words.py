"""Netem's arguments as people write them (tc-netem(8)), read back into an impairment."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ..lab.netem import IN_ORDER
from .quantities import QuantityError, milliseconds, percent, rounded, tc_kilobits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

KEPT_BY_A_CHANGE = (
    "distribution",
    "corrupt_percent",
    "rate_kbit",
    "keep_order",
    "slot_min_ms",
    "slot_max_ms",
    "slot_packets",
)
"""What the kernel keeps when a change does not name it."""

Words = deque[str]
Impairment = dict[str, Any]


class WordsError(ValueError):
    """Arguments that netem would not take either."""


def read(words: Sequence[str], before: Impairment | None = None) -> tuple[Impairment, list[str]]:
    """Return the keys that netem's arguments stand for, and what of them no impairment has.

    Parameters
    ----------
    words
        What comes after `netem`.
    before
        The impairment that is changed; None for a new qdisc.

    Raises
    ------
    WordsError
        Naming the argument that cannot be read.
    """
    found = {key: value for key, value in (before or {}).items() if key in KEPT_BY_A_CHANGE}
    left_out: list[str] = []
    rest = deque(words)
    while rest:
        name = rest.popleft()
        try:
            found |= READERS[name](rest, left_out)
        except KeyError:
            raise WordsError(f"netem has no argument {name!r}") from None
        except IndexError:
            raise WordsError(f"{name}: its value is missing") from None
        except QuantityError as error:
            raise WordsError(f"{name}: {error}") from error
    return _without_nothing(found), left_out


def _without_nothing(found: Impairment) -> Impairment:
    """Drop what says that something does not happen, and what is said of it."""
    kept = {key: value for key, value in found.items() if value not in (0, None, False)}
    if "jitter_ms" not in kept:
        kept.pop("distribution", None)
    if "reorder_percent" not in kept:
        kept.pop("reorder_gap", None)
    if "slot_min_ms" not in kept:
        kept.pop("slot_max_ms", None)
        kept.pop("slot_packets", None)
    return kept


def _limit(rest: Words, _: list[str]) -> Impairment:
    return {"queue_packets": _whole(rest)}


def _delay(rest: Words, left_out: list[str]) -> Impairment:
    found: Impairment = {"delay_ms": milliseconds(rest.popleft()), "jitter_ms": 0}
    if rest and rest[0][0].isdigit():
        found["jitter_ms"] = milliseconds(rest.popleft())
        _correlation("delay", rest, left_out)
    return found


def _distribution(rest: Words, _: list[str]) -> Impairment:
    return {"distribution": rest.popleft()}


def _loss(rest: Words, left_out: list[str]) -> Impairment:
    if rest[0] == "gemodel":
        rest.popleft()
        return _gilbert(rest, left_out)
    if rest[0] == "state":
        raise QuantityError("the model of four states has no counterpart")
    if rest[0] == "random":
        rest.popleft()
    found = {"loss_percent": percent(rest.popleft()), "loss_burst_packets": None}
    _correlation("loss", rest, left_out)
    return found


def _gilbert(rest: Words, left_out: list[str]) -> Impairment:
    given = [percent(rest.popleft()) / 100]
    while rest and rest[0][0].isdigit() and len(given) < 4:
        given.append(percent(rest.popleft()) / 100)
    enter = given[0]
    leave = given[1] if len(given) > 1 else 1 - enter
    bad = given[2] if len(given) > 2 else 1.0
    good = given[3] if len(given) > 3 else 0.0
    if bad != 1 or good != 0:
        left_out.append("losses in gemodel's good state, and packets that pass in its bad one")
    if enter + leave == 0:
        return {"loss_percent": 100 * good, "loss_burst_packets": None}
    share = (enter * bad + leave * good) / (enter + leave)
    return {
        "loss_percent": rounded(100 * share),
        "loss_burst_packets": rounded(1 / leave) if leave else None,
    }


def _share(key: str, name: str) -> Callable[[Words, list[str]], Impairment]:
    def read_share(rest: Words, left_out: list[str]) -> Impairment:
        found = {key: percent(rest.popleft())}
        _correlation(name, rest, left_out)
        return found

    return read_share


def _gap(rest: Words, _: list[str]) -> Impairment:
    return {"reorder_gap": _whole(rest)}


def _rate(rest: Words, left_out: list[str]) -> Impairment:
    if rest[0] == IN_ORDER[1]:
        rest.popleft()
        return {"keep_order": True, "rate_kbit": None}
    found = {"rate_kbit": tc_kilobits(rest.popleft()), "keep_order": False}
    overheads = 0
    while rest and rest[0].lstrip("-").isdigit() and overheads < 3:
        rest.popleft()
        overheads += 1
    if overheads:
        left_out.append("the rate's packet overhead and cells")
    return found


def _slot(rest: Words, left_out: list[str]) -> Impairment:
    if rest[0] == "distribution":
        raise QuantityError("slots out of a distribution have no counterpart")
    least = milliseconds(rest.popleft())
    most = milliseconds(rest.popleft()) if rest and rest[0][0].isdigit() else least
    found: Impairment = {"slot_min_ms": least, "slot_packets": None}
    found["slot_max_ms"] = most if most > least else None
    while rest and rest[0] in ("packets", "bytes"):
        if rest.popleft() == "packets":
            found["slot_packets"] = _whole(rest)
        else:
            left_out.append(f"slots of {rest.popleft()} bytes")
    return found


def _ecn(_: Words, left_out: list[str]) -> Impairment:
    left_out.append("ecn")
    return {}


def _seed(rest: Words, left_out: list[str]) -> Impairment:
    left_out.append(f"seed {rest.popleft()}")
    return {}


READERS: dict[str, Callable[[Words, list[str]], Impairment]] = {
    "limit": _limit,
    "delay": _delay,
    "latency": _delay,
    "distribution": _distribution,
    "loss": _loss,
    "drop": _loss,
    "duplicate": _share("duplicate_percent", "duplicate"),
    "reorder": _share("reorder_percent", "reorder"),
    "gap": _gap,
    "corrupt": _share("corrupt_percent", "corrupt"),
    "rate": _rate,
    "slot": _slot,
    "ecn": _ecn,
    "seed": _seed,
}


def _correlation(name: str, rest: Words, left_out: list[str]) -> None:
    if rest and rest[0].endswith("%"):
        value = rest.popleft()
        if percent(value):
            left_out.append(f"{name}'s correlation of {value}")


def _whole(rest: Words) -> int:
    word = rest.popleft()
    if not (word.isascii() and word.isdigit()):
        raise QuantityError(f"expected a whole number, found {word!r}")
    return int(word)
