"""What models predict and what losses compare it with, be it by a function of torch's or by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.common.ops import RESHAPES
from stepscope.diagnose.loss_sign import pulls

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

_MOST = 12
_LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


def predictions(run: Evidence) -> Iterator[tuple[Origin, Origin, Place | None]]:
    """(prediction, target, line) of the first comparisons of the training."""
    for calls in run.losses.by_place(*_LOSSES):
        for call in calls[:_MOST]:
            if call.input is not None and call.target is not None:
                learned, given = sorted((call.input, call.target), key=lambda one: not one.requires_grad)
                yield learned, given, call.place
    for backward in list(run.steps.backwards)[:_MOST]:
        for error, _ in pulls(backward.origin).values() if backward.origin is not None else ():
            difference = error.inputs[0].back_through(RESHAPES)
            if difference.op in ("sub", "rsub") and len(difference.inputs) == 2:
                learned, given = sorted(difference.inputs, key=lambda one: not one.requires_grad)
                yield learned, given, difference.place
