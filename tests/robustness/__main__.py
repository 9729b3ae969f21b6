"""Read every file in a folder within the bounds of time and memory: `make robustness DIR=...`."""

import sys
from pathlib import Path

from robustness.bounds import MOST_BYTES, MOST_SECONDS, Outcome, measure

SHOWN = 110


def main() -> int:
    """Print a line for every file, then the slowest and the largest; 1 when one is beyond."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print("usage: python -m robustness FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        print(f"{folder}: no files in it", file=sys.stderr)
        return 2
    print(f"{'seconds':>8} {'MB':>5}  file: what came of it")
    outcomes = []
    for path in files:
        outcomes.append(measure(path))
        print(line(outcomes[-1], folder), flush=True)
    beyond = [one for one in outcomes if not one.is_within]
    print(f"\nslowest: {line(max(outcomes, key=lambda one: one.seconds), folder)}")
    print(f"largest: {line(max(outcomes, key=lambda one: one.bytes), folder)}")
    print(
        f"{len(outcomes)} files, {len(beyond)} beyond {MOST_SECONDS:g} s, {MOST_BYTES >> 20} MB "
        "or without a clear ending"
    )
    for one in beyond:
        print(f"\n{one.path.relative_to(folder)}: {one.ending}", file=sys.stderr)
    return 1 if beyond else 0


def line(one: Outcome, folder: Path) -> str:
    ending = one.ending.replace(f"{one.path}: ", "")
    text = f"{one.path.relative_to(folder)}: {ending}".replace("\n", " ")
    return f"{one.seconds:>8.3f} {one.bytes >> 20:>5}  {text[:SHOWN]}"


if __name__ == "__main__":
    sys.exit(main())
