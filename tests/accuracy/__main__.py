"""Hold what pathscope measures against what the lab knows: `make accuracy`."""

import argparse
import sys
from pathlib import Path

from accuracy.report import COMMITTED, Set, document, lines
from accuracy.runs import runs_in


def main() -> int:
    """Print a line for every metric; 1 when a number of the repository's runs is off."""
    parser = argparse.ArgumentParser(prog="python -m accuracy", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="more runs")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page of docs/")
    arguments = parser.parse_args()
    committed, more = Set.of(COMMITTED, runs_in(COMMITTED)), None
    print("\n".join(lines(committed)))
    if arguments.folder is not None:
        more = Set.of(arguments.folder, runs_in(arguments.folder))
        if not more.runs:
            parser.error(f"{arguments.folder}: no complete run of SCTP in it")
        print("\n".join(("", *lines(more))))
    if arguments.write is not None:
        arguments.write.write_text(document(committed, more), encoding="utf-8")
    return 1 if committed.beyond else 0


if __name__ == "__main__":
    sys.exit(main())
