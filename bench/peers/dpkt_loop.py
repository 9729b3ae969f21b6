"""Read a capture's SCTP chunks with dpkt: counts of packets and chunks."""

import sys
from pathlib import Path

import dpkt


def main() -> None:
    """Count."""
    packets = chunks = 0
    with Path(sys.argv[1]).open("rb") as file:
        for _, frame in dpkt.pcap.Reader(file):
            sctp = dpkt.ethernet.Ethernet(frame).data.data
            if isinstance(sctp, dpkt.sctp.SCTP):
                packets += 1
                chunks += len(sctp.chunks)
    print(packets, chunks)


main()
