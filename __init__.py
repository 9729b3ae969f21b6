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

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import Analysis, analyze, dissect, read, show
    from .comparisons import compare
    from .dissectors._core import CaptureError, FilterError, __version__
    from .dissectors.ledger import Ledger, ReadOptions
    from .dissectors.selection import Window
    from .dissectors.tshark import TsharkError
    from .many.run import analyze_many
    from .stories import explain

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
    "analyze_many",
    "compare",
    "dissect",
    "explain",
    "read",
    "show",
]

if not TYPE_CHECKING:
    # Loaded when first used (PEP 562): every `python -m pathscope...` imports this module, and most
    # need little of it.
    _HOMES = dict.fromkeys(("Analysis", "analyze", "dissect", "read", "show"), ".api")
    _HOMES |= dict.fromkeys(("CaptureError", "FilterError", "__version__"), ".dissectors._core")
    _HOMES |= dict.fromkeys(("Ledger", "ReadOptions"), ".dissectors.ledger")
    _HOMES |= {"Window": ".dissectors.selection", "TsharkError": ".dissectors.tshark"}
    _HOMES |= {"compare": ".comparisons", "explain": ".stories"}
    _HOMES |= {"analyze_many": ".many.run"}

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_HOMES[name], __name__), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
