"""Which runs are held against which."""

from __future__ import annotations

from typing import Any

from pathscope.analyzer.compare.caveats import warned
from pathscope.analyzer.compare.pairing import POOLED, Change, pair
from pathscope.analyzer.compare.runs import Run, settings, split
from sided import result, runs


def run(name: str, scenario: str | None = "failover", **values: Any) -> Run:
    return Run(name, result(), scenario, values)


def names(found: list[Run] | tuple[Run, ...]) -> list[str]:
    return [one.name for one in found]


def test_what_each_side_has_one_value_of_is_what_is_compared() -> None:
    pairing = pair([run("1", rto=1000), run("2", rto=1000)], [run("3", rto=500), run("4", rto=500)])
    (group,) = pairing.groups
    assert group.name == "failover"
    assert group.changes == (Change("rto", 1000, 500),)
    assert group.variations == ()
    assert pairing.unpaired == ()


def test_what_both_sides_vary_keeps_runs_apart() -> None:
    both = [run("1", pmr=2, rto=1000), run("2", pmr=3, rto=1000)]
    pairing = pair(both, [run("3", pmr=3, rto=500), run("4", pmr=2, rto=500)])
    assert [(g.name, names(g.baseline), names(g.candidate)) for g in pairing.groups] == [
        ("failover, pmr=2", ["1"], ["4"]),
        ("failover, pmr=3", ["2"], ["3"]),
    ]
    assert all(g.changes == (Change("rto", 1000, 500),) for g in pairing.groups)


def test_what_has_no_partner_is_listed() -> None:
    pairing = pair(
        [run("1", pmr=2), run("2", pmr=3), run("3", "lossy")], [run("4", pmr=3), run("5", "asconf")]
    )
    assert [g.name for g in pairing.groups] == ["failover, pmr=3"]
    assert [(u.side, u.group, u.runs) for u in pairing.unpaired] == [
        ("baseline", "failover, pmr=2", ("1",)),
        ("baseline", "lossy", ("3",)),
        ("candidate", "asconf", ("5",)),
    ]


def test_every_run_is_in_a_group_or_listed() -> None:
    baseline = [run(f"b{n}", ("x", "y", None)[n % 3], a=n % 4) for n in range(24)]
    candidate = [run(f"c{n}", ("y", "z", None)[n % 3], a=n % 5) for n in range(25)]
    pairing = pair(baseline, candidate)
    seen = [one.name for g in pairing.groups for one in (*g.baseline, *g.candidate)]
    seen += [name for u in pairing.unpaired for name in u.runs]
    assert sorted(seen) == sorted(names(baseline) + names(candidate))


def test_all_is_pooled_where_a_side_knows_no_scenario() -> None:
    pairing = pair([run("1", pmr=2), run("2", pmr=3)], [run("3", None)])
    (group,) = pairing.groups
    assert group.name == POOLED
    assert names(group.baseline) == ["1", "2"]
    (variation,) = group.variations
    assert (variation.key, variation.side, variation.values) == ("pmr", "baseline", (2, 3))
    kinds = [one.kind for one in warned(pairing)]
    assert "settings-differ" in kinds


def test_a_setting_of_both_ends_names_a_group_once() -> None:
    def both(name: str, value: int) -> Run:
        values = {"client.sctp.pmr": value, "server.sctp.pmr": value}
        return Run(name, result(), "failover", values)

    pairing = pair([both("1", 2), both("2", 3)], [both("3", 2), both("4", 3)])
    assert [g.name for g in pairing.groups] == ["failover, sctp.pmr=2", "failover, sctp.pmr=3"]


def test_versions_are_told_and_keep_nothing_apart() -> None:
    def made(name: str, kernel: str) -> Run:
        return Run(name, result(), "failover", {}, {"versions.kernel": kernel})

    (group,) = pair([made("1", "6.1"), made("2", "6.1")], [made("3", "6.6")]).groups
    assert group.changes == (Change("versions.kernel", "6.1", "6.6"),)
    (group,) = pair([made("1", "6.1"), made("2", "6.2")], [made("3", "6.6")]).groups
    assert [(v.key, v.values) for v in group.variations] == [("versions.kernel", ("6.1", "6.2"))]


def test_settings_leave_out_what_differs_in_every_run() -> None:
    scenario = {
        "name": "x",
        "seed": 3,
        "repetitions": 2,
        "paths": {"wlan": {"loss": 0}},
        "acts": [1],
    }
    assert settings(scenario) == {"paths.wlan.loss": 0, "acts.0": 1}


def test_captures_analyzed_each_by_itself_are_runs_of_their_own() -> None:
    one = result()
    second = {**one["captures"][0], "path": "y.pcap"}
    server = {**second, "path": "server.pcap", "other_end": {"of": 1}}
    document = {
        **one,
        "captures": [one["captures"][0], second, server],
        "associations": [{"capture": 0, "id": 5}, {"capture": 1, "id": 6}],
        "warnings": [{"capture": 1, "text": "w"}],
    }
    first, other = split(document)
    assert [c["path"] for c in first["captures"]] == ["x.pcap"]
    assert [c["path"] for c in other["captures"]] == ["y.pcap", "server.pcap"]
    assert other["captures"][1]["other_end"]["of"] == 0
    assert other["associations"] == [{"capture": 0, "id": 6}]
    assert other["warnings"] == [{"capture": 0, "text": "w"}]
    assert first["warnings"] == []


def test_warnings_say_which_runs() -> None:
    baseline = runs(result(), result(damage="frame 3 is cut off"), result(dropped_by_capture=4))
    candidate = runs(*[result(clock_steps=1)] * 6)
    found = {(one.kind, one.text.split()[0]): one.runs for one in warned(pair(baseline, candidate))}
    assert found == {
        ("few-runs", "baseline"): (),
        ("damaged", "1"): ("run-2",),
        ("dropped-packets", "1"): ("run-3",),
        ("clock-steps", "6"): tuple(f"run-{n}" for n in range(1, 7)),
    }
