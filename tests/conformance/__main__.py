"""Compare every capture in folders with tshark: `make conformance DIR=...`."""

import argparse
import sys
from pathlib import Path

from conformance.compare import captures_in, compare
from conformance.pdml import version
from conformance.report import HEAD, Folder, counts, details, document, line


def main() -> int:
    """Print a line for every capture, then the disagreements; 1 when any is unexplained."""
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page of docs/")
    arguments = parser.parse_args()
    print(line(HEAD, "capture"))
    folders = []
    for path in arguments.folders:
        captures = captures_in(path)
        if not captures:
            parser.error(f"{path}: no captures in it")
        folders.append(Folder(path, []))
        for capture in captures:
            result = compare(capture)
            folders[-1].results.append(result)
            print(line(counts([result]), str(capture.relative_to(path))), flush=True)
    results = [result for folder in folders for result in folder.results]
    for result in results:
        for said in details(result):
            print(said)
    totals = counts(results)
    print(line(totals, f"in {len(results)} captures"))
    if arguments.write is not None:
        arguments.write.write_text(document(folders, version()), encoding="utf-8")
    return 1 if totals[-1] else 0


if __name__ == "__main__":
    sys.exit(main())
