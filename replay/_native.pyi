# Types of the extension module; stubtest holds them against it.
from collections.abc import Sequence
from os import PathLike
from typing import Any, final

__all__ = [
    "Fingerprints",
    "Sender",
    "build_profile",
    "fingerprints",
    "log_schema",
    "plan",
    "rewrite",
]

build_profile: str

@final
class Sender:
    def __new__(cls, orders_json: str, fds: Sequence[int]) -> Sender: ...
    def start(self, base_monotonic_ns: int) -> None: ...
    def take(self, timeout: float) -> Any | None: ...
    def stop(self) -> None: ...
    def finish(self) -> dict[str, Any]: ...

@final
class Fingerprints:
    def __iter__(self) -> Fingerprints: ...
    def __next__(self) -> Any: ...

def plan(orders_json: str) -> dict[str, Any]: ...
def rewrite(
    orders_json: str,
    in_path: str | PathLike[str] | None,
    out_path: str | PathLike[str],
) -> dict[str, Any]: ...
def log_schema() -> Any: ...
def fingerprints(path: str | PathLike[str]) -> Fingerprints: ...
