"""What a packet replay does inside a kernel: hosts and wires, recordings, and the replay itself.

Started as `python -m pathscope.replay.lab.replaying RUN`, where RUN holds `replay.json`; it writes
there `events.jsonl`, `sent.arrows`, two recordings for each end of a wire, and logs. As `stage`, it
needs privileges and clears nothing away.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path

from ..packets.sockets import OutletError
from ..perform import Performance
from ..request import Replay
from . import tc
from .ends import StageError
from .events import EventLog
from .network import WHOLE_FRAME_BYTES, Lab, taps
from .recorders import recording
from .wires import wires


def replay(folder: Path) -> None:
    """Make the replay that a folder says.

    Raises
    ------
    StageError
        When a step fails.
    """
    asked = Replay.of_run(folder)
    made = wires(asked.mtu_by_path)
    with ExitStack() as stack:
        events = EventLog(folder / "events.jsonl")
        stack.callback(events.close)
        lab = Lab(made)
        lab.build()
        steps = asked.steps()
        if asked.profile is not None:
            lab.tc = stack.enter_context(tc.running("middle", asked.profile.distributions))
        stack.enter_context(
            recording(taps(asked.mtu_by_path), folder, WHOLE_FRAME_BYTES, prompt=False)
        )
        performance = Performance(folder, lab, events, steps)
        performance.run(asked.orders, asked.command, asked.seed)


def main() -> None:
    """Make the replay in the folder that the first argument names."""
    folder = Path(sys.argv[1])
    kernel = os.uname()
    (folder / "logs" / "kernel").write_text(f"{kernel.sysname} {kernel.release} {kernel.version}\n")
    try:
        replay(folder)
    except (StageError, tc.TcError, OutletError, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
