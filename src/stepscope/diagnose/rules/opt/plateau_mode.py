from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.monitored_names import better_when
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.schedulers import SchedulerStep


@rule("opt.plateau-mode", severity="warning")
def plateau_mode(run: Evidence) -> Iterator[Proof]:
    """ReduceLROnPlateau waits for the metric to move the wrong way.

    Why it matters: with mode "max" on a loss every improvement counts as a bad epoch, and the learning rate is cut
    while the model is learning.

    What to do: mode "min" for losses and errors, "max" for accuracies and scores.

    How it is found: the metric's name says which way is better, it went that way, and the scheduler counted bad epochs.

    Bad:
        scheduler = ReduceLROnPlateau(optimizer, mode="max")
        scheduler.step(val_loss)
    Good:
        scheduler = ReduceLROnPlateau(optimizer, mode="min")
        scheduler.step(val_loss)
    """
    for scheduler in run.schedulers.all:
        if scheduler.mode not in ("min", "max") or len(scheduler.steps) < 3:
            continue
        metrics = [step.metric for step in scheduler.steps if step.metric is not None]
        if len(metrics) < 3:
            continue
        name = _name(run, scheduler.steps[0])
        wanted = better_when(name)
        if wanted is None or wanted == scheduler.mode:
            continue
        better = min(metrics[1:]) < metrics[0] if wanted == "min" else max(metrics[1:]) > metrics[0]
        bad = max(step.bad for step in scheduler.steps)
        rates = [step.lr for step in scheduler.steps if step.lr is not None]
        if not better or not rates or (bad == 0 and rates[-1] == rates[0]):
            continue
        yield Proof(
            where=scheduler.place,
            message=f'mode="{scheduler.mode}", but {name} is better when {"small" if wanted == "min" else "large"}: '
            "every improvement counts as a bad epoch",
            label=f"{name} {metrics[0]:.3g} -> {metrics[-1]:.3g}, learning rate {rates[0]:.2g} -> {rates[-1]:.2g}",
            evidence={"mode": scheduler.mode, "metrics": metrics[:12], "lr": rates[:12], "bad_epochs": bad},
            edit=edits.argument(scheduler.place, 1, "mode", f'"{wanted}"'),
            fix=f'mode="{wanted}"',
            related=[(scheduler.steps[0].place, "it is given the metric here")],
        )


def _name(run: Evidence, step: SchedulerStep) -> str:
    """What the metric is called where it is handed over."""
    call = run.source.call(step.place)
    given = None if call is None else next(iter(call.args), None) or next((k.value for k in call.keywords), None)
    if given is None:
        return ""
    names = re.findall(r"[A-Za-z_]\w*", ast.unparse(given))
    return next((name for name in names if better_when(name) is not None), "")
