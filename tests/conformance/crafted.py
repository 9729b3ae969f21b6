"""Captures made for a comparison, and that comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.compare import Comparison, compare
from scapy.packet import Packet
from scapy.utils import wrpcap


def agrees(
    tmp_path: Path, frames: Sequence[Packet], wire_lengths: list[int] | None = None
) -> Comparison:
    """Compare frames, of which each holds a packet; no field of any may be told differently."""
    path = tmp_path / "crafted.pcap"
    if wire_lengths is not None:
        for frame, wire_length in zip(frames, wire_lengths, strict=True):
            frame.wirelen = wire_length
    wrpcap(str(path), list(frames))
    result = compare(path)
    assert result.disagreements == []
    assert result.packets.total() == len(frames)
    return result
