"""What a run does inside a kernel: builds the hosts, runs the timeline, and records.

Started as `python -m pathscope.replay.lab.stage RUN`, where RUN holds `scenario.json`; it writes
there `events.jsonl`, a recording for each interface, and logs. It is the only part of the lab that
needs privileges, and it clears nothing away: the kernel does, when the guest is switched off or the
namespaces that the host runner made lose their last process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from . import building, tc
from .ends import END_S, End, StageError
from .events import EventLog
from .pace import Watch
from .plan import Change, Plan, Request, Restart, address_line, plan
from .recorders import Tap, recording
from .scenario import ENDS, Scenario, at_start

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

CONNECT_S = 30
"""How long an association may take to come up."""

CLOSE_S = 10
"""How long the peer may take to get what is still to be delivered, once the sender has closed."""


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
                own = self.scenario.settings.get("distributions") if host == "middle" else None
                self.tcs[host] = stack.enter_context(tc.running(host, own))
            self.tcs["middle"].netem("add", self.plan.impairments)
            stack.enter_context(self.captures())
            self.perform()

    def build(self) -> None:
        """Make the hosts."""
        made = self.plan
        building.build(made.hosts, made.links, made.devices, made.sysctls)

    def captures(self) -> AbstractContextManager[None]:
        """Record every interface of the points asked for, until the block ends."""
        capture = self.scenario["capture"]
        taps = [Tap(point, name) for point in capture["points"] for name in self.scenario.paths]
        return recording(taps, self.folder, capture["snap_bytes"], prompt=True)

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
            building.run("ip", "-netns", step.host, *line.split())
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
