"""Who does the work: this process, or workers of Dask, here or anywhere (docs/many.md).

Each engine takes parts and yields them with their outcomes as they come. A part whose workers died
comes with `Lost` instead.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from .forking import WORKER
from .part import Outcome, Part, analyze_part
from .settings import SKEW, definitions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from distributed import Client, Future

    Engine = Callable[[Sequence["Part"]], Iterator["Done"]]

LOOPBACK = "127.0.0.1"

LOCAL = {
    "distributed.worker.multiprocessing-method": "forkserver",
    # A capture that kills two workers would kill any.
    "distributed.scheduler.allowed-failures": 1,
    # No part waits behind a long one while another worker has nothing to do.
    "distributed.scheduler.worker-saturation": 1.0,
    # It lives for one command, and nobody watches it: no profile, no pages, few readings.
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.disk": False,
}
"""Of Dask's settings, those of the cluster that is embedded here."""

WAIT_S = 60
"""How long a running cluster has for its first worker, and for an answer."""


class EngineError(ValueError):
    """Workers that cannot be had, or cannot do this work; the message says why."""


@dataclass(frozen=True, slots=True)
class Lost:
    """What became of a part so many of whose workers died, of it or beside it."""

    workers: int


Done = tuple[Part, Outcome | Lost]


def in_this_process(parts: Sequence[Part]) -> Iterator[Done]:
    """Work off parts one after the other."""
    for part in parts:
        yield part, analyze_part(part)


@contextmanager
def on_dask(jobs: int, scheduler: str | None, folder: Path) -> Iterator[Engine]:
    """Give an engine of Dask: the cluster of an address, or one of local processes.

    Raises
    ------
    EngineError
        When there is no such cluster, or its workers do not fit.
    """
    if find_spec("distributed") is None:
        raise EngineError("dask is not installed: pip install 'pathscope[dask]'")
    with _client(jobs, scheduler) as client:
        if scheduler is not None:
            _check_workers(client, folder)
        yield lambda parts: _map(client, parts)


def _map(client: Client, parts: Sequence[Part]) -> Iterator[Done]:
    """Give work out at once; what comes of it is waited for when it is asked for."""
    # Not pure: Dask must not answer with what it remembers of an earlier command.
    futures = {client.submit(analyze_part, part, pure=False): part for part in parts}
    return _outcomes(client, futures)


def _outcomes(client: Client, futures: dict[Future[Outcome], Part]) -> Iterator[Done]:
    from distributed import KilledWorker, as_completed

    _wait(client)
    for future in as_completed(futures, loop=client.loop):
        part = futures.pop(future)
        error = future.exception()
        if isinstance(error, KilledWorker):
            yield part, Lost(error.allowed_failures + 1)
        elif error is not None:
            raise error
        else:
            yield part, future.result()
        future.release()


def _wait(client: Client) -> None:
    try:
        client.wait_for_workers(1, timeout=WAIT_S)
    except TimeoutError as error:
        raise EngineError(f"no worker came within {WAIT_S} s: has the cluster any?") from error


def _check_workers(client: Client, folder: Path) -> None:
    from .worker import probe

    _wait(client)
    for address, told in client.run(probe, str(folder), on_error="return").items():
        if isinstance(told, Exception):
            raise EngineError(f"worker {address}: cannot do this work: {told}")
        made_with, sees_dataset = told
        if made_with != definitions():
            raise EngineError(f"worker {address}: {SKEW}")
        if not sees_dataset:
            raise EngineError(
                f"worker {address} does not see {folder}: all workers write there, so it has to be"
                " on a file system that they share, under the same name"
            )


@contextmanager
def _client(jobs: int, scheduler: str | None) -> Iterator[Client]:
    import dask
    from distributed import Client, LocalCluster

    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=WAIT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise EngineError(f"{scheduler}: no Dask scheduler answers: {error}") from error
        with client:
            yield client
        return
    with (
        dask.config.set(LOCAL),
        LocalCluster(
            n_workers=0,
            threads_per_worker=1,
            processes=True,
            host=LOOPBACK,
            dashboard_address=None,
            # It has an HTTP server all the same, on a port that another cluster may have.
            scheduler_kwargs={"dashboard_address": f"{LOOPBACK}:0"},
            silence_logs=logging.CRITICAL,
            preload=[WORKER],
        ) as local,
        Client(local, set_as_default=False) as client,
    ):
        local.scale(jobs)  # which does not wait: captures are looked for meanwhile
        yield client
