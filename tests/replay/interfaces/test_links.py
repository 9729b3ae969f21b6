"""What is known of this machine's own interfaces, and that they are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from pathscope.replay.interfaces import links
from pathscope.replay.interfaces.safety import RefusedError
from pathscope.replay.interfaces.session import open_session


def test_what_has_hardware_behind_it_is_what_sysfs_says() -> None:
    for name, link in links.read().items():
        assert (link.hardware is not None) == Path(f"/sys/class/net/{name}/device").exists(), name


def test_this_machines_own_network_is_refused(tmp_path: Path) -> None:
    usable = {link.name for link in links.read().values() if "LOWER_UP" in link.flags}
    out = {route.device for route in links.routes() if route.destination == "default"} & usable
    if not out:
        pytest.skip("this machine has no default route")
    for device in out:
        with (
            pytest.raises(RefusedError, match=f"{device}: the route to default") as refusal,
            open_session([("wlan", "to_server", device)], state_dir=tmp_path),
        ):
            pass
        assert "--allow-live-network" in str(refusal.value)


@pytest.mark.usefixtures("cable")
def test_the_ends_of_a_cable_are_joined() -> None:
    there = links.read()
    assert links.reach("v0", there) == {"v0": ("v0",), "v1": ("v0", "v1")}
    assert [str(address) for address in there["v0"].addresses] == ["10.7.0.1"]
    assert there["v0"].kind == "veth"
    assert there["lo"].link_type == "loopback"
