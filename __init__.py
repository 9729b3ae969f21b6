"""What happened on every path and in every handover of a multihomed transport capture.

>>> import pathscope
>>> analysis = pathscope.analyze("fixtures/captures/failover-v6/client.pcapng")
>>> [handover.cause for handover in analysis.associations[0].handovers]
['timeout', 'path-returned']
>>> analysis.ledger.frame("runs")[["sender", "path", "chunks"]]  # doctest: +NORMALIZE_WHITESPACE
  sender  path  chunks
0      a     0     405
1      a     1     667
2      a     0     428
"""

from .api import Analysis, analyze, dissect, explain, read
from .dissectors._core import CaptureError, FilterError, __version__
from .dissectors.ledger import Ledger, ReadOptions
from .dissectors.selection import Window
from .dissectors.tshark import TsharkError

__all__ = [
    "Analysis",
    "CaptureError",
    "FilterError",
    "Ledger",
    "ReadOptions",
    "TsharkError",
    "Window",
    "__version__",
    "analyze",
    "dissect",
    "explain",
    "read",
]
