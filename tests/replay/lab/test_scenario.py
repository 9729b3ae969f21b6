"""Scenarios: what is filled in, and what every mistake is answered with."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from pathscope.replay.lab import catalog
from pathscope.replay.lab.run import LabError, run
from pathscope.replay.lab.scenario import ScenarioError, load, parse, schema

GOOD = """\
duration_s = 5

[paths.wlan]
client = "10.0.1.1"
server = "10.0.1.2"
both = {delay_ms = 5}
to_server = {loss_percent = 1}

[sctp]
rto_min_ms = 200

[server.sctp]
sack_delay_ms = 100

[[actions]]
at_s = 1
do = "link-down"
path = "wlan"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(GOOD)
    return path


def test_defaults_are_filled_in(file: Path) -> None:
    scenario = load(file)
    assert scenario.name == "small"
    assert scenario["application"]["kind"] == "fixed-rate"
    wlan = scenario.paths["wlan"]
    assert (wlan["to_server"]["delay_ms"], wlan["to_server"]["loss_percent"]) == (5, 1)
    assert (wlan["to_client"]["delay_ms"], wlan["to_client"]["loss_percent"]) == (5, 0)
    assert "both" not in wlan


def test_settings_of_both_ends_hold_where_an_end_has_none(file: Path) -> None:
    scenario = load(file)
    ends = [scenario.sctp(end) for end in ("client", "server")]
    assert [end["rto_min_ms"] for end in ends] == [200, 200]
    assert [end["sack_delay_ms"] for end in ends] == [200, 100]


def test_changes(file: Path) -> None:
    changes = ["sctp.rto_min_ms=300", "actions.1.at_s=2", "application.kind=bulk"]
    scenario = load(file, changes)
    assert scenario.sctp("server")["rto_min_ms"] == 300
    assert scenario["actions"][0]["at_s"] == 2
    assert scenario["application"]["kind"] == "bulk"


def test_what_a_run_keeps_is_the_scenario_again(file: Path, tmp_path: Path) -> None:
    import json

    from pathscope.replay.lab.scenario import Scenario

    scenario = load(file)
    (tmp_path / "scenario.json").write_text(json.dumps(scenario.document()))
    again = Scenario.of_run(tmp_path)
    assert (again.name, again.settings) == (scenario.name, scenario.settings)


MISTAKES = {
    "unknown key": (
        "duration_s = 5",
        "duration_s = 5\ndurration_s = 6",
        2,
        "durration_s: there is no such key, did you mean duration_s?",
    ),
    "unknown key of a table": (
        "rto_min_ms = 200",
        "rto_mn_ms = 200",
        10,
        "sctp.rto_mn_ms: there is no such key, did you mean rto_min_ms?",
    ),
    "out of range": ("loss_percent = 1", "loss_percent = 101", 7, "paths.wlan.to_server"),
    "not a number": ("loss_percent = 1", "loss_percent = nan", 7, "expected a finite number"),
    "endless": ("duration_s = 5", "duration_s = inf", 1, "duration_s: expected a finite number"),
    "wrong word": (
        '"link-down"',
        '"link-cut"',
        17,
        "actions[1].do: expected one of link-down, link-up, impair,",
    ),
    "no address": ('"10.0.1.1"', '"10.0.1"', 4, "paths.wlan.client: expected an IPv4 or IPv6"),
    "two families": ('"10.0.1.2"', '"2001:db8::2"', 3, "paths.wlan: client and server have"),
    "same address": ('"10.0.1.2"', '"10.0.1.1"', 5, "10.0.1.1 is taken by paths.wlan.client"),
    "no such path": (
        'path = "wlan"',
        'path = "lan"',
        18,
        "actions[1].path: there is no path 'lan'",
    ),
    "path missing": ('path = "wlan"\n', "", 15, "actions[1]: link-down needs a path"),
    "too late": ("at_s = 1", "at_s = 5", 16, "actions[1].at_s: the run is over after 5 s"),
    "needs asconf": (
        '"link-down"',
        '"address-add"',
        17,
        "actions[1].do: address-add needs sctp.asconf = true",
    ),
    "key missing": ("duration_s = 5\n", "", 1, "the scenario: duration_s is missing"),
    "name of a path": ("paths.wlan]", 'paths."1st"]', 3, "paths.1st: a name is a letter"),
    "name of two lines": (
        "paths.wlan]",
        'paths."wlan\\n"]',
        3,
        r"paths.'wlan\n': a name is a letter",
    ),
    "reserved name": ("paths.wlan]", "paths.lo]", 3, "paths.lo: this name is the kernel's"),
    "server restarts": (
        'do = "link-down"\npath = "wlan"',
        'do = "restart"\nhost = "server"',
        18,
        "actions[1].host: only the client",
    ),
    "impairment of none": (
        'path = "wlan"\n',
        'path = "wlan"\nimpairment = {delay_ms = 1}\n',
        19,
        "actions[1].impairment: link-down takes none",
    ),
    "nothing to begin anew with": (
        '"link-down"',
        '"link-up"\nreset = true',
        18,
        "actions[1].reset: there is no impairment",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_names_line_and_key(mistake: str, file: Path) -> None:
    old, new, line, message = MISTAKES[mistake]
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ScenarioError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}:{line}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("sctp", "expected KEY=VALUE"),
        ("actions.2.at_s=1", "there is no item 2"),
        ("duration_s.x=1", "duration_s is no table"),
        ("actions.1=3", "expected the key of an item"),
        ("paths.wlan.to_server.delay_ms=nan", "expected a finite number"),
    ],
)
def test_a_change_that_fits_nowhere(change: str, message: str, file: Path) -> None:
    with pytest.raises(ScenarioError, match=message):
        load(file, [change])


def test_text_that_is_no_toml(file: Path) -> None:
    file.write_text("duration_s = \n")
    with pytest.raises(ScenarioError, match=r"small.toml: .*line 1"):
        load(file)
    file.write_bytes(b"duration_s = 5 # \xff\n")
    with pytest.raises(ScenarioError, match="at byte 17: expected UTF-8"):
        load(file)


def test_a_document_without_a_file() -> None:
    with pytest.raises(ScenarioError, match=r"^paths: "):
        parse({"duration_s": 1, "paths": {}})


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("name", catalog.names())
def test_every_scenario_that_comes_with_pathscope(name: str) -> None:
    scenario = load(catalog.find(name))
    assert scenario.name == name
    assert scenario["description"] == catalog.description(name)
    assert scenario["description"].endswith(".")


PATHS = {"wlan": {"client": "10.0.1.1", "server": "10.0.1.2", "both": {"delay_ms": 5}}}


def test_what_was_recorded_is_of_one_association() -> None:
    actions = [{"at_s": 1, "do": "restart"}]
    recorded = {"kind": "recorded"}
    with pytest.raises(ScenarioError, match=r"actions\[1\].do: what was recorded"):
        parse({"duration_s": 2, "paths": PATHS, "application": recorded, "actions": actions})


def test_a_link_may_return_with_tables_of_the_scenarios_own() -> None:
    impairment = {"delay_ms": 20, "jitter_ms": 4, "distribution": "steep"}
    action = {"at_s": 1, "do": "link-up", "path": "wlan", "reset": True, "impairment": impairment}
    document = {"duration_s": 2, "paths": PATHS, "actions": [action]}
    with pytest.raises(ScenarioError, match=r"actions\[1\].impairment.distribution: expected one"):
        parse(document)
    scenario = parse(document | {"distributions": {"steep": [-1.2, -0.5, 1.7]}})
    assert scenario["distributions"] == {"steep": [-1.2, -0.5, 1.7]}


def test_messages_of_a_trace_come_from_live_mode_alone(tmp_path: Path) -> None:
    recorded = parse({"duration_s": 2, "paths": PATHS, "application": {"kind": "recorded"}})
    with pytest.raises(LabError, match="pathscope replay --live"):
        run(recorded, tmp_path / "run", "guest")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("zone", ["eth0", "\nnetns exec client touch here\n", "a b"])
def test_an_address_has_no_zone(zone: str) -> None:
    path = {"client": f"fe80::1%{zone}", "server": "fe80::2"}
    with pytest.raises(ScenarioError, match=r"paths.wlan.client: expected an address without a"):
        parse({"duration_s": 2, "paths": {"wlan": path}})
