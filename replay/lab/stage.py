"""What a run does inside a kernel: builds the hosts, runs the timeline, and records.

Started as `python -m pathscope.replay.lab.stage RUN`, where RUN holds `scenario.json`; it writes
there `events.jsonl`, a recording for each interface, and logs. It is the only part of the lab that
needs privileges, and it clears nothing away: the kernel does, when the guest is switched off or the
namespaces that the host runner made lose their last process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from . import recordings, tc
from .ends import END_S, End, StageError
from .events import EventLog
from .pace import Watch
from .plan import Change, Plan, Request, Restart, address_line, plan
from .scenario import ENDS, Scenario, at_start

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECT_S = 30
"""How long an association may take to come up."""

CLOSE_S = 10
"""How long the peer may take to get what is still to be delivered, once the sender has closed."""

QUIET_S = 0.3
"""How long recording goes on after the last word: what is on its way to a tap still gets there."""

BUFFERS_KIB, LEAST_KIB, MOST_KIB = 131072, 2048, 16384
"""Of the kernel's memory for packets on their way to a recording: of all, and of each."""

OFFLOADS = ("tx", "gso", "tso", "gro")


class Stage:
    """The hosts of one run."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        self.folder = folder
        self.logs = folder / "logs"
        self.plan: Plan = plan(scenario)
        self.events = EventLog(folder / "events.jsonl")
        self.tcs: dict[str, tc.Tc] = {}
        self.restarts = dict.fromkeys(ENDS, 0)

    def run(self) -> None:
        """Do all of it."""
        with ExitStack() as stack:
            stack.callback(self.events.close)
            self.build()
            restarting = {step.host for step in self.plan.timeline if isinstance(step, Restart)}
            for host in ("middle", *sorted(restarting)):
                self.tcs[host] = stack.enter_context(tc.running(host))
            self.tcs["middle"].netem("add", self.plan.impairments)
            stack.enter_context(self.captures())
            self.perform()

    # -- the hosts

    def build(self) -> None:
        """Make namespaces, links, addresses and settings."""
        for host in self.plan.hosts:
            _run("ip", "netns", "add", host)
        for host, lines in self.plan.links:
            _run("ip", "-netns", host, "-batch", "-", given="\n".join(lines) + "\n")
        for host in self.plan.hosts:
            _run("ip", "-netns", host, "link", "set", "lo", "up")
            self.write_sysctls(host, self.plan.sysctls[host])
        off = [word for offload in OFFLOADS for word in (offload, "off")]
        for host, name in self.plan.devices:
            # Offloaded checksums are filled in after the capture, and look wrong there.
            _run("ip", "netns", "exec", host, "ethtool", "-K", name, *off)

    def write_sysctls(self, host: str, values: dict[str, str]) -> None:
        """Write files under /proc/sys as the host sees them."""
        script = (
            'cd /proc/sys; for pair in "$@"; do echo "${pair#*=}" > "${pair%%=*}" || exit 1; done'
        )
        pairs = [f"{name}={value}" for name, value in values.items()]
        _run("ip", "netns", "exec", host, "sh", "-c", script, "sh", *pairs)

    # -- captures

    @contextmanager
    def captures(self) -> Iterator[None]:
        """Record every interface of the points asked for, until the block ends."""
        capture = self.scenario["capture"]
        running: dict[str, subprocess.Popen[str]] = {}
        ended = False
        try:
            for point in capture["points"]:
                for name in self.scenario.paths:
                    running[f"{point}-{name}"] = self.record(point, name, capture["snap_bytes"])
            for process in running.values():
                _wait_for_words(process, "listening on")
            yield
            time.sleep(QUIET_S)
            ended = True
        finally:
            for process in running.values():
                process.send_signal(signal.SIGINT)
            said = {
                name: process.communicate(timeout=END_S)[1] for name, process in running.items()
            }
        if ended:
            self.check(said)

    def record(self, point: str, name: str, snap_bytes: int) -> subprocess.Popen[str]:
        """Start to record one interface."""
        recordings_made = len(self.scenario["capture"]["points"]) * len(self.scenario.paths)
        buffer_kib = min(MOST_KIB, max(LEAST_KIB, BUFFERS_KIB // recordings_made))
        command = ["ip", "netns", "exec", point, "tcpdump", "--interface", name]
        command += ["--time-stamp-precision", "nano", "--snapshot-length", str(snap_bytes)]
        # Immediate: else it would leave at the end what the kernel has not handed over yet.
        command += ["--immediate-mode", "--packet-buffered", "--buffer-size", str(buffer_kib)]
        command += ["--no-promiscuous-mode", "-Z", "root", "-n"]
        # To an open file: tcpdump would give one of its own to root, which only root may.
        command += ["-w", "-"]
        with (self.folder / f"{point}-{name}.pcap").open("wb") as file:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE, text=True
            )

    def check(self, said: dict[str, str]) -> None:
        """Keep tcpdump's counts, and refuse recordings that lack what the kernel has seen."""
        found = {name: recordings.counts(words) for name, words in said.items()}
        (self.logs / "recordings.json").write_text(json.dumps(found, indent=1) + "\n")
        for name, counts in found.items():
            received = counts.get("received by filter", 0) - counts.get("dropped by kernel", 0)
            if counts.get("captured") != received:
                raise StageError(f"{name}: tcpdump lost packets: {said[name].strip()}")

    # -- the application and the timeline

    def perform(self) -> None:
        """Start both ends, do what the timeline says, and wait for the end."""
        with ExitStack() as stack:
            background = [self.start(stack, host, "traffic") for host in self.plan.traffic]
            for end in background:
                end.wait_for("listening", CONNECT_S)
            server = self.start(stack, "server", "endpoint")
            server.wait_for("listening", CONNECT_S)
            client = self.start(stack, "client", "endpoint")
            client.wait_for("connected", CONNECT_S)
            start, watch = time.monotonic(), Watch()
            for end in background:
                end.ask({"do": "start"})
            ends = {"client": client, "server": server}
            for step in self.plan.timeline:
                time.sleep(max(0, start + step.at_s - time.monotonic()))
                match step:
                    case Change():
                        self.change(step)
                    case Request():
                        self.request(step, ends[step.host])
                    case Restart():
                        self.restart(ends[step.host])
            sender = ends.pop(self.scenario["application"]["sender"])
            (receiver,) = ends.values()
            left = start + self.scenario["duration_s"] - time.monotonic()
            if not sender.ends_within(max(0, left) + CLOSE_S):
                self.events.write({"event": "overtime", "host": sender.host})
            elif self.scenario["application"]["protocol"] != "udp":
                # The rest is delivered and the association shut down before anything is stopped.
                receiver.ends_within(CLOSE_S)
            (self.logs / "pace.json").write_text(json.dumps(watch.end()) + "\n")
        self.settle()

    def settle(self) -> None:
        """Wait until no association is left: of a SHUTDOWN a packet may have been lost."""
        wait = "while [ $(wc -l </proc/net/sctp/assocs) -gt 1 ]; do sleep 0.1; done"
        try:
            for host in ENDS:
                command = ["ip", "netns", "exec", host, "sh", "-c", wait]
                subprocess.run(command, timeout=CLOSE_S, capture_output=True, check=False)
        except subprocess.TimeoutExpired:
            self.events.write({"event": "unsettled", "host": host})

    def start(self, stack: ExitStack, host: str, module: str) -> End:
        """Start an application or the background traffic of a host; the stack ends it."""
        orders = self.plan.traffic[host] if module == "traffic" else self.plan.orders[host]
        log = self.logs / f"{host}-{module}.log"
        end = End(host, f"{__package__}.{module}", orders, log, self.events)
        stack.callback(end.stop)
        return end

    def change(self, step: Change) -> None:
        """Change a link, and note when the change began and when it was made."""
        before_ns = time.time_ns()
        self.tcs["middle"].netem("change", step.ports)
        self.events.write({"t_ns": time.time_ns(), "t_before_ns": before_ns, **step.note})

    def request(self, step: Request, end: End) -> None:
        """Ask an application; an address to be added is given to its interface first."""
        path = self.scenario.paths[step.what["path"]]
        if step.what["do"] == "address-add" and not at_start(path, step.host):
            line = address_line(step.what["path"], path[step.host])
            _run("ip", "-netns", step.host, *line.split())
        end.ask(step.what)

    def restart(self, end: End) -> None:
        """Let a host forget its association: what it says then, nobody hears."""
        devices = [(name, ("loss", "100%")) for name in self.scenario.paths]
        own = self.tcs[end.host]
        own.netem("add", devices)
        end.ask({"do": "forget"})
        self.restarts[end.host] += 1
        end.wait_for("gone", END_S, self.restarts[end.host])
        own.remove([name for name, _ in devices])
        end.ask({"do": "return"})


def _run(*command: str, given: str | None = None) -> None:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise StageError(f"{' '.join(command)}: exit code {done.returncode}: {said}")


def _wait_for_words(process: subprocess.Popen[str], words: str) -> None:
    said = []
    for line in process.stderr or ():
        if words in line:
            return
        said.append(line)
    raise StageError(f"{process.args!r}: ended with {process.wait()}: {''.join(said)}")


def main() -> None:
    """Run the scenario in the folder that the first argument names."""
    folder = Path(sys.argv[1])
    kernel = os.uname()
    (folder / "logs" / "kernel").write_text(f"{kernel.sysname} {kernel.release} {kernel.version}\n")
    try:
        Stage(Scenario.of_run(folder), folder).run()
    except (StageError, tc.TcError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
