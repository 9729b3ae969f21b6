"""Profiles out of TOML: mistakes have a file, a line and a key."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean, pstdev

import pytest
from pathscope.replay.lab import impairment
from pathscope.replay.profiles.profile import Profile, ProfileError, load, parse, schema

GOOD = """\
description = "A walk."
seed = 3
repeat_s = 60

[distributions]
wlan-up = [-1.732, -0.577, 0.577, 1.732]

[paths.wlan]
both = {delay_ms = 20, jitter_ms = 4, distribution = "wlan-up"}
to_server = {loss_percent = 1, loss_burst_packets = 3}

[[paths.wlan.steps]]
at_s = 5
loss_percent = 5

[[paths.wlan.ramps]]
key = "delay_ms"
from_s = 5
to_s = 10
start = 20
end = 80
every_ms = 100

[[paths."*".random]]
key = "rate_kbit"
low = 500
high = 2000
every_ms = 500
"""


def loaded(folder: Path, text: str) -> Profile:
    file = folder / "walk.toml"
    file.write_text(text)
    return load(file)


def test_a_profile_knows_what_is_written(tmp_path: Path) -> None:
    profile = loaded(tmp_path, GOOD)
    assert (profile.name, profile.description, profile.seed) == ("walk", "A walk.", 3)
    assert profile.repeat_ns == 60 * 10**9
    assert list(profile.paths) == ["wlan", "*"]
    assert profile.impairs
    assert not parse({}).impairs
    assert not parse({"paths": {"wlan": {"both": {}}}}).impairs


def test_its_document_is_json_and_makes_the_same_profile(tmp_path: Path) -> None:
    profile = loaded(tmp_path, GOOD)
    document = json.loads(json.dumps(profile.document()))
    assert document["schema"] == "pathscope.profile/1"
    assert parse(document, "walk") == profile


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("seed = ", ": Invalid value"),
        ("sede = 1", ":1: sede: there is no such key, did you mean seed?"),
        ("seed = nan", ":1: seed: expected a finite number"),
        ("repeat_s = 0", ":1: repeat_s: 0 is less than the minimum of 0.001"),
        (
            "[paths.wlan]\nboth = {dealy_ms = 1}",
            ":2: paths.wlan.both.dealy_ms: there is no such key, did you mean delay_ms?",
        ),
        (
            "[paths.wlan]\n[[paths.wlan.steps]]\nat_s = 1\ndelay_sm = 1",
            ":4: paths.wlan.steps[1].delay_sm: there is no such key, did you mean delay_ms?",
        ),
        (
            "[paths.wlan]\nboth = {jitter_ms = 3}",
            ":2: paths.wlan.both.jitter_ms: at 0 s: 3 ms are more than delay_ms, 0: netem cuts",
        ),
        (
            (
                "[paths.wlan]\nboth = {delay_ms = 9, jitter_ms = 5}\n\n"
                "[[paths.wlan.steps]]\nat_s = 2\njitter_ms = 10"
            ),
            ":6: paths.wlan.steps[1].jitter_ms: at 2 s: 10 ms are more than delay_ms, 9",
        ),
        (
            "[paths.wlan]\nboth = {distribution = 'normal'}",
            ":2: paths.wlan.both.distribution: it changes nothing without jitter_ms",
        ),
        (
            "[paths.wlan]\n\n[[paths.wlan.steps]]\nat_s = 1\nloss_burst_packets = 3",
            ":5: paths.wlan.steps[1].loss_burst_packets: it changes nothing without loss_percent",
        ),
        (
            "[paths.wlan]\nboth = {delay_ms = 5, jitter_ms = 1, distribution = 'wlan-up'}",
            ":2: paths.wlan.both.distribution: at 0 s: expected one of uniform, normal",
        ),
        (
            "[paths.wlan]\nboth = {reorder_percent = 5}",
            ":2: paths.wlan.both.reorder_percent: at 0 s: without delay_ms there is nothing",
        ),
        (
            "[paths.wlan]\nboth = {reorder_gap = 5}",
            ":2: paths.wlan.both.reorder_gap: it changes nothing without reorder_percent",
        ),
        (
            "[paths.wlan]\nboth = {slot_packets = 5}",
            ":2: paths.wlan.both.slot_packets: it changes nothing without slot_min_ms",
        ),
        (
            "[paths.wlan]\nboth = {slot_min_ms = 5, slot_max_ms = 4}",
            ":2: paths.wlan.both.slot_max_ms: at 0 s: 4 ms are less than slot_min_ms, 5",
        ),
        (
            "[paths.wlan]\nboth = {loss_percent = 75, loss_burst_packets = 2}",
            (
                ":2: paths.wlan.both.loss_burst_packets: at 0 s: with one packet between bursts, "
                "75 % are bursts of 3 or more"
            ),
        ),
        (
            (
                "[[paths.wlan.ramps]]\nkey = 'loss_percent'\nfrom_s = 0\nto_s = 1\nstart = 0\n"
                "end = 101\nevery_ms = 10"
            ),
            ":6: paths.wlan.ramps[1].end: loss_percent: expected 0 to 100, found 101",
        ),
        (
            (
                "[[paths.wlan.ramps]]\nkey = 'loss_percent'\nfrom_s = 2\nto_s = 1\nstart = 0\n"
                "end = 1\nevery_ms = 10"
            ),
            ":4: paths.wlan.ramps[1].to_s: it ends before it begins",
        ),
        (
            "[[paths.wlan.random]]\nkey = 'queue_packets'\nlow = 1\nhigh = 2.5\nevery_ms = 10",
            ":4: paths.wlan.random[1].high: queue_packets: expected a whole number, found 2.5",
        ),
        (
            "[[paths.wlan.random]]\nkey = 'delay_ms'\nlow = 3\nhigh = 2\nevery_ms = 10",
            ":4: paths.wlan.random[1].high: it is below low",
        ),
        (
            (
                "[[paths.wlan.random]]\nkey = 'delay_ms'\nlow = 3\nhigh = 4\nevery_ms = 10\n"
                "[[paths.wlan.random]]\nkey = 'delay_ms'\nlow = 3\nhigh = 4\nevery_ms = 10"
            ),
            ":6: paths.wlan.random[2]: another one changes delay_ms to_server at the same time",
        ),
        (
            "repeat_s = 5\n[[paths.wlan.steps]]\nat_s = 5\ndelay_ms = 3",
            ":3: paths.wlan.steps[1].at_s: the profile starts over after 5 s",
        ),
        (
            "[distributions]\nx = [-1, 0]",
            ":2: distributions.x: expected mean 0 and deviation 1, found -0.5 and 0.289",
        ),
        ("[distributions]\nx = [1, -1]", ":2: distributions.x: its values do not ascend"),
        ("[distributions]\nnormal = [-1, 1]", ":2: distributions.normal: netem has a"),
        (
            (
                "[paths.wlan]\nboth = {delay_ms = 9, jitter_ms = 5, distribution = 'normal'}\n\n"
                "[[paths.wlan.steps]]\nat_s = 2\ndistribution = 'uniform'"
            ),
            ":6: paths.wlan.steps[1].distribution: at 2 s: netem keeps the table it had before",
        ),
        (
            "[[paths.wlan.random]]\nkey = 'delay_ms'\nlow = 3\nhigh = 4\nevery_ms = 1\nto_s = 9000",
            ":1: paths.wlan: it makes more than 1,000,000 steps",
        ),
    ],
)
def test_mistakes(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(ProfileError) as told:
        loaded(tmp_path, text)
    said = str(told.value).removeprefix(str(tmp_path / "walk.toml"))
    assert said.startswith(expected)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "walk.toml"
    file.write_bytes(b"seed = 1\n\xff")
    with pytest.raises(ProfileError, match="at byte 9: expected UTF-8 text"):
        load(file)


def test_a_skewed_table_may_have_a_deviation_above_its_mean() -> None:
    raw = [0.0] * 160 + [number / 40 for number in range(40)]
    mean, deviation = fmean(raw), pstdev(raw)
    skewed = [(value - mean) / deviation for value in raw]
    assert skewed[0] > -0.6
    table = {"both": {"delay_ms": 10, "jitter_ms": 16, "distribution": "tail"}}
    assert parse({"distributions": {"tail": skewed}, "paths": {"x": table}}).impairs


def test_a_table_beyond_four_deviations_is_what_netem_holds_of_it() -> None:
    with pytest.raises(ProfileError, match=r"distributions.far: expected mean 0"):
        parse({"distributions": {"far": [-30.0, *[0.0] * 98, 30.0]}})


def test_steps_take_every_key_of_an_impairment_and_ramps_every_number() -> None:
    definitions = schema()["$defs"]
    own = {"at_s", "direction", "reset"}
    assert set(definitions["step"]["properties"]) - own == set(impairment.rules())
    assert set(definitions["key"]["enum"]) == impairment.numeric()
