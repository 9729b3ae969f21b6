"""A network namespace for each test of this folder, with a cable in it."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

CLONE_NEWNET = 0x40000000


@pytest.fixture
def namespace() -> Iterator[None]:
    """Put this thread, and the processes that it starts, into a namespace of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/thread-self/ns/net").open("rb") as before:
        if libc.unshare(CLONE_NEWNET) != 0:
            pytest.skip(f"no namespaces for us here: {os.strerror(ctypes.get_errno())}")
        try:
            yield
        finally:
            assert libc.setns(before.fileno(), CLONE_NEWNET) == 0


@pytest.fixture
def cable(namespace: None) -> None:
    """Interfaces `v0` and `v1`, joined, which send nothing of their own."""
    _ = namespace
    for words in (
        "link add v0 type veth peer name v1",
        "link set v0 addrgenmode none up",
        "link set v1 addrgenmode none up",
        "addr add 10.7.0.1/24 dev v0 noprefixroute",
    ):
        subprocess.run(["ip", *words.split()], check=True)
