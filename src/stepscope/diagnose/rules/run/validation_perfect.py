from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.stored.names import words_of

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_TRAINED = 0.9


@rule("run.validation-perfect", needs="curves, stored", follows=("data.*", "eval.*", "metric.*"))
def validation_perfect(run: StoredRun) -> Iterator[Proof]:
    """The validation accuracy is 100% from the first evaluation on, but the training accuracy is not.

    Why it matters: no model is perfect on data it has not seen while it still errs on data it has. The labels have
    leaked into the inputs, or the metric compares something with itself.

    What to do: print predictions and labels of one validation batch. Check how the split was made, and that the metric
    gets the model's output.

    How it is found: three or more values of a validation accuracy, all of them exactly 1 (or 100), beside a training
    accuracy whose values before the last evaluation are under 90%.

    Bad:
        accuracy = (labels == batch["labels"]).float().mean()
    Good:
        accuracy = (model(batch["inputs"]).argmax(1) == labels).float().mean()
    """
    trained = next(iter([*run.of_kind("accuracy", "train"), *run.of_kind("accuracy", "")]), None)
    if trained is None or not len(trained):
        return
    for series in run.of_kind("accuracy", "val"):
        whole = float(series.values[0]) if len(series) >= 3 else 0.0
        if whole not in (1.0, 100.0) or not (series.values == whole).all() or "top" in words_of(series.name):
            continue
        until = trained.values[trained.steps <= series.steps[-1]]
        if len(until) and float(until.max()) < _TRAINED * whole and float(until.max()) > 0.02 * whole:
            yield Proof(
                where=None,
                message=f"{series.name} is {whole:g} at all {len(series)} evaluations, "
                f"but {trained.name} never passed {float(until.max()):.3g}",
                fix="print predictions and labels of one validation batch; check how the split was made",
                evidence={"validation": series.name, "evaluations": len(series), "training": float(until.max())},
            )
            return
