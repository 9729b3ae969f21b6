"""One frame as tshark decodes it, by way of pyshark: both are optional."""

from __future__ import annotations

import asyncio
import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Node = dict[str, Any]


class TsharkError(Exception):
    """tshark or pyshark is not there, or cannot read the capture."""


def missing() -> str | None:
    """Say what has to be installed before tshark can decode; None when nothing has."""
    if find_spec("pyshark") is None:
        return "pyshark is not installed: pip install pathscope[tshark]"
    if shutil.which("tshark") is None:
        return "tshark is not installed"
    return None


def layers(capture: Path, frame: int, udp_ports: Iterable[int]) -> list[Node] | None:
    """Decode a frame in its context: the frames before it are read, its number is that of the file.

    Returns the layers, outermost first, each with its fields in the order of their bytes; None when
    the capture has no such frame.

    Raises
    ------
    TsharkError
        When that is not possible.
    """
    if (reason := missing()) is not None:
        raise TsharkError(reason)
    import pyshark
    from pyshark.capture.capture import TSharkCrashException

    # A loop of our own: pyshark would take, change and keep the one of this thread.
    loop = asyncio.new_event_loop()
    try:
        found = pyshark.FileCapture(
            str(capture),
            display_filter=f"frame.number == {frame}",
            keep_packets=False,
            eventloop=loop,
            decode_as={f"udp.port=={port}": "sctp" for port in udp_ports},
            override_prefs={"sctp.checksum": "Automatic"},
            custom_parameters=["-c", str(frame)],
        )
        try:
            packet = next(iter(found), None)
        finally:
            _end(found)
    except (TSharkCrashException, OSError) as error:
        raise TsharkError(f"{capture}: tshark cannot read it: {_reason(error)}") from error
    finally:
        _close(loop)
    return None if packet is None else [_layer(one) for one in (packet.frame_info, *packet.layers)]


def _end(capture: Any) -> None:
    """Wait for the process. pyshark would do it again when its object goes, without a loop then."""
    try:
        capture.close()
    finally:
        capture._running_processes.clear()  # noqa: SLF001


def _reason(error: Exception) -> str:
    """Return, of what pyshark says, what tshark said."""
    mark = "Last error line: "
    told = (line.removeprefix(mark) for line in str(error).splitlines() if line.startswith(mark))
    return next(told, str(error)).removeprefix("tshark: ")


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Leave no task and no transport of a process behind, also when tshark has failed."""

    async def end_tasks() -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # a transport that was closed is let go of in the loop's next turn

    try:
        loop.run_until_complete(end_tasks())
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def _layer(layer: Any) -> Node:
    fields = sorted(_fields(layer), key=lambda field: (field["offset"], -field["length"]))
    return {"name": layer.layer_name, "fields": fields}


def _fields(layer: Any) -> Iterator[Node]:
    """Yield what Wireshark shows of a layer; pyshark has made a flat list of its tree."""
    for name in layer._all_fields:  # noqa: SLF001 (get_field gives the first of a name alone)
        for field in layer._all_fields[name].all_fields:  # noqa: SLF001
            # What an expert item is about stands in words beside its parts.
            is_part = field.name.startswith("_ws.expert")
            if field.hide or is_part or not (field.showname or field.show):
                continue
            yield {
                "name": field.name,
                "value": field.show,
                "meaning": field.showname or field.show,
                "offset": int(field.pos or 0),
                "length": int(field.size or 0),
            }
