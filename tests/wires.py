"""Links of the tests' own: two namespaces with a pair of interfaces for each name.

They have no addresses, IPv6 or ARP, so that nothing is on them but what is sent.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from pathscope.replay.packets.orders import Outlet

_numbers = count()


def run(*words: str) -> str:
    """Run a command, which has to succeed; return what it printed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Wires:
    """The namespaces `client` and `server`, and the names of the links between them."""

    client: str
    server: str
    names: tuple[str, ...]

    def outlets(self, mtu: int = 1500) -> tuple[Outlet, ...]:
        """To the server and back, link after link."""
        return tuple(
            outlet
            for name in self.names
            for outlet in (
                Outlet(name, "to_server", name, self.client, mtu),
                Outlet(name, "to_client", name, self.server, mtu),
            )
        )

    def inside(self, netns: str, *words: str) -> str:
        """Run a command in one of the namespaces."""
        return run("ip", "netns", "exec", netns, *words)

    @contextmanager
    def recorded(
        self, netns: str, into: Path, *, immediate: bool = True, snap_bytes: int = 0
    ) -> Iterator[Path]:
        """Record what arrives at every interface of a namespace, with times in nanoseconds.

        What arrives in the last second is recorded only if `immediate`, which takes more time.
        """
        options = ["--immediate-mode", "-U"] if immediate else []
        options += [f"--snapshot-length={snap_bytes}"]
        with ExitStack() as stack:
            for name in self.names:
                path = self.recording(netns, name, into)
                stack.enter_context(_tcpdump(netns, name, path, options))
            yield into

    def recording(self, netns: str, name: str, into: Path) -> Path:
        """The file that `recorded` writes for an interface."""
        return into / f"{netns}-{name}.pcap"


@contextmanager
def wires(*names: str, mtu: int = 1500) -> Iterator[Wires]:
    """Make links and take them away again. Takes root, which tests of the lab have."""
    mark = f"{os.getpid()}-{next(_numbers)}"
    made = Wires(f"ps{mark}-client", f"ps{mark}-server", names)
    with ExitStack() as stack:
        for netns in (made.client, made.server):
            run("ip", "netns", "add", netns)
            stack.callback(run, "ip", "netns", "delete", netns)
            made.inside(netns, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
        for name in names:
            peer = ("peer", "name", name, "netns", made.server)
            run("ip", "link", "add", name, "netns", made.client, "type", "veth", *peer)
            for netns in (made.client, made.server):
                up = ("ip", "-n", netns, "link", "set", name)
                run(*up, "arp", "off", "mtu", str(mtu), "up")
        yield made


@contextmanager
def _tcpdump(netns: str, device: str, path: Path, options: list[str]) -> Iterator[None]:
    words = ["ip", "netns", "exec", netns, "tcpdump", "-i", device, "-Q", "in", "-w", str(path)]
    words += ["--time-stamp-precision=nano", "-B", "32768", "-Z", "root", *options]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        while "listening on" not in said:
            assert said, "tcpdump ended before it listened"
            said = process.stderr.readline()
        yield
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert "0 packets dropped by kernel" in rest, rest
