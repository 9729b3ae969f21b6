"""Read a capture's SCTP packets with Scapy, which dissects every chunk: a count."""

import sys

from scapy.layers.l2 import Ether  # noqa: F401  (the link type's layer has to be known)
from scapy.layers.sctp import SCTP
from scapy.utils import PcapReader


def main() -> None:
    """Count."""
    with PcapReader(sys.argv[1]) as reader:
        print(sum(SCTP in packet for packet in reader))


main()
