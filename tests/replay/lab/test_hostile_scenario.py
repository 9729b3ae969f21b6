"""Somebody else's scenario runs none of their code: no word of it is one of a program's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from pathscope.replay.lab.ns2.tcl import script
from pathscope.replay.lab.plan import Change, plan
from pathscope.replay.lab.scenario import ScenarioError, load, parse
from pathscope.replay.packets.routes import DEVICE

HOSTILE = (
    "[exec touch pwned]",
    "$pwned",
    "x]; exec touch pwned; [",
    "a\nnetns exec client touch pwned",
    "a\n",
    "a b pwned",
    "-pwned",
    "--pwned=1",
    "../pwned",
    "/pwned",
    "a;pwned",
    "`pwned`",
    "fe80::1%pwned",
    '"pwned',
    "{pwned",
    "a\\\npwned",
    "\x00pwned",
    "a\u2028pwned",
    "\u0661pwned",
)

KERNEL: dict[str, Any] = {
    "duration_s": 5,
    "paths": {
        "wlan": {
            "client": "10.0.1.1",
            "server": "10.0.1.2",
            "both": {"delay_ms": 20, "jitter_ms": 4, "distribution": "steep"},
        },
        "lte": {"client": "10.0.2.1", "server": "10.0.2.2"},
    },
    "sctp": {"asconf": True},
    "application": {"primary": "lte"},
    "actions": [
        {"at_s": 1, "do": "impair", "path": "wlan", "impairment": {"loss_percent": 5}},
        {"at_s": 2, "do": "address-delete", "path": "lte", "host": "client"},
    ],
    "background": [{"protocol": "tcp", "path": "wlan", "neighbour": True}],
    "distributions": {"steep": [-1.2, -0.5, 1.7]},
}

SIMULATED: dict[str, Any] = {
    "engine": "ns2",
    "description": "harmless",
    "duration_s": 10,
    "seed": 3,
    "nodes": ["a", "a0", "b", "r"],
    "multihomed": {"a": ["a0"]},
    "links": [
        {"from": "a0", "to": "r", "rate_kbit": 1000, "delay_ms": 5, "queue": "RED"},
        {"from": ["r"], "to": "b", "rate_kbit": 1000, "delay_ms": 5, "loss_percent": 1},
    ],
    "flows": [
        {"name": "f", "protocol": "sctp", "application": "ftp", "from": "a", "to": "b"},
        {"name": "g", "protocol": "tcp", "application": "cbr", "from": "r", "to": "b",
         "packet_bytes": 100, "rate_kbit": 10, "flow_id": 4, "tcp": {"variant": "reno"}},
    ],
    "actions": [{"at_s": 3, "do": "link-down", "from": "r", "to": "b"}],
}  # fmt: skip

WORDS = re.compile(r"[A-Za-z0-9 .:/_%-]*")
"""What lines of `ip` and `tc` are made of."""


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where values stand."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, dict | list):
            yield from places(inner, (*here, key))
        yield (*here, key)


def changed(document: dict[str, Any], place: tuple[Any, ...], word: str) -> Iterator[Any]:
    """Yield the document with a word in place of a value, and of its key."""
    for is_key in (False, True):
        made = deepcopy(document)
        holder: Any = made
        for key in place[:-1]:
            holder = holder[key]
        if not is_key:
            holder[place[-1]] = word
        elif isinstance(holder, dict):
            holder[word] = holder.pop(place[-1])
        yield made


def lines_of(document: dict[str, Any]) -> Iterator[str]:
    """Yield what programs are told of a scenario."""
    made = plan(parse(document))
    yield from (line for _, lines in made.links for line in lines)
    yield from (f"{device} {' '.join(words)}" for device, words in made.impairments)
    for step in made.timeline:
        if isinstance(step, Change):
            yield from (f"{device} {' '.join(words)}" for device, words in step.ports)
    yield from (f"{key} {value}" for of in made.sysctls.values() for key, value in of.items())
    yield from (" ".join(device) for device in made.devices)


def test_the_scenarios_here_can_be_run() -> None:
    assert all(WORDS.fullmatch(line) for line in lines_of(KERNEL))
    assert "new Agent/SCTP" in script(parse(SIMULATED).settings)


@pytest.mark.parametrize("word", HOSTILE)
def test_words_of_a_scenario_are_no_words_of_programs(word: str) -> None:
    for place in places(KERNEL):
        for document in changed(KERNEL, place, word):
            try:
                lines = list(lines_of(document))
            except ScenarioError:
                continue
            assert all(WORDS.fullmatch(line) and "pwned" not in line for line in lines), place


@pytest.mark.parametrize("word", HOSTILE)
def test_words_of_a_scenario_are_no_tcl(word: str) -> None:
    known = script(parse(SIMULATED).settings)
    for place in places(SIMULATED):
        for document in changed(SIMULATED, place, word):
            try:
                made = script(parse(document).settings)
            except ScenarioError:
                continue
            # What is taken all the same, such as a description, is not in the script.
            assert made == known, place


@pytest.mark.parametrize("word", HOSTILE)
def test_a_name_in_a_capture_names_no_interface(word: str) -> None:
    assert not DEVICE.fullmatch(word)


def test_depth_and_digits_are_told_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "deep.toml"
    for text in (f"k.{'.'.join('a' * 2000)} = 1", f"k = {'[' * 80}{']' * 80}"):
        file.write_text(text)
        with pytest.raises(ScenarioError, match=r"deep\.toml: its tables are too deep"):
            load(file)
    file.write_text(f"duration_s = {'9' * 5000}")
    with pytest.raises(ScenarioError, match=r"deep\.toml: "):
        load(file)


def test_flows_without_end_are_refused() -> None:
    flow = {"protocol": "tcp", "path": "wlan", "flows": 1000}
    with pytest.raises(ScenarioError, match="background: expected 10000 flows at most"):
        parse(KERNEL | {"background": [flow] * 2000})
