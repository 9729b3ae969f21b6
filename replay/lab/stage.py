"""What a run does inside a kernel: builds the hosts, runs the timeline, records, and clears away.

Started as `python -m pathscope.replay.lab.stage RUN`, where RUN holds `scenario.json`; it writes
there `events.jsonl`, a capture for each interface, and logs. It is the only part of the lab that
needs privileges: root in the guest kernel or in the host's.
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
from typing import TYPE_CHECKING, Any, TextIO

from . import tc
from .events import EventLog
from .plan import HOSTS, PORT, Change, Plan, Request, plan
from .scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECT_S = 30
"""How long an association may take to come up."""

LINGER_S = 10
"""How long the application may take to end, after its time is over."""

OFFLOADS = ("tx", "gso", "tso", "gro")


class StageError(RuntimeError):
    """A run that could not be made; the message says which step failed and what it said."""


class Stage:
    """The hosts of one run, from their building to their clearing away.

    Attributes
    ----------
    folder
        The run's folder.
    prefix
        What the names of this run's namespaces begin with.
    """

    def __init__(self, scenario: Scenario, folder: Path, prefix: str) -> None:
        self.scenario = scenario
        self.folder = folder
        self.prefix = prefix
        self.plan: Plan = plan(scenario)
        self.events = EventLog(folder / "events.jsonl")

    def namespace(self, host: str) -> str:
        """Return the name of a host's namespace."""
        return f"{self.prefix}{host}"

    def run(self) -> None:
        """Do all of it; whatever happens, nothing of it is left."""
        with ExitStack() as stack:
            stack.callback(self.events.close)
            stack.callback(self.clear)
            self.make_hosts()
            self.tc = stack.enter_context(tc.running(self.namespace("middle")))
            self.build()
            stack.enter_context(self.captures())
            self.perform()

    # -- the hosts

    def make_hosts(self) -> None:
        """Make the namespaces."""
        for host in HOSTS:
            _run("ip", "netns", "add", self.namespace(host))

    def build(self) -> None:
        """Make links, addresses and settings."""
        names = {host: self.namespace(host) for host in HOSTS}
        for host, lines in self.plan.links:
            batch = "\n".join(line.format(**names) for line in lines) + "\n"
            _run("ip", "-netns", names[host], "-batch", "-", given=batch)
        for host in HOSTS:
            _run("ip", "-netns", names[host], "link", "set", "lo", "up")
            self.write_sysctls(host, self.plan.sysctls[host])
        for host in ("client", "server"):
            for name in self.scenario.paths:
                off = [word for offload in OFFLOADS for word in (offload, "off")]
                # Offloaded checksums are filled in after the capture, and look wrong there.
                self.inside(host, "ethtool", "-K", name, *off)
        self.tc.netem("add", [(port.device, port.arguments) for port in self.plan.ports])

    def write_sysctls(self, host: str, values: dict[str, str]) -> None:
        """Write files under /proc/sys as the host sees them."""
        script = (
            'cd /proc/sys; for pair in "$@"; do echo "${pair#*=}" > "${pair%%=*}" || exit 1; done'
        )
        pairs = [f"{name}={value}" for name, value in values.items()]
        self.inside(host, "sh", "-c", script, "sh", *pairs)

    def inside(self, host: str, *command: str) -> None:
        """Run a command in a host's namespace."""
        _run("ip", "netns", "exec", self.namespace(host), *command)

    def clear(self) -> None:
        """Remove the namespaces with all that is in them, and end what still runs there."""
        for host in HOSTS:
            name = self.namespace(host)
            listed = subprocess.run(
                ["ip", "netns", "pids", name], capture_output=True, text=True, check=False
            )
            for pid in listed.stdout.split():
                _kill(int(pid))
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)

    # -- captures

    @contextmanager
    def captures(self) -> Iterator[None]:
        """Record every interface of the points asked for, until the block ends."""
        running: list[subprocess.Popen[str]] = []
        capture = self.scenario["capture"]
        try:
            for point in capture["points"]:
                for name in self.scenario.paths:
                    file = self.folder / f"{point}-{name}.pcap"
                    running.append(self.capture(point, name, file, capture["snap_bytes"]))
            for process in running:
                _wait_for_words(process, "listening on")
            yield
            time.sleep(0.2)  # what is on its way to a tap still gets there
        finally:
            for process in running:
                process.send_signal(signal.SIGINT)
            for process in running:
                _, said = process.communicate(timeout=LINGER_S)
                (self.folder / "logs" / "tcpdump.log").open("a").write(said)

    def capture(self, point: str, name: str, file: Path, snap_bytes: int) -> subprocess.Popen[str]:
        """Start to record one interface."""
        command = ["ip", "netns", "exec", self.namespace(point), "tcpdump", "--interface", name]
        command += ["--time-stamp-precision", "nano", "--snapshot-length", str(snap_bytes)]
        command += ["--buffer-size", "16384", "--no-promiscuous-mode", "-Z", "root", "-n"]
        command += ["-w", str(file)]
        return subprocess.Popen(
            command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )

    # -- the application and the timeline

    def perform(self) -> None:
        """Start both ends, do what the timeline says, and wait for the end."""
        server = self.start("server")
        server.wait_for("listening", CONNECT_S)
        client = self.start("client")
        client.wait_for("connected", CONNECT_S)
        start = time.monotonic()
        ends = {"client": client, "server": server}
        for step in self.plan.timeline:
            delay = start + step.at_s - time.monotonic()
            if delay > 0:
                time.sleep(delay)
            if isinstance(step, Change):
                self.change(step)
            else:
                self.request(step, ends)
        sender = ends[self.scenario["application"]["sender"]]
        sender.wait(max(0, start + self.scenario["duration_s"] - time.monotonic()) + LINGER_S)
        for end in ends.values():
            end.stop()

    def change(self, step: Change) -> None:
        """Change a link, and note when the change began and when it was made."""
        before_ns = time.time_ns()
        self.tc.netem("change", step.ports)
        after_ns = time.time_ns()
        self.events.write(
            {
                "t": after_ns / 1e9,
                "t_ns": after_ns,
                "t_before_ns": before_ns,
                "event": "link",
                "link": step.path,
                "note": step.note,
                "direction": step.direction,
                "netem": " ".join(step.ports[0][1]) if step.ports else "",
            }
        )

    def request(self, step: Request, ends: dict[str, End]) -> None:
        """Ask an end's application to do something."""
        ends[step.host].ask(step.what)

    def start(self, role: str) -> End:
        """Start an end's application."""
        application = dict(self.scenario["application"])
        sctp = self.scenario.sctp(role)
        paths = [path for path in self.scenario.paths.values() if path["at_start"]]
        other = "server" if role == "client" else "client"
        orders = application | {
            "role": role,
            "own": [path[role] for path in paths],
            "peer": [path[other] for path in paths],
            "port": PORT,
            "duration_s": self.scenario["duration_s"],
            "seed": self.scenario["seed"],
        }
        orders |= {name: sctp[name] for name in sctp if name.endswith("_buffer_bytes")}
        command = ["ip", "netns", "exec", self.namespace(role), sys.executable]
        command += ["-m", "pathscope.replay.lab.endpoint", json.dumps(orders)]
        log = (self.folder / "logs" / f"{role}.log").open("w")
        return End(role, command, log, self.events)


class End:
    """A running application, whose words go into the event log."""

    def __init__(self, role: str, command: list[str], log: TextIO, events: EventLog) -> None:
        self.role = role
        self.events = events
        self.log = log
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        self.heard = events.follow(self.process.stdout, role)

    def wait_for(self, event: str, timeout_s: float) -> None:
        """Wait until the application has said something."""
        if not self.heard.wait_for(event, timeout_s):
            raise StageError(f"{self.role}: no {event!r} within {timeout_s} s")

    def ask(self, what: dict[str, Any]) -> None:
        """Hand a request over."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def wait(self, timeout_s: float) -> None:
        """Wait until the application ends by itself; it need not."""
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.events.write({"event": "overtime", "host": self.role})

    def stop(self) -> None:
        """End the application."""
        if self.process.poll() is None:
            try:
                self.ask({"do": "stop"})
                self.process.wait(LINGER_S)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
        self.heard.join()
        self.log.close()


def _run(*command: str, given: str | None = None) -> None:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise StageError(f"{' '.join(command)}: exit code {done.returncode}: {said}")


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # it has ended by itself


def _wait_for_words(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    raise StageError(f"{' '.join(process.args)}: ended with {process.wait()}")  # type: ignore[arg-type]


def main() -> None:
    """Run the scenario in the folder that the first argument names."""
    folder = Path(sys.argv[1])
    prefix = sys.argv[2] if len(sys.argv) > 2 else ""
    settings = json.loads((folder / "scenario.json").read_text())
    (folder / "logs").mkdir(exist_ok=True)
    Stage(Scenario(settings.pop("name"), settings), folder, prefix).run()


if __name__ == "__main__":
    main()
