"""Whatever a file holds: a profile comes of it, or a message."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.profiles import mahimahi, script, tcconfig
from pathscope.replay.profiles.profile import ProfileError, load, parse

WORDS = st.sampled_from([
    "tc", "qdisc", "add", "change", "replace", "del", "dev", "root", "netem", "eth0", "limit",
    "delay", "loss", "gemodel", "state", "random", "duplicate", "reorder", "gap", "corrupt", "rate",
    "slot", "packets", "bytes", "distribution", "normal", "ecn", "seed", "sleep", "infinity",
    "while", ":", ";", "do", "done", "&&", "#", "'", '"', "\\", "10ms", "5%", "0%", "100%", "1mbit",
    "1tbit", "-1", "1e309", "99999999999999", "0", "1", "sudo", "true", "50ms",
])  # fmt: skip

LINES = st.lists(st.lists(WORDS, max_size=14).map(" ".join), max_size=6).map("\n".join)
NETEM = LINES.map(lambda text: f"tc qdisc add dev eth0 root netem {text}\n{text}")


@given(st.one_of(st.text(), LINES, NETEM))
def test_scripts(text: str) -> None:
    with suppress(script.ScriptError, ProfileError):
        document, _ = script.read(text, "to_server")
        parse(document)


@given(st.one_of(st.text(), st.text("0123456789\n", max_size=200)), st.integers(1, 1000))
def test_traces(text: str, bin_ms: int) -> None:
    with suppress(mahimahi.MahimahiError, ProfileError):
        document, _ = mahimahi.read(text, "*", "both", bin_ms)
        parse(document)


@given(st.text(), st.text())
def test_settings_of_tcconfig(name: str, value: str) -> None:
    for key in (name, *tcconfig.READERS):
        text = json.dumps({"eth0": {"outgoing": {"": {key: value}}}})
        with suppress(tcconfig.TcconfigError, ProfileError):
            document, _ = tcconfig.read(text)
            parse(document)


def test_what_is_too_deep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tcconfig.TcconfigError, match="too deep"):
        tcconfig.read('{"a":' * 200_000)
    file = tmp_path / "deep.toml"
    file.write_text("seed = " + "[" * 200_000)
    with pytest.raises(ProfileError, match="too deep"):
        load(file)


def test_a_day_in_the_smallest_bins_takes_no_memory() -> None:
    with pytest.raises(mahimahi.MahimahiError, match="more than 1,000,000"):
        mahimahi.read("86400000\n", "*", "both", 1)
