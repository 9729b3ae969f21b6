"""Compare predictions with runs at other settings: `make whatif DIR=...`."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from whatif.compare import METRICS, Pair, pairs, runs_in

HEAD = ("runs of", "metric", "pairs", "within 10 % or 1 RTO", "inside the bounds", "median error")
PART = re.compile(r"(<!-- measured: what-if -->\n).*?(<!-- end -->)", re.DOTALL)
ENOUGH = 0.95


def main() -> int:
    """Print a row for every folder and metric; 1 when too few failure times are predicted."""
    parser = argparse.ArgumentParser(prog="python -m whatif", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table of docs/")
    arguments = parser.parse_args()
    rows: list[tuple[str, ...]] = []
    sure: list[Pair] = []
    for folder in arguments.folders:
        found = list(pairs(runs_in(folder)))
        if not found:
            parser.error(f"{folder}: no two runs with a failover in it")
        rows += [*table(folder.name, found)]
        sure += [one for one in found if not one.is_doubtful and one.metric in METRICS[:2]]
    lines = markdown(rows)
    print("\n".join(lines))
    if arguments.write is not None:
        text = arguments.write.read_text(encoding="utf-8")
        body = "\n".join(lines)
        arguments.write.write_text(
            PART.sub(lambda match: f"{match[1]}{body}\n{match[2]}", text), encoding="utf-8"
        )
    return 0 if share(sure) >= ENOUGH else 1


def table(name: str, found: Sequence[Pair]) -> list[tuple[str, ...]]:
    """Rows of one folder; pairs that the prediction itself calls doubtful are apart."""
    rows = []
    for is_doubtful in (False, True):
        for metric in METRICS:
            some = [one for one in found if (one.metric, one.is_doubtful) == (metric, is_doubtful)]
            if some:
                rows.append((f"{name}{', doubtful' if is_doubtful else ''}", *cells(metric, some)))
    return rows


def cells(metric: str, some: Sequence[Pair]) -> tuple[str, ...]:
    inside = sum(one.is_inside for one in some)
    return (
        f"`{metric}`",
        str(len(some)),
        # Of a return only the bounds are predicted: it falls anywhere between two HEARTBEATs.
        "-" if metric == "link_recognition_s" else f"{share(some):.1%}",
        f"{inside / len(some):.1%}",
        f"{median(one.error_s for one in some):.3f} s",
    )


def share(some: Sequence[Pair]) -> float:
    return sum(one.is_near for one in some) / len(some) if some else 1.0


def markdown(rows: Sequence[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"] + [
        f"| {' | '.join(row)} |" for row in rows
    ]


if __name__ == "__main__":
    sys.exit(main())
