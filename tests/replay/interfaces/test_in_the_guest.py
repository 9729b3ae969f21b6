"""All tests of this folder once more in the guest kernel, which has what this one may lack: netem
and every queue that `test_session` builds. One boot for all."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from interfaces_wire import IN_THE_GUEST
from pathscope.replay.lab import guest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
LIMIT_S = 540

MODULES = (
    *("ifb", "veth", "bridge", "8021q", "sch_ingress", "cls_bpf", "cls_u32", "act_mirred"),
    *("act_gact", "sch_netem", "sch_cake", "sch_fq", "sch_fq_codel", "sch_sfq", "sch_tbf"),
    *("sch_prio", "sch_htb"),
)

STAGE = "-m pathscope.replay.lab.stage /run/run"
OPTIONS = "-p no:cacheprovider -p no:xdist -rs"
# Arithmetic is the same there, and hypothesis would write beside the tests, which it must not.
TESTS = f"-m pytest {OPTIONS} --rootdir {ROOT} --ignore {HERE}/test_ranges.py {HERE}"

LACKS_NOTHING = {"this kernel has no tap", "an ordinary user cannot read this installation"}
"""What may be skipped there. (The guest's kernel has tap, but not every one.)"""


@pytest.mark.skipif(IN_THE_GUEST in os.environ, reason="this is the guest")
@pytest.mark.skipif(guest.missing() is not None, reason=f"no guest: {guest.missing()}")
def test_all_of_it_in_the_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert STAGE in guest.INIT
    script = guest.INIT.replace(STAGE, TESTS).replace(
        "{environment}", f"{{environment}} {IN_THE_GUEST}=1"
    )
    monkeypatch.setattr(guest, "INIT", script)
    monkeypatch.setattr(guest, "NEEDED", MODULES)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    (tmp_path / "logs").mkdir()
    guest.run(tmp_path, LIMIT_S)
    said = (tmp_path / "logs" / "stage.log").read_text(encoding="utf-8")
    assert re.search(r"\d+ passed", said), said
    skipped = set(re.findall(r"^SKIPPED \[\d+\] \S+ (.*)$", said, re.MULTILINE))
    assert skipped <= LACKS_NOTHING | {"this is the guest"}, said
