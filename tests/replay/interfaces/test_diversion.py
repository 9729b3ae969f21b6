"""The way round: where its filter goes, and that undoing looks before it does."""

from __future__ import annotations

import pytest
from interfaces_wire import shown, tc
from pathscope.replay.interfaces import diversion
from pathscope.replay.interfaces.commands import InterfaceError
from pathscope.replay.interfaces.diversion import Diversion

pytestmark = pytest.mark.usefixtures("cable")


@pytest.mark.parametrize(("kind", "found"), [("clsact", "clsact"), ("ingress", "ingress")])
def test_which_qdisc_holds_filters(kind: str, found: str) -> None:
    assert diversion.hooks_of("v0") is None
    tc(f"qdisc add dev v0 {kind}")
    assert diversion.hooks_of("v0") == found


@pytest.mark.parametrize(("theirs", "ours"), [((), 65535), ((5, 900), 65535), ((65534,), 65535)])
def test_our_filter_comes_last(theirs: tuple[int, ...], ours: int) -> None:
    tc("qdisc add dev v0 clsact")
    for number in theirs:
        tc(f"filter add dev v0 egress protocol ip pref {number} u32 match u32 0 0 flowid :1")
    assert diversion.plan("v0", "egress", "psifb", "clsact").preference == ours


def test_no_room_behind_theirs() -> None:
    tc("qdisc add dev v0 clsact")
    tc("filter add dev v0 egress protocol ip pref 65535 u32 match u32 0 0 flowid :1")
    with pytest.raises(InterfaceError, match="v0: its egress filters leave no preference behind"):
        diversion.plan("v0", "egress", "psifb", "clsact")


def test_every_step_can_be_undone_twice() -> None:
    before = shown("v0")
    way = Diversion("egress", "psifb0", 65535)
    diversion.make_ifb(way.ifb)
    tc("qdisc add dev v0 clsact")
    diversion.divert("v0", way, "0badcafe")
    for _ in range(2):
        diversion.return_to_normal("v0", way, "0badcafe")
        assert diversion.drop_clsact("v0")
        diversion.remove_ifb(way.ifb)
    assert shown("v0") == before


def test_a_filter_with_another_mark_stays() -> None:
    way = Diversion("egress", "psifb0", 65535)
    diversion.make_ifb(way.ifb)
    tc("qdisc add dev v0 clsact")
    diversion.divert("v0", way, "0badcafe")
    diversion.return_to_normal("v0", way, "cafe0bad")
    assert "0badcafe" in diversion.filters("v0", "egress", "clsact")
    assert not diversion.drop_clsact("v0")
