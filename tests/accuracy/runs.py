"""A run of the lab with all that is known of it: settings, what was done when, both captures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pathscope
import truth
from pathscope import api
from pathscope.analyzer.model import Association, CaptureResult, End, Handover
from pathscope.dissectors.ledger import Row
from pathscope.replay.lab import catalog, events, folder
from pathscope.replay.lab.scenario import Scenario, load

HOSTS: dict[End, str] = {"a": "client", "b": "server"}
"""The client sends INIT."""


NETEM_SIGMAS = 4
"""As far as the tables of netem's distributions go, in standard deviations."""


@dataclass(frozen=True)
class Arrival:
    """A DATA chunk of the client as one of the captures has it."""

    time_ns: int
    tsn: int
    path: tuple[str, str]


class Run:
    """One run: committed, with a `truth.json`, or in the folder that `pathscope lab run` made."""

    def __init__(self, place: Path) -> None:
        self.place = place

    @cached_property
    def scenario(self) -> Scenario:
        if folder.is_run(self.place):
            return Scenario.of_run(self.place)
        return load(catalog.find(self.truth["scenario"]))

    @cached_property
    def truth(self) -> truth.Truth:
        """What `fixtures/regenerate.py` says of a run, by the lab's clock alone."""
        if not folder.is_run(self.place):
            return truth.committed(self.place)
        kernel = folder.facts(self.place)["versions"]["kernel"]
        found: truth.Truth = truth.regenerate().truth(self.scenario, self.events, kernel)
        return found

    @cached_property
    def events(self) -> list[dict[str, object]]:
        return events.read(self.place / folder.EVENTS)

    @cached_property
    def told(self) -> CaptureResult:
        """Return the client's capture analyzed with the lab's events and names."""
        rules = [
            f"{path[host]}={name}"
            for name, path in self.scenario.paths.items()
            for host in HOSTS.values()
        ]
        capture = self.place / folder.CAPTURES["client"]
        return pathscope.analyze(capture, events=self.place / folder.EVENTS, labels=rules).result

    @cached_property
    def both(self) -> CaptureResult | None:
        """Return the captures of both ends analyzed together; None where they do not fit."""
        ends = (self.place / folder.CAPTURES[host] for host in HOSTS.values())
        found = api.analyze_two(*ends)
        return found[0].result if len(found) == 1 else None

    @cached_property
    def untold(self) -> tuple[Association, ...]:
        """Return the client's associations as they look without names and without events."""
        return truth.all_untold(self.place)

    @cached_property
    def senders(self) -> tuple[End, ...]:
        """Whose data the receiving application counts."""
        ends: dict[str, End] = {host: end for end, host in HOSTS.items()}
        return (ends[self.scenario["application"]["sender"]],)

    def path_name(self, association: Association, number: int) -> str | None:
        """Name of a path by the scenario; None where addresses are crossed."""
        path = association.paths[number]
        for name, known in self.scenario.paths.items():
            if (path.a_address, path.b_address) == (known["client"], known["server"]):
                return name
        return None

    def one_way_ns(self, name: str, way: str) -> tuple[int, int]:
        """Least and greatest delay of a path in one direction, without queue, by its settings."""
        link = self.scenario.paths[name][way]
        delay_ms, spread_ms = link["delay_ms"], link["jitter_ms"]
        if link.get("distribution", "uniform") != "uniform":
            spread_ms *= NETEM_SIGMAS  # jitter is the standard deviation then
        least_ms = max(delay_ms - spread_ms, 0)
        return round(least_ms * 1e6), round((delay_ms + spread_ms) * 1e6)

    def least_ways_back_ns(self) -> list[int]:
        """Least delays from the server, of every path."""
        return [self.one_way_ns(name, "to_client")[0] for name in self.scenario.paths]

    def sending_ns(self, name: str, way: str, wire_bytes: int) -> int:
        """Time that a link takes to send a packet, by its rate; 0 without one."""
        rate_kbit = self.scenario.paths[name][way].get("rate_kbit", 0)
        return round(wire_bytes * 8 * 1e6 / rate_kbit) if rate_kbit else 0

    def failed(self) -> Iterator[tuple[Row, Handover, Handover]]:
        """Yield link failures with the handover that each led to, told and untold."""
        for told, untold in self._pairs():
            fail = told.instants["t_fail"]
            for link in self.truth["links"]:
                if link["what"] == "down" and fail.ns == link["to_ns"]:
                    yield link, told, untold

    def returned(self) -> Iterator[tuple[Row, Handover, Handover]]:
        """Yield returns of a link with the handover back that each led to, told and untold."""
        for told, untold in self._pairs():
            back = told.instants["t_return_link"]
            for link in self.truth["links"]:
                if link["what"] == "up" and back.ns == link["to_ns"]:
                    yield link, told, untold

    def _pairs(self) -> Iterator[tuple[Handover, Handover]]:
        """Yield the handovers that are found with and without the events."""
        for told, untold in zip(self.told.associations, self.untold, strict=True):
            unnamed = {one.instants["t_first_new"].ns: one for one in untold.handovers}
            for one in told.handovers:
                if (other := unnamed.get(one.instants["t_first_new"].ns)) is not None:
                    yield one, other

    def data(self, end: str) -> list[Arrival]:
        """Return every DATA chunk of the client in an end's capture, in order of time."""
        found = [
            Arrival(row["time_ns"], row["tsn"], (row["source"], row["destination"]))
            for batch in pathscope.dissect(self.place / folder.CAPTURES[end])
            for row in batch.to_pylist()
            if row["sender"] == "a" and row["tsn"] is not None and "DATA" in row["chunk_name"]
        ]
        return sorted(found, key=lambda one: one.time_ns)

    @cached_property
    def sent(self) -> list[Arrival]:
        return self.data("client")

    @cached_property
    def arrived(self) -> list[Arrival]:
        return self.data("server")


def runs_in(place: Path) -> list[Run]:
    """Return the complete SCTP runs in a folder, at any depth, by name."""
    found = [path.parent for path in place.rglob("truth.json")]
    found += [
        path.parent
        for path in place.rglob(folder.FACTS)
        if folder.state(path.parent) == "complete" and _is_sctp(path.parent)
    ]
    return [Run(path) for path in sorted(set(found))]


def _is_sctp(place: Path) -> bool:
    scenario = Scenario.of_run(place)
    is_kernel = scenario.settings.get("engine", "kernel") == "kernel"
    return bool(is_kernel and scenario["application"]["protocol"] == "sctp")
