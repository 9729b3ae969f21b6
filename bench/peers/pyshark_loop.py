"""Read a capture's SCTP packets with pyshark: a count."""

import sys

import pyshark


def main() -> None:
    """Count."""
    with pyshark.FileCapture(sys.argv[1], keep_packets=False) as capture:
        print(sum("sctp" in packet for packet in capture))


main()
