from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from stepscope.diagnose.rule import Proof, rule

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun
    from stepscope.runs.points.series import Series


@rule(
    "run.loss-not-finite",
    severity="error",
    needs="curves, stored",
    follows=(
        "num.*",
        "num.nan-loss-continues",  # and what explains it
        "dist.nan-on-one-rank",
        "data.nan-input",
        "grad.exploding",
        "loss.no-valid-target",
        "loss.swapped-args",
        "opt.lr-too-high",
        "opt.momentum",
        "opt.no-zero-grad",
    ),
)
def loss_not_finite(run: StoredRun) -> Iterator[Proof]:
    """The logged loss became NaN or infinite.

    Why it matters: once the loss is NaN, every weight is NaN after the next step. The rest of the run is wasted, and
    so is every checkpoint saved after that step.

    What to do: run the script with `stepscope run`, which names the operation where the first NaN was born. Until
    then: lower the learning rate, clip the gradients, and look for `log(0)`, divisions by zero and overflow in half
    precision.

    How it is found: the values of every loss that was logged. A loss that is not finite to the end is an error; one
    that recovers is a warning.

    Bad:
        loss = (p * torch.log(p)).sum()         # log(0) is -inf, 0 * -inf is NaN
    Good:
        loss = torch.special.xlogy(p, p).sum()
    """
    for series in run.of_kind("loss"):
        bad = ~np.isfinite(series.values)
        if bad.any():
            yield _proof(run, series, bad)
            return


def _proof(run: StoredRun, series: Series, bad: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Proof:
    first = int(np.argmax(bad))
    step = int(series.steps[first])
    kind = "NaN" if np.isnan(series.values[first]) else "infinite"
    to_the_end = bool(bad[first:].all())
    lr = run.value_at(next(run.of_kind("lr"), None), step)
    before = series.values[max(0, first - 5) : first]
    after = "stayed so to the end" if to_the_end else f"{int(bad.sum())} of {len(bad)} values are not finite"
    return Proof(
        where=None,
        message=f"{series.name} became {kind} at step {step:,}; {after}",
        fix="run it with `stepscope run` to find the operation that produced it",
        label=f"{series.name} is {kind} from step {step:,}",
        evidence={
            "metric": series.name,
            "step": step,
            "not finite": int(bad.sum()),
            "of": len(bad),
            "values before": [float(value) for value in before],
            **({} if lr is None else {"learning rate": lr}),
        },
        severity="error" if to_the_end else "warning",
    )
