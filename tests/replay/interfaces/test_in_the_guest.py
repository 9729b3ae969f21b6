"""Some tests of this folder once more in the guest kernel, which has what this one may lack: netem,
VLANs, and queues that `test_session` builds. One boot for all; none may be skipped there."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from interfaces_wire import IN_THE_GUEST
from pathscope.replay.lab import guest

pytestmark = pytest.mark.guest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
LIMIT_S = 540

MODULES = (
    *("ifb", "veth", "bridge", "8021q", "sch_ingress", "cls_bpf", "cls_u32", "act_mirred"),
    *("act_gact", "sch_netem", "sch_cake", "sch_fq", "sch_fq_codel", "sch_sfq", "sch_tbf"),
    *("sch_prio", "sch_htb"),
)

OPTIONS = "-p no:cacheprovider -p xdist.plugin -rs"
# Plugins of others are of no use there, and take their time to load; but conftest.py marks by one.
VARIABLES = f"{IN_THE_GUEST}=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"
TREES = ("fq_codel", "fq", "sfq", "prio", "cake", "netem", "clsact")
WHICH = (
    *(f"test_session.py::test_what_is_there_stays_there[{name}]" for name in TREES),
    "test_session.py::test_netem_does_what_it_is_told",
    "test_session.py::test_filters_of_others_decide_first_and_once",
    "test_recovery.py::test_a_session_that_is_killed",
    "test_safety.py::test_the_lower_and_the_upper_interface",
    "test_safety.py::test_a_vlan_on_an_interface_of_another_namespace",
)
"""Those that ask for something that another kernel may lack, and those that netem is part of."""

TESTS = f"-m pytest {OPTIONS} --rootdir {ROOT} " + " ".join(f"'{HERE}/{name}'" for name in WHICH)


def test_they_pass_in_the_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # In place of the run that the guest is for.
    script, places = re.subn(r"-m \S+ /run/run", TESTS, guest.INIT)
    assert places == 1
    script = script.replace("{environment}", f"{{environment}} {VARIABLES}")
    monkeypatch.setattr(guest, "INIT", script)
    monkeypatch.setattr(guest, "NEEDED", MODULES)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    (tmp_path / "logs").mkdir()
    guest.run(tmp_path, LIMIT_S)
    said = (tmp_path / "logs" / "stage.log").read_text(encoding="utf-8")
    assert re.search(r"\d+ passed", said), said
    assert "SKIPPED" not in said, said
