"""One replay at a time on an interface.

Held by the name of an abstract socket (unix(7)): such names belong to the network namespace, as
interfaces do, hold for every user, and end with their process, however that ends.
"""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from .commands import InterfaceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .links import Link


@contextmanager
def held(links: Iterable[Link]) -> Iterator[None]:
    """Hold interfaces for as long as the block lasts.

    Raises
    ------
    InterfaceError
        When another replay uses one of them.
    """
    with ExitStack() as stack:
        for link in links:
            name = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            try:
                name.bind(f"\0pathscope/interface/{link.index}")
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                raise InterfaceError(f"{link.name}: another replay uses it") from error
        yield
