"""`pathscope replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..faults import Refusal
from .options import Given, all_options


@click.command("replay")
@click.argument(
    "traces", nargs=-1, required=True, metavar="TRACE...", type=click.Path(path_type=Path)
)
@all_options
def replay_command(**words: Any) -> None:
    """Send a trace again, path by path and at its own times, and prove what happened to it.

    TRACE is a capture, or several that are merged by time, or the folder of a run (pathscope lab
    run). It goes between hosts of the lab, which are made for it: client, middle, server and a wire
    a path, impaired as a profile says; or through interfaces that you name. Both ends are recorded
    and held against what was asked for.

    Exit code 1: the replay was not true within the tolerances. 2: it was refused. 130: it was ended
    by SIGINT; what was sent until then is reported.

    \b
    Example:
      pathscope replay fixtures/captures/lab-failover/client.pcapng --dry-run
    """
    given = Given(**words)
    if given.json_file is not None and given.json_file.exists() and not given.force:
        raise Refusal(f"{given.json_file}: is there; --force replaces it")
    if given.live:
        from .live import replay_live

        replay_live(given)
    else:
        from .packet import replay_packets

        replay_packets(given)
