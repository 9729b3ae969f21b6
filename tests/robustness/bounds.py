"""Read one file in a process of its own: what came of it, in what time and memory."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

# Imported before the fork, so that every child has them and none spends its time on them.
import pathscope
import pathscope.analyzer.associations
import pathscope.reports.contract
import pyarrow as pa  # noqa: F401
from pathscope.dissectors import ledger

# Of processor time, which other processes do not stretch; and how long a hang is waited for.
MOST_SECONDS = 5.0
PATIENCE_SECONDS = 60.0
MOST_BYTES = 300 << 20
FAILED = 70


@dataclass(frozen=True)
class Outcome:
    """What reading a file came to.

    `seconds` is processor time, `bytes` the most memory held, the interpreter's included.
    """

    path: Path
    seconds: float
    bytes: int
    ending: str
    failed: bool

    @property
    def is_within(self) -> bool:
        """Whether there was a result, or a clear error, within the bounds."""
        return not self.failed and self.seconds < MOST_SECONDS and self.bytes < MOST_BYTES


def measure(path: Path) -> Outcome:
    """Analyze the file and stream all its tables, in a child that is killed when it hangs."""
    read_end, write_end = os.pipe()
    deadline = time.monotonic() + PATIENCE_SECONDS
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _work(path, write_end)
    os.close(write_end)
    status, usage = _wait(child, deadline)
    with os.fdopen(read_end) as pipe:
        ending = pipe.read()
    if status != 0:
        ending = f"failed with status {status}: {ending}"
    seconds = usage.ru_utime + usage.ru_stime
    return Outcome(path, seconds, usage.ru_maxrss << 10, ending, status != 0)


def _wait(child: int, deadline: float) -> tuple[int, resource.struct_rusage]:
    while True:
        found, status, usage = os.wait4(child, os.WNOHANG)
        if found:
            return status, usage
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            _, status, usage = os.wait4(child, 0)
            return status, usage
        time.sleep(0.002)


def _work(path: Path, pipe: int) -> None:
    """Tell the ending through the pipe; end the child without what its parent does at its end."""
    status = 0
    try:
        ending = _read(path)
    except BaseException:  # noqa: BLE001 a panic of the extension is not an Exception
        ending, status = traceback.format_exc(), FAILED
    # A pipe holds at least so much, so that nobody need read while this is written.
    os.write(pipe, ending.encode()[:4096])
    sys.stderr.flush()
    os._exit(status)


def _read(path: Path) -> str:
    try:
        analysis = pathscope.analyze(path, options=ledger.ReadOptions(flows=True))
    except pathscope.CaptureError as error:
        return f"refused: {error}"
    json.dumps(analysis.to_dict())
    for table in ledger.streamed_names():
        told = None
        try:
            for batch in pathscope.dissect(path, table):
                batch.validate(full=True)
        except pathscope.CaptureError as error:
            told = str(error)
        assert analysis.ledger.capture["damage"] == told
    frames = analysis.ledger.capture["frames"]
    parts = frames["dissected"] + frames["partial"] + sum(frames["skipped"].values())
    assert frames["read"] == parts
    damage = analysis.ledger.capture["damage"]
    return f"{frames['read']} frames" + (f", then {damage}" if damage else "")
