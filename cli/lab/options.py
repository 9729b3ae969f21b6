"""What the commands of the lab have in common."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, cast

import click

from ..faults import Failure, Refusal, refusals

if TYPE_CHECKING:
    from collections.abc import Iterator

Kernel = Literal["auto", "host", "guest"]

kernel_option = click.option(
    "--kernel",
    type=click.Choice(["auto", "host", "guest"]),
    default="auto",
    show_default=True,
    help="host: this one; guest: user-mode Linux, needs no root; auto: host where that has SCTP"
    " and netem.",
)

set_option = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a setting, such as sctp.rto_min_ms=500; repeat for more.",
)


def kernel_of(word: str) -> Kernel:
    """Return what --kernel says, which click has checked."""
    return cast("Kernel", word)


@contextmanager
def lab_refusals() -> Iterator[None]:
    """Turn what can go wrong in the lab into a message: exit code 2 for input, 1 for a run."""
    from ...replay.lab.run import LabError

    try:
        with refusals():
            yield
    except LabError as error:
        raise Failure(str(error)) from error
    except ModuleNotFoundError as error:
        if error.name != "jsonschema":
            raise
        raise Refusal("jsonschema is not installed: pip install 'pathscope[lab]'") from error
