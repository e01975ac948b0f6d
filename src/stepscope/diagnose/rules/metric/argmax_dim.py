from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.metrics import Decision


@rule("metric.argmax-dim", severity="warning")
def argmax_dim(run: Evidence) -> Iterator[Proof]:
    """The predicted class is taken along the wrong axis.

    Why it matters: `argmax(0)` of scores (samples, classes) says which *sample* scores highest for each class. As a
    prediction it is meaningless, and so is the accuracy made of it.

    What to do: `scores.argmax(dim=1)`, or `dim=-1` where the classes come last.

    How it is found: the same line of the model makes the scores for the loss, which says which axis holds the classes;
    `argmax` (or `max`, `topk`) was taken along another.

    Bad:
        predicted = model(x).argmax(0)
    Good:
        predicted = model(x).argmax(1)
    """
    for decision in run.metrics.decisions:
        known = run.metrics.classes.get(decision.maker)
        if decision.op not in ("argmax", "max", "topk") or known is None or decision.rearranged:
            continue
        if decision.maker in run.metrics.ambiguous:
            continue
        axes, axis, classes, loss = known
        shape = decision.shape
        if len(shape) != axes or shape[0] < 2 or shape[axis] != classes:
            continue
        taken = _axis(decision, len(shape))
        if taken is None or taken == axis or (taken == "all" and decision.op != "argmax"):
            continue
        along = "the whole batch at once" if taken == "all" else f"axis {taken}"
        yield Proof(
            where=decision.place,
            message=f"{decision.op} is taken along {along}, but the {classes} classes are axis {axis} of {list(shape)}",
            label=f"gives {_result(shape, taken)} instead of one class for each sample",
            evidence={"shape": list(shape), "axis": taken, "axis_of_classes": axis},
            edit=tensors.dim(decision.place, axis),
            fix=f"use dim={axis}",
            related=[(loss, "the loss takes these scores")],
        )


def _axis(decision: Decision, axes: int) -> int | str | None:
    if decision.whole:
        return "all"
    return None if decision.dim is None else decision.dim % axes


def _result(shape: tuple[int, ...], taken: int | str) -> str:
    if taken == "all":
        return "one number"
    return str([size for axis, size in enumerate(shape) if axis != taken])
