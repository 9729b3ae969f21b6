"""Netem on the devices of a namespace."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from . import batch, tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class TcError(RuntimeError):
    """What tc said instead of doing it."""


class Tc:
    """A tc that is kept running in a namespace."""

    def __init__(self, kept: batch.Batch) -> None:
        self._kept = kept

    def netem(self, verb: str, devices: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Add or replace the root netem of devices; returns when the kernel has done it.

        A `replace` keeps what is on its way, and needs the full set: it is a change to the kernel.

        Raises
        ------
        TcError
            When tc refuses one of them.
        """
        self._kept.do(
            *(
                f"qdisc {verb} dev {device} root netem {' '.join(arguments)}"
                for device, arguments in devices
            )
        )

    def remove(self, devices: Sequence[str]) -> None:
        """Remove the root qdisc of devices; returns when the kernel has done it.

        Raises
        ------
        TcError
            When tc refuses one of them.
        """
        self._kept.do(*(f"qdisc del dev {device} root" for device in devices))


@contextmanager
def running(
    namespace: str, distributions: Mapping[str, Sequence[float]] | None = None
) -> Iterator[Tc]:
    """Keep a tc in a namespace for as long as the block lasts.

    Parameters
    ----------
    namespace
        A name that `ip netns` knows.
    distributions
        Tables of own for delays, by name (`Profile.distributions`).
    """
    with ExitStack() as stack:
        environment = dict(os.environ)
        if distributions:
            folder = stack.enter_context(TemporaryDirectory(prefix="tc-"))
            tables.write(Path(folder), distributions)
            environment[tables.FOLDER] = folder
        yield Tc(stack.enter_context(batch.running(["-netns", namespace], environment, TcError)))
