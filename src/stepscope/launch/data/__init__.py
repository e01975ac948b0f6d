"""`stepscope.data` and `stepscope data`: look at what the pipeline delivers before anything is trained on it."""

from __future__ import annotations

from os import fspath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from stepscope.launch.data.survey import Survey

__all__ = ["data"]


def data(
    source: Any, *, samples: int = 256, seconds: float = 10.0, pictures: str | PathLike[str] | None = None
) -> Survey:
    """What a DataLoader, Dataset or iterable delivers: types, shapes, ranges, labels, duplicates, NaNs, pictures.

        print(stepscope.data(train_loader))
        stepscope.data(dataset, pictures="samples.png").notes

    Samples are taken one by one and collated here, in this process, so breakpoints in the dataset work; random numbers
    are put back after. Looks at no more than `samples` samples and for no more than about `seconds` seconds. Images are
    written as one sheet to `pictures`, and logged to the current run if there is one.
    """
    from stepscope.launch.data.survey import survey_of
    from stepscope.track.session import current

    survey = survey_of(source, samples=samples, seconds=seconds)
    if pictures is not None:
        survey.save_picture(fspath(pictures))
    run = current()
    if run is not None:
        from stepscope.launch.data.keep import logged

        logged(run, survey)
    return survey
