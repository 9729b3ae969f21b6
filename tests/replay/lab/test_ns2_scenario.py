"""Scenarios for ns-2: what is refused, with its line, and what reaches the script."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pathscope.replay.lab.ns2.scenario import schema
from pathscope.replay.lab.ns2.tcl import SCTP, TCP, number, script
from pathscope.replay.lab.scenario import ScenarioError, load, parse
from running import ROOT

SCENARIOS = ROOT / "fixtures" / "scenarios"
OURS = ("waleed-sctp", "waleed-tcp", "chen")

DOCUMENT: dict[str, Any] = {
    "engine": "ns2",
    "duration_s": 10,
    "nodes": ["a", "a-1", "a-2", "b", "b-1", "b-2", "c"],
    "multihomed": {"a": ["a-1", "a-2"], "b": ["b-1", "b-2"]},
    "links": [
        {"from": ["a-1", "c"], "to": "b-1", "rate_kbit": 1000, "delay_ms": 10},
        {"from": "a-2", "to": "b-2", "rate_kbit": 500.5, "delay_ms": 0.25, "duplex": False},
    ],
    "flows": [
        {"name": "file", "protocol": "sctp", "application": "ftp", "from": "a", "to": "b"},
        {"name": "rate", "protocol": "udp", "application": "cbr", "from": "c", "to": "b-1"},
    ],
}

TEXT = """\
engine = "ns2"
duration_s = 10
nodes = ["a", "b"]

[[links]]
from = "a"
to = "b"
rate_kbit = 1000
delay_ms = 10

[[flows]]
name = "file"
protocol = "tcp"
application = "ftp"
from = "a"
to = "b"

[[flows]]
name = "rate"
protocol = "udp"
application = "cbr"
from = "a"
to = "b"
"""


def changed(*key: str | int, to: Any) -> dict[str, Any]:
    document = deepcopy(DOCUMENT)
    place: Any = document
    for part in key[:-1]:
        place = place.setdefault(part, {}) if isinstance(part, str) else place[part]
    place[key[-1]] = to
    return document


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("name", OURS)
def test_our_scenarios_load_and_say_what_they_keep(name: str) -> None:
    scenario = load(SCENARIOS / f"{name}.toml")
    assert scenario["engine"] == "ns2"
    assert scenario["description"]
    assert scenario["kept"]
    assert scenario["approximated"]


def test_the_bottleneck_of_study_w_is_declared_twice() -> None:
    found = script(load(SCENARIOS / "waleed-tcp.toml").settings).splitlines()
    both = [line for line in found if re.search(r"node\(n[01]\) \$node\(n[01]\)", line)]
    assert both == [
        "$ns duplex-link $node(n0) $node(n1) 500kb 100ms DropTail",
        "$ns duplex-link $node(n1) $node(n0) 500kb 100ms DropTail",
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ('engine = "ns2"', 'engine = "ns2"\nseeds = 1', 1, "'seeds' was unexpected"),
        ("duration_s = 10", "duration_s = inf", 2, "duration_s: expected a finite number"),
        ('to = "b"\nrate', 'to = "d"\nrate', 7, "links[1].to: there is no node 'd'"),
        ("rate_kbit = 1000", "rate_kbit = nan", 8, "links[1].rate_kbit: expected a finite number"),
        ("rate_kbit = 1000", "rate_kbit = '1Mb'", 8, "links[1].rate_kbit: '1Mb' is not of type"),
        ('name = "rate"', 'name = "file"', 19, "flows[2].name: file is the name of another flow"),
        ('"cbr"', '"ftp"', 21, "flows[2].application: over udp there is only cbr"),
        ('"cbr"', '"cbr"\nstart_s = 10', 22, "flows[2].start_s: the run is over after 10 s"),
        ('"cbr"', '"cbr"\nsctp = {}', 22, "flows[2].sctp: the flow is udp"),
    ],
)
def test_errors_name_line_and_key(tmp_path: Path, old: str, new: str, line: int, what: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(ScenarioError) as raised:
        load(path)
    assert f"x.toml:{line}: " in str(raised.value)
    assert what in str(raised.value)


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        (("links", 0, "from"), ["a-1", "d"], "links[1].from: there is no node 'd'"),
        (("links", 0, "from"), "a", "a is a multihomed host: its interfaces have the links"),
        (("links", 0, "from"), "b-1", "b-1 cannot be linked to itself"),
        (("multihomed", "a"), ["a-1", "d"], "multihomed.a: there is no node 'd'"),
        (("multihomed", "b"), ["b-1", "a-2"], "a-2 cannot be an interface of b: it is taken"),
        (("flows", 0, "primary"), "a-1", "flows[1].primary: a-1 is no interface of b"),
        (("flows", 1, "primary"), "b-1", "only sctp has a primary destination"),
        (("flows", 0, "rate_kbit"), 1, "flows[1].rate_kbit: only cbr has this"),
        (("flows", 0, "stop_s"), 0, "it stops before it starts"),
        (("flows", 0, "to"), "a", "the flow ends where it begins"),
        (("flows", 1, "to"), "b", "b is a multihomed host, which udp cannot use"),
        (("flows", 0, "sctp"), {"chunk_bytes": 1472}, "is above the MTU, 1500"),
        (("sctp",), {"mtu_bytes": 576}, "sctp.chunk_bytes: a chunk of 1468 bytes"),
        (("sctp",), {"rto_min_ms": 2000, "rto_max_ms": 1000}, "above rto_max_ms"),
        (("actions",), [{"at_s": 1, "do": "set-primary"}], "set-primary needs flow and to"),
        (
            ("actions",),
            [{"at_s": 1, "do": "set-primary", "flow": "x", "to": "b-1"}],
            "actions[1].flow: there is no flow 'x'",
        ),
        (
            ("actions",),
            [{"at_s": 1, "do": "set-primary", "flow": "file", "to": "b"}],
            "actions[1].to: b is no interface of b",
        ),
        (
            ("actions",),
            [{"at_s": 1, "do": "link-down", "from": "a-2", "to": "b-2"}],
            "there is no link from b-2 to a-2",
        ),
        (
            ("actions",),
            [{"at_s": 1, "do": "link-up", "from": "c", "to": "b-1", "flow": "file"}],
            "actions[1].flow: link-up has no use for it",
        ),
        (
            ("actions",),
            [{"at_s": 10, "do": "link-up", "from": "c", "to": "b-1"}],
            "actions[1].at_s: the run is over after 10 s",
        ),
        (("links", 0, "lost_packets"), [-1], "links[1].lost_packets[1]: -1 is less"),
        (("seed",), 0, "seed: 0 is less than the minimum of 1"),
        (("links", 0, "lost_packets"), [1, 1], "has non-unique elements"),
    ],
)
def test_what_a_schema_cannot_say(key: tuple[str | int, ...], value: Any, what: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        parse(changed(*key, to=value))
    assert what in str(raised.value)


def test_a_link_whose_lost_packets_are_listed_cannot_fail() -> None:
    document = changed("links", 0, "lost_packets", to=[3])
    document["actions"] = [{"at_s": 1, "do": "link-down", "from": "b-1", "to": "c"}]
    with pytest.raises(ScenarioError, match="from c to b-1 has lost_packets, and cannot fail too"):
        parse(document)


def test_the_last_link_between_two_nodes_is_the_one_that_fails() -> None:
    document = changed("links", 0, "loss_percent", to=10)
    document["links"].append(document["links"][0] | {"loss_percent": 20, "from": "a-1"})
    document["actions"] = [
        {"at_s": 1, "do": "link-down", "from": "a-1", "to": "b-1", "one_way": True},
        {"at_s": 2, "do": "link-up", "from": "a-1", "to": "b-1", "one_way": True},
    ]
    found = script(parse(document).settings)
    assert '$ns at 1 "$loss(a-1:b-1) set rate_ 1"\n' in found
    assert '$ns at 2 "$loss(a-1:b-1) set rate_ 0.2"\n' in found


NAMED = [
    ("nodes", 6),
    ("multihomed", "a", 0),
    ("links", 0, "from", 0),
    ("links", 1, "from"),
    ("links", 1, "queue"),
    ("flows", 0, "name"),
    ("flows", 0, "application"),
    ("flows", 0, "primary"),
    ("flows", 1, "from"),
    ("flows", 1, "rate_kbit"),
    ("sctp", "retransmit_on"),
    ("seed",),
    ("duration_s",),
]
HOSTILE = ["a\n", "a b", "[exit]", "$ns", "a;exit", "a)", '"', "{", "}", "\\", "a\u0000", "é", ""]


@pytest.mark.parametrize("key", NAMED, ids=lambda key: ".".join(map(str, key)))
@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_no_text_of_a_scenario_gets_into_the_script(key: tuple[str | int, ...], text: str) -> None:
    with pytest.raises(ScenarioError):
        parse(changed(*key, to=text))


def test_words_for_people_stay_out_of_the_script() -> None:
    words = dict.fromkeys(("description", "study", "kept", "approximated"), "\nexit 7 [exit]")
    assert script(parse(DOCUMENT | words, "\nexit").settings) == script(parse(DOCUMENT).settings)


@given(st.text())
def test_a_name_is_a_tcl_word_or_refused(name: str) -> None:
    document = changed("flows", 0, "name", to=name)
    try:
        found = script(parse(document).settings)
    except ScenarioError:
        return
    assert re.fullmatch("[A-Za-z0-9_-]+", name)
    assert f"set source({name}) [new Agent/SCTP]\n" in found


@given(st.floats(min_value=1e-6, max_value=1e9) | st.integers(0, 2**31 - 1))
def test_numbers_keep_every_digit(value: float) -> None:
    assert re.fullmatch(r"[0-9]+(\.[0-9]+)?", number(value))
    assert float(number(value)) == value


def test_every_setting_has_its_variable() -> None:
    definitions = schema()["$defs"]
    assert {*SCTP, "concurrent"} == set(definitions["sctp"]["properties"])  # another agent
    assert set(TCP) == set(definitions["tcp"]["properties"]["variant"]["enum"])


def test_settings_of_a_flow_stand_over_those_of_all() -> None:
    document = changed("sctp", to={"rto_min_ms": 500, "ordered": False})
    document["flows"][0]["sctp"] = {"rto_min_ms": 250}
    found = script(parse(document).settings)
    assert found.count(" set minRto_ 0.25\n") == 2
    assert found.count(" set unordered_ 1\n") == 2
    assert "minRto_ 0.5" not in found
