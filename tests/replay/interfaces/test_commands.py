"""A tc that stays, and answers each time."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from pathscope.replay.interfaces import commands
from pathscope.replay.interfaces.commands import InterfaceError
from pathscope.replay.lab.batch import Batch

pytestmark = pytest.mark.usefixtures("cable")


def test_answers_and_refusals_in_turn() -> None:
    with commands.kept_tc() as tc:
        for _ in range(3):
            assert tc.do("qdisc add dev v0 root handle 9: pfifo", "qdisc show dev v0").startswith(
                "qdisc pfifo 9: root"
            )
            with pytest.raises(InterfaceError, match="Cannot find device"):
                tc.do("qdisc show dev x0", "qdisc show dev v0")
            assert tc.do("qdisc del dev v0 root") == ""


def words_of(process: str) -> list[bytes]:
    return Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")


def test_a_tc_that_has_ended_says_so() -> None:
    with commands.kept_tc() as tc:
        tc.do("qdisc show dev v0")
        # Of this process alone: others on this machine have a tc, too.
        children = Path("/proc/thread-self/children").read_text().split()
        (number,) = (int(text) for text in children if b"-batch" in words_of(text))
        os.kill(number, signal.SIGKILL)
        with pytest.raises(InterfaceError, match="tc has ended"):
            tc.do("qdisc show dev v0")


def refusal(tc: Batch, line: str) -> str:
    try:
        tc.do(line)
    except InterfaceError as error:
        return str(error)
    return ""


def test_tables_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "wlan.dist").write_text("0 100 200\n")
    netem = "qdisc add dev v0 root netem delay 5ms 1ms distribution"
    with commands.kept_tc(tmp_path) as tc:
        # tc reads the table before it asks the kernel, which may have no netem.
        assert "nix.dist" in refusal(tc, f"{netem} nix")
        assert refusal(tc, f"{netem} wlan") in ("", "Error: Specified qdisc kind is unknown.")
