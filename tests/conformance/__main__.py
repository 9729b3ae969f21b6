"""Compare every capture in a folder with tshark: `make conformance DIR=...`."""

import sys
from pathlib import Path

from conformance.compare import Comparison, captures_in, compare

SHOWN = 20


def main() -> int:
    """Print a line for every capture, then the disagreements; 1 when any is unexplained."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print("usage: python -m conformance FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    captures = captures_in(folder)
    if not captures:
        print(f"{folder}: no captures in it", file=sys.stderr)
        return 2
    print(f"{'packets':>9} {'fields':>10} {'disagree':>9} {'explained':>9}  capture")
    results = []
    for capture in captures:
        result = compare(capture)
        results.append(result)
        explained = len(result.disagreements) - len(result.unexplained)
        print(
            f"{result.packets:>9} {result.fields:>10} {len(result.unexplained):>9} "
            f"{explained:>9}  {capture.relative_to(folder)}",
            flush=True,
        )
    for result in results:
        describe(result)
    unexplained = sum(len(result.unexplained) for result in results)
    packets = sum(result.packets for result in results)
    fields = sum(result.fields for result in results)
    print(
        f"\n{len(results)} captures, {packets} packets, {fields} fields compared, "
        f"{unexplained} unexplained disagreements"
    )
    return 1 if unexplained else 0


def describe(result: Comparison) -> None:
    """Print what is to be said about one capture, if anything."""
    if not result.disagreements and not result.notes:
        return
    print(f"\n{result.capture.name}")
    for note in result.notes:
        print(f"  note: {note}")
    for found in sorted(result.disagreements, key=lambda d: d.reason is not None)[:SHOWN]:
        print(f"  frame {found.frame} {found.field}: {found.ours!r}, tshark {found.tshark!r}")
        if found.reason:
            print(f"    allowed: {found.reason}")
    if len(result.disagreements) > SHOWN:
        print(f"  ... and {len(result.disagreements) - SHOWN} more")


if __name__ == "__main__":
    sys.exit(main())
