"""The public Python API: handovers explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .api import Analysis, analyze

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .analyzer.story.model import Story
    from .dissectors.ledger import Source


def explain(
    source: Source | Analysis,
    *,
    association: int | None = None,
    handover: int | None = None,
    settings: Iterable[str] = (),
    most: int | None = None,
) -> list[Story]:
    """Tell the handovers of a capture in time order, and what other settings would have cost.

    Parameters
    ----------
    source
        A capture or the folder of a run, as for `analyze`, or what `analyze` returned. Of a run,
        what its client saw: timers are seen where they run.
    association, handover
        Only this one; handovers count from 1 in each association.
    settings
        Such as `rto_min=500ms` or `pmr=2`, all of which the prediction is for; none for a few
        others that are sensible.
    most
        Only so many stories, the first ones.

    Raises
    ------
    ValueError
        When there is no such association or handover, or none at all, with what there is; or when a
        setting is none, with those that are.
    CaptureError
        As `analyze`.
    """
    from .analyzer.settings import parse_settings
    from .analyzer.story.tell import tell

    given = parse_settings(settings)
    done = source if isinstance(source, Analysis) else analyze(source, end="client")
    return tell(
        done.ledger,
        done.result,
        association=association,
        handover=handover,
        given=given or None,
        most=most,
    )
