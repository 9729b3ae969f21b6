"""Recordings of interfaces by tcpdump, one process each, for as long as a block lasts."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import recordings
from .ends import END_S, StageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

QUIET_S = 0.3
"""How long recording goes on after the last word: what is on its way to a tap still gets there."""

BLOCK_S = 2.5
"""The same where the kernel hands packets over in blocks: the last one after up to two seconds."""

BUFFERS_KIB, LEAST_KIB, MOST_KIB = 131072, 2048, 16384
"""Of the kernel's memory for packets on their way to a recording: of all, and of each."""


@dataclass(frozen=True, slots=True)
class Tap:
    """An interface that is recorded, of a host or end.

    `here`: it is in the namespace of this process, and not in one of the host's name.
    """

    host: str
    device: str
    here: bool = False

    @property
    def name(self) -> str:
        """Of the recording, and of its file but for `.pcap`."""
        return f"{self.host}-{self.device}"


@contextmanager
def recording(
    taps: Sequence[Tap], folder: Path, snap_bytes: int, *, prompt: bool
) -> Iterator[None]:
    """Record until the block ends: `NAME.pcap` of each, `logs/recordings.json` with the counts.

    Parameters
    ----------
    prompt
        Every packet is handed over as it comes, and a recording that lacks one that the kernel has
        seen fails. Else they come in blocks, which takes many more of them a second, and what is
        lost is in the counts.

    Raises
    ------
    StageError
        When a recording cannot be started, or was lossy and must not be.
    """
    running: dict[str, subprocess.Popen[str]] = {}
    ended = False
    try:
        for tap in taps:
            running[tap.name] = _start(tap, folder, snap_bytes, len(taps), prompt=prompt)
        for process in running.values():
            _wait_for_words(process, "listening on")
        yield
        time.sleep(QUIET_S if prompt else BLOCK_S)
        ended = True
    finally:
        for process in running.values():
            process.send_signal(signal.SIGINT)
        said = {name: process.communicate(timeout=END_S)[1] for name, process in running.items()}
    if ended:
        found = {name: recordings.counts(words) for name, words in said.items()}
        (folder / "logs" / "recordings.json").write_text(json.dumps(found, indent=1) + "\n")
        if prompt:
            _check(found, said)


def _start(
    tap: Tap, folder: Path, snap_bytes: int, together: int, *, prompt: bool
) -> subprocess.Popen[str]:
    buffer_kib = min(MOST_KIB, max(LEAST_KIB, BUFFERS_KIB // together))
    command = [] if tap.here else ["ip", "netns", "exec", tap.host]
    command += ["tcpdump", "--interface", tap.device]
    command += ["--time-stamp-precision", "nano", "--snapshot-length", str(snap_bytes)]
    command += ["--buffer-size", str(buffer_kib), "--no-promiscuous-mode", "-Z", "root", "-n"]
    if prompt:
        # Else it would leave at the end what the kernel has not handed over yet.
        command += ["--immediate-mode", "--packet-buffered"]
    # To an open file: tcpdump would give one of its own to root, which only root may.
    command += ["-w", "-"]
    with (folder / f"{tap.name}.pcap").open("wb") as file:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE, text=True
        )


def _check(found: Mapping[str, Mapping[str, int]], said: Mapping[str, str]) -> None:
    for name, counts in found.items():
        received = counts.get("received by filter", 0) - counts.get("dropped by kernel", 0)
        if counts.get("captured") != received:
            raise StageError(f"{name}: tcpdump lost packets: {said[name].strip()}")


def _wait_for_words(process: subprocess.Popen[str], words: str) -> None:
    said = []
    for line in process.stderr or ():
        if words in line:
            return
        said.append(line)
    raise StageError(f"{process.args!r}: ended with {process.wait()}: {''.join(said)}")
