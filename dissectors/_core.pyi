# Types of the extension module; stubtest holds them against it.
from collections.abc import Sequence
from os import PathLike
from typing import Any, final

__all__ = [
    "CaptureError",
    "FilterError",
    "Pass",
    "__version__",
    "build_profile",
    "explain",
    "index_schemas",
    "read_indexed",
    "schemas",
    "streamed_schemas",
]

__version__: str
build_profile: str

class CaptureError(Exception): ...
class FilterError(Exception): ...

@final
class Pass:
    def __new__(
        cls,
        paths: Sequence[str | PathLike[str]],
        *,
        bin_ns: int = ...,
        udp_ports: list[int] | None = None,
        reorder_window_ns: int | None = None,
        filter: str | None = None,
        stream: str | None = None,
        flows: bool = False,
        flow_capacity: int | None = None,
        association_capacity: int | None = None,
        index_block_bytes: int | None = None,
        two_threads: bool | None = None,
        hosts: list[list[int]] | None = None,
    ) -> Pass: ...
    def step(self, records: int) -> bool: ...
    def take_rows(self) -> Any: ...
    def take_index(self) -> list[Any]: ...
    def first_frame_ns(self) -> int | None: ...
    def rows_waiting(self) -> int: ...
    def progress(self) -> tuple[int, int | None]: ...
    def finish(self) -> dict[str, Any]: ...

def schemas() -> dict[str, Any]: ...
def streamed_schemas() -> dict[str, Any]: ...
def explain(
    path: str | PathLike[str],
    frame: int,
    *,
    udp_ports: list[int],
    reorder_window_ns: int | None = None,
    start: tuple[int, int, list[tuple[int, int, int]]] | None = None,
) -> dict[str, Any]: ...
def index_schemas() -> dict[str, Any]: ...
def read_indexed(
    path: str | PathLike[str],
    *,
    offset: int,
    frame: int,
    descriptions: list[tuple[int, int, int]],
    packets: Any,
    udp_ports: list[int],
) -> tuple[Any, int]: ...
