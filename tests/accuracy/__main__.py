"""Hold what pathscope measures against what the lab knows: `make accuracy`."""

import argparse
import sys
from pathlib import Path

from accuracy.report import COMMITTED, Set, document, lines
from accuracy.runs import runs_in


def main() -> int:
    """Print a line for every metric; 1 when a number is beyond its bound."""
    parser = argparse.ArgumentParser(prog="python -m accuracy", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="more runs")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page of docs/")
    arguments = parser.parse_args()
    sets = [Set.of("committed", runs_in(COMMITTED))]
    more = [run for place in arguments.folders for run in runs_in(place)]
    if arguments.folders and not more:
        parser.error(f"{arguments.folders[0]}: no complete run of SCTP in it")
    if more:
        sets.append(Set.of("more", more))
    for one in sets:
        print("\n".join(lines(one)))
    if arguments.write is not None:
        arguments.write.write_text(document(sets), encoding="utf-8")
    return 0 if all(one.is_within for one in sets) else 1


if __name__ == "__main__":
    sys.exit(main())
