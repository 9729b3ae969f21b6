"""What a worker of Dask has, and is asked before it gets work.

Importing this module imports all that the work needs: local workers are forked from a process that
has done so.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet

from ..analyzer import associations
from ..reports import contract
from . import part, tables
from .dataset import is_dataset
from .settings import definitions

if TYPE_CHECKING:
    from distributed import Worker

__all__ = ["associations", "contract", "dask_setup", "part", "probe", "pyarrow", "tables"]


def probe(folder: str) -> tuple[str, bool]:
    """Tell what this worker's numbers mean, and whether it sees the dataset."""
    return definitions(), is_dataset(Path(folder))


def dask_setup(_: Worker) -> None:
    """Have the collector not look at what has been imported again and again: it is no garbage.

    Dask calls this in every local worker, where this module is one to be loaded before all else.
    """
    gc.freeze()
