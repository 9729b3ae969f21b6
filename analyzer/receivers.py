"""Both ends as receivers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import ENDS
from .receiver_model import Receiver
from .sack_delay import sack_metrics
from .window import longest_zero_window, window_metrics

if TYPE_CHECKING:
    from .context import Context
    from .model import End


def describe_receivers(context: Context, vantage: str) -> dict[End, Receiver]:
    """Describe the window and the SACKs of each end; `vantage` is where the capture was taken."""
    return {
        end: Receiver(
            window_metrics(context, end) | sack_metrics(context, end, vantage),
            *longest_zero_window(context, end),
        )
        for end in ENDS
    }
