"""Wireshark display filters: how to see in Wireshark what a result speaks of.

An association is found by ports and tags, as its receiver finds it (RFC 9260 section 8.5); a path
by its pair of addresses beside; a handover by the time between its first and its last instant that
a frame shows; a finding by its frames' numbers. Packets that ICMP errors quote are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .units import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]

NO_QUOTES = "!icmp && !icmpv6"
"""An ICMP error quotes a packet's head, in which Wireshark finds the packet's tags and ports."""

NS2_TRACE = "ns-2 trace"
"""Format of a capture that is none."""


def annotated(document: Node) -> Node:
    """Add `wireshark` to all of a result that a filter can show; returns the same document.

    Of several files read as one, Wireshark numbers the frames of each anew: there, what is told by
    frame numbers has null. So has all of a simulator's trace, which Wireshark does not read.
    """
    numbered = [len(capture["files"]) == 1 for capture in document["captures"]]
    for association in document["associations"]:
        _annotate_association(association, is_numbered=numbered[association["capture"]])
    for flow in document["flows"]:
        flow["wireshark"] = flow_filter(flow)
        _annotate_findings(flow, is_numbered=numbered[flow["capture"]])
    for number, capture in enumerate(document["captures"]):
        if NS2_TRACE in capture["format"]:
            for kind in ("associations", "flows"):
                for node in document[kind]:
                    if node["capture"] == number:
                        _without_filters(node)
    return document


def _without_filters(node: Node) -> None:
    node["wireshark"] = None
    for kind in ("paths", "handovers", "excursions", "findings"):
        for one in node.get(kind, ()):
            one["wireshark"] = None


def _annotate_association(association: Node, *, is_numbered: bool) -> None:
    whole = association_filter(association)
    association["wireshark"] = whole
    for path in association["paths"]:
        path["wireshark"] = f"{whole} && {_between(path['a_address'], path['b_address'])}"
    for handover in association["handovers"]:
        handover["wireshark"] = f"{whole} && {window_filter(*_span(handover['instants']))}"
    for excursion in association["excursions"]:
        window = window_filter(excursion["start"]["ns"], excursion["end"]["ns"])
        excursion["wireshark"] = f"{whole} && {window}"
    _annotate_findings(association, is_numbered=is_numbered)


def _annotate_findings(node: Node, *, is_numbered: bool) -> None:
    for finding in node["findings"]:
        has_filter = is_numbered and finding["frames"]
        finding["wireshark"] = frames_filter(finding["frames"]) if has_filter else None


def association_filter(association: Node) -> str:
    """Return the filter for an association's packets.

    INIT has no verification tag yet: it is told by the tag that it announces. Where no tag is
    known, ports and time have to do.
    """
    ends = association["endpoints"]
    ports = " && ".join(f"sctp.port == {end['port']}" for end in ends.values())
    tags = [f"{end['vtag']:#010x}" for end in ends.values() if end["vtag"] is not None]
    if not tags:
        return f"{ports} && {window_filter(association['start_ns'], association['end_ns'])}"
    one_of = ", ".join(tags)
    tagged = f"(sctp.verification_tag in {{{one_of}}} || sctp.init_initiate_tag in {{{one_of}}})"
    return f"{ports} && {tagged} && {NO_QUOTES}"


def flow_filter(flow: Node) -> str:
    """Return the filter for a flow's packets; by time, too, since ports are used again."""
    protocol, a, b = flow["protocol"], flow["endpoints"]["a"], flow["endpoints"]["b"]
    ways = " || ".join(
        f"({_way(source['address'], destination['address'])} && "
        f"{protocol}.srcport == {source['port']} && {protocol}.dstport == {destination['port']})"
        for source, destination in ((a, b), (b, a))
    )
    return f"({ways}) && {window_filter(flow['start_ns'], flow['end_ns'])} && {NO_QUOTES}"


def within(expression: str, from_ns: int, to_ns: int) -> str:
    """Return the filter for those of a filter's packets that a window of time has."""
    return f"({expression}) && {window_filter(from_ns, to_ns)}"


def frames_filter(frames: list[int]) -> str:
    """Return the filter for frames by their numbers."""
    return f"frame.number in {{{', '.join(str(frame) for frame in frames)}}}"


def _between(address: str, other: str) -> str:
    return f"(({_way(address, other)}) || ({_way(other, address)}))"


def _way(source: str, destination: str) -> str:
    ip = "ipv6" if ":" in source else "ip"
    return f"{ip}.src == {source} && {ip}.dst == {destination}"


def _span(instants: dict[str, Node]) -> tuple[int, int]:
    """First and last time of the instants that a frame shows; new DATA is always among them."""
    times = [instant["ns"] for instant in instants.values() if instant.get("frame") is not None]
    return min(times), max(times)


def window_filter(from_ns: int, to_ns: int) -> str:
    """Return the filter for the frames of a window of time, in ns since 1970, both ends in it."""
    return f"frame.time_epoch >= {seconds(from_ns)} && frame.time_epoch <= {seconds(to_ns)}"


def named(document: Node) -> Iterator[tuple[str, str]]:
    """Yield every filter of a result with a name that says what it shows."""
    for name, expression in _all_named(document):
        if expression is not None:
            yield name, expression


def _all_named(document: Node) -> Iterator[tuple[str, str | None]]:
    several = len(document["captures"]) > 1
    for association in document["associations"]:
        name = _name("association", association, several=several)
        labels = [path["label"] for path in association["paths"]]
        yield name, association["wireshark"]
        for path in association["paths"]:
            yield f"{name}: path {path['label']}", path["wireshark"]
        for kind in ("handover", "excursion"):
            for number, move in enumerate(association[f"{kind}s"], 1):
                way = f"{labels[move['from_path']]} -> {labels[move['to_path']]}"
                yield f"{name}: {kind} {number} of {move['sender']}, {way}", move["wireshark"]
        yield from _named_findings(name, association)
    for flow in document["flows"]:
        name = _name(f"{flow['protocol']} flow", flow, several=several)
        yield name, flow["wireshark"]
        yield from _named_findings(name, flow)


def _named_findings(name: str, node: Node) -> Iterator[tuple[str, str | None]]:
    for finding in node["findings"]:
        yield f"{name}: {finding['rule']}", finding["wireshark"]


def _name(kind: str, node: Node, *, several: bool) -> str:
    capture = f"capture {node['capture']} " if several else ""
    return f"{capture}{kind} {node['id']}"


def filter_file(document: Node) -> str:
    """Return a file of named filters as Wireshark keeps them (`dfilters`).

    Of each, a line: the name in quotes, then the filter. A quote or backslash in a name (of an
    interface, say) is escaped as Wireshark escapes it, and what no printer prints is replaced.
    """
    return "".join(f'"{_quoted(name)}" {expression}\n' for name, expression in named(document))


def _quoted(name: str) -> str:
    words = " ".join(name.replace("\\", "\\\\").replace('"', '\\"').split())
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in words)
