"""Imported first by the process that local workers are forked from, for what it does there.

Ctrl-C, which a terminal tells all processes of, is for the command that gives the work: it ends the
workers. They inherit that from the beginning; a worker that is starting would complain of it.
"""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
