"""How the lab finds the programs that it starts, which as root must be nobody else's.

Never in the current folder: it may be one that somebody else filled, with a `socket.py` in it.
"""

from __future__ import annotations

import os
import sys

PYTHON = (sys.executable, "-P")
"""This Python; without `-P` it would take modules from the current folder before its own."""


def search_path(given: str) -> str:
    """Return where programs are looked for: an ordinary user's folders lack those of `ip` and `tc`.

    A folder that is not absolute is left out, and so is an empty one, which means the current one.

    >>> search_path("/usr/bin::bin:.")
    '/usr/bin:/usr/sbin:/sbin'
    """
    folders = [folder for folder in given.split(":") if folder.startswith("/")]
    return ":".join((*folders, "/usr/sbin", "/sbin"))


SEARCH = search_path(os.environ.get("PATH", os.defpath))
