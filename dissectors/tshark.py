"""One frame as tshark decodes it, in the words of pyshark: both are optional."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Node = dict[str, Any]

LIMIT_S = 300.0
"""For a frame and all before it. Packets that a decoder is long, or for ever, at have been found in
one after another of Wireshark's."""


class TsharkError(Exception):
    """tshark or pyshark is not there, or cannot read the capture."""


def missing() -> str | None:
    """Say what has to be installed before tshark can decode; None when nothing has."""
    if find_spec("pyshark") is None:
        return "pyshark is not installed: pip install pathscope[tshark]"
    import shutil

    if shutil.which("tshark") is None:
        return "tshark is not installed"
    return None


def layers(capture: Path, frame: int, udp_ports: Iterable[int]) -> list[Node] | None:
    """Decode a frame in its context: the frames before it are read, its number is that of the file.

    Returns the layers, outermost first, each with its fields in the order of their bytes; None when
    the capture has no such frame.

    Raises
    ------
    TsharkError
        When that is not possible.
    """
    if (reason := missing()) is not None:
        raise TsharkError(reason)
    import subprocess

    from pyshark.tshark.output_parser.tshark_xml import packet_from_xml_packet

    # Not by pyshark's capture object: when it cleans up just as tshark ends it takes that for a
    # crash, and one frame needs no event loop.
    command = ["tshark", "-n", "-T", "pdml", "-c", str(frame), "-Y", f"frame.number == {frame}"]
    command += ["-o", "sctp.checksum:Automatic"]
    for port in udp_ports:
        command += ["-d", f"udp.port=={port},sctp"]
    try:
        done = subprocess.run(  # noqa: S603 (no shell)
            [*command, "-r", str(capture)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TsharkError(f"{capture}: tshark was not done with it after {LIMIT_S:g} s") from error
    except OSError as error:
        raise TsharkError(f"tshark cannot be run: {error}") from error
    start, end = done.stdout.find(b"<packet>"), done.stdout.rfind(b"</packet>")
    if 0 <= start < end:
        packet = packet_from_xml_packet(done.stdout[start : end + len(b"</packet>")])
        return [_layer(one) for one in (packet.frame_info, *packet.layers)]
    if done.returncode != 0:
        raise TsharkError(f"{capture}: tshark cannot read it: {_reason(done)}")
    return None


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return what tshark said last; a warning about the user comes before it."""
    lines = done.stderr.decode(errors="replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return said[-1].removeprefix("tshark: ") if said else f"exit status {done.returncode}"


def _layer(layer: Any) -> Node:
    fields = sorted(_fields(layer), key=lambda field: (field["offset"], -field["length"]))
    return {"name": layer.layer_name, "fields": fields}


def _fields(layer: Any) -> Iterator[Node]:
    """Yield what Wireshark shows of a layer; pyshark has made a flat list of its tree."""
    for name in layer._all_fields:  # noqa: SLF001 (get_field gives the first of a name alone)
        for field in layer._all_fields[name].all_fields:  # noqa: SLF001
            # What an expert item is about stands in words beside its parts.
            is_part = field.name.startswith("_ws.expert")
            if field.hide or is_part or not (field.showname or field.show):
                continue
            yield {
                "name": field.name,
                "value": field.show,
                "meaning": field.showname or field.show,
                "offset": int(field.pos or 0),
                "length": int(field.size or 0),
            }
