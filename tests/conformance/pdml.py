"""tshark's PDML, walked as it arrives, one packet in memory at a time."""

from __future__ import annotations

import ipaddress
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, TypeAlias

Fields: TypeAlias = dict[str, list[ET.Element]]

# Nothing of upper layers, nothing relative: the fields as they are on the wire.
PREFERENCES = (
    "sctp.checksum:Automatic",
    "sctp.reassembly:FALSE",
    "sctp.relative_tsns:FALSE",
    "sctp.tsn_analysis:FALSE",
    "sctp.ulp_dissection:FALSE",
    "tcp.check_checksum:TRUE",
    "tcp.desegment_tcp_streams:FALSE",
    "tcp.relative_sequence_numbers:FALSE",
    "udp.check_checksum:TRUE",
)
SHOWN = "frame ip ipv6 udp tcp sctp gtp"


class TsharkError(Exception):
    """tshark could not be run, or could not read the capture to its end."""


def version() -> str:
    """Return tshark's version, as `4.0.17`."""
    said = subprocess.run(["tshark", "--version"], check=True, capture_output=True, text=True)
    return said.stdout.split()[2]


def frames(capture: Path) -> Iterator[ET.Element]:
    """Yield every frame of a capture in file order; each is gone when the next is asked for.

    Raises TsharkError after the last frame when tshark reports a failure.
    """
    command = ["tshark", "-n", "-r", str(capture), "-T", "pdml", "-J", SHOWN]
    for preference in PREFERENCES:
        command += ["-o", preference]
    with tempfile.TemporaryFile() as stderr:
        try:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr)
        except FileNotFoundError:
            message = "tshark is not installed (Debian package: tshark)"
            raise TsharkError(message) from None
        with process:
            assert process.stdout is not None
            problem = yield from elements(process.stdout)
        if process.returncode != 0 or problem:
            stderr.seek(0)
            said = stderr.read().decode(errors="replace").strip().splitlines()
            raise TsharkError(said[-1] if said else f"exit code {process.returncode} {problem}")


def elements(pdml: IO[bytes]) -> Generator[ET.Element, None, str]:
    """Yield the packets of a PDML stream; return what was wrong with it, or nothing."""
    root: ET.Element | None = None
    try:
        for event, element in ET.iterparse(pdml, events=("start", "end")):
            if root is None:
                root = element
            if event == "end" and element.tag == "packet":
                yield element
                root.clear()
    except ET.ParseError as error:
        return f"tshark's output is cut or damaged: {error}"
    return ""


def children(node: ET.Element) -> Fields:
    """Return the fields that stand directly in a node, by name."""
    found: Fields = {}
    for child in node:
        found.setdefault(str(child.get("name")), []).append(child)
    return found


def text(fields: Fields, name: str) -> str:
    """Return the shown value of a field that must be there."""
    return str(fields[name][0].get("show"))


def number(fields: Fields, name: str) -> int:
    """Return the value of a number, which tshark shows in decimal or hexadecimal."""
    return int(text(fields, name), 0)


def address(shown: str) -> str:
    """Return an address in its one canonical form; IPv4-mapped IPv6 is IPv4."""
    parsed = ipaddress.ip_address(shown)
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    return str(parsed)
