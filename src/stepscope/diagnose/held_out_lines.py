"""Where training data and the data kept for evaluation got into each other: the line that chose the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.diagnose.array_provenance import story_at
from stepscope.diagnose.data_sources import dataset_line, host_call
from stepscope.diagnose.target_lines import cut_at

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.batches import Diet, Evaluated
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.origins import Origin
    from stepscope.records.step import Site

__all__ = ["training_line"]


def training_line(run: Evidence, diet: Diet, evaluated: Evaluated) -> tuple[Any, str]:
    """(where the rows were chosen, what to say there).

    When all evaluated rows are trained on, training takes too much: its choice is the cause. When some are, two choices
    were made apart from each other: the later one is.
    """
    train = _choice(run, diet.loaders[0] if diet.loaders else None, diet.origin)
    test = _choice(run, evaluated.loader, evaluated.origin)
    whole = evaluated.seen >= 0.95 * evaluated.rows
    if whole:
        return train or _fed_at(diet, evaluated), "training takes the rows of the evaluation too"
    later = max((one for one in (train, test) if one is not None), key=lambda site: site.line, default=None)
    return later or _fed_at(diet, evaluated), ""


def _fed_at(diet: Diet, evaluated: Evaluated) -> Any:
    return next(iter((*diet.places, *evaluated.places)), None)


def _choice(run: Evidence, loader: Loader | None, origin: Origin | None) -> Site | None:
    """The statement that chose which rows these are."""
    if loader is not None:
        return dataset_line(run, loader)
    taken = host_call(run, origin)
    if taken is not None and taken.place is not None:
        behind = story_at(run, taken.place)
        return behind[0] if behind else taken.place.site
    return cut_at(run, origin)
