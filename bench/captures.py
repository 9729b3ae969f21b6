"""The captures that are measured: generated, the same bytes every time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = ROOT / "bench" / "data"
GENERATOR = ROOT / "dissectors/wire/examples/generate.rs"


def capture_of(packets: int, suffix: str = ".pcap") -> Path:
    """Return a generated capture, making it when it is missing or older than its generator.

    `.pcap` has one interface; `.pcapng` has one for each path.
    """
    DATA.mkdir(exist_ok=True)
    path = DATA / f"sctp-{packets}{suffix}"
    if not path.exists() or path.stat().st_mtime < GENERATOR.stat().st_mtime:
        print(f"generating {path.relative_to(ROOT)} ...", file=sys.stderr)
        partial = path.with_name(f"{path.name}.partial")
        generate = ["cargo", "run", "--quiet", "--release", "--locked"]
        generate += ["--package", "pathscope-wire", "--example", "generate", "--"]
        generate += ["--packets", str(packets), "--output", str(partial)]
        subprocess.run(generate, cwd=ROOT, check=True)
        partial.rename(path)
    return path


def warm(path: Path) -> None:
    """Bring the file into the page cache, so that no run pays for the disk."""
    with path.open("rb", buffering=0) as file:
        buffer = bytearray(1 << 20)
        while file.readinto(buffer):
            pass
