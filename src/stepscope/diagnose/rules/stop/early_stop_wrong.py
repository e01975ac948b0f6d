from __future__ import annotations

import ast
from collections.abc import Iterator
from math import isfinite

from stepscope.diagnose.best_tracking import Best, best_trackers, saves_outside, unbeatable_start
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.monitored_names import monitored_when
from stepscope.diagnose.rule import Proof, rule

_ENOUGH = 3


@rule("stop.early-stop-wrong", severity="warning", needs="source, end")
def early_stop_wrong(run: Evidence) -> Iterator[Proof]:
    """Early stopping or the choice of the best checkpoint prefers worse values, or keeps the last weights.

    Why it matters: training stops when it gets better, or the weights that are restored as "the best" are the last.

    What to do: a loss has improved when it is below the best one so far; save only then.

    How it is found: a comparison with the best value so far, whose branch takes the new value as the best, goes against
    what the value's name says (or against the infinity it starts from); or a checkpoint called best is written outside
    of that branch, every time, and loaded in the end; or the best loss starts at 0 while every loss of the run is above
    it. A callback of Lightning's (`EarlyStopping`, `ModelCheckpoint`) is
    at fault where the name of what it monitors says which way is better, at least three values went that way, and its
    `mode` says the other.

    Bad:
        if val_loss > best_loss:
            best_loss = val_loss
    Good:
        if val_loss < best_loss:
            best_loss = val_loss
    """
    yield from _of_callbacks(run)
    for file in run.source.files():
        trackers = best_trackers(file, run.source.files())
        for best in trackers:
            yield from _never_better(run, best)
            if best.wanted is None or best.wanted == best.direction:
                continue
            yield _wrong_way(best)
        for best, node in saves_outside(file, trackers):
            yield Proof(
                where=file.site(node),
                message="the weights kept as the best are written every time, so the last ones are restored",
                label="not inside the branch that has found a better value",
                evidence={"statement": ast.unparse(node)[:120]},
                fix=f"move this into the branch where {best.name} improves",
                related=[(best.file.site(best.test), "here a better value is found")],
            )


def _of_callbacks(run: Evidence) -> Iterator[Proof]:
    for one in run.trainer.monitored:
        wanted, values = monitored_when(one.name), one.values
        if wanted is None or wanted == one.mode or len(values) < _ENOUGH or not all(map(isfinite, values)):
            continue
        if not (values[-1] < values[0] if wanted == "min" else values[-1] > values[0]) or min(values) < 0:
            continue  # it did not get better, or is not a plain loss or score: nothing is proven
        better, taken = ("smaller", "larger") if wanted == "min" else ("larger", "smaller")
        yield Proof(
            where=one.place or run.trainer.called,
            message=f'{one.name} is better when {better}, but {one.kind} has mode="{one.mode}": a {taken} one is taken '
            "as the best",
            label=f"{one.name} went from {values[0]:.3g} to {values[-1]:.3g}, which counts as getting worse",
            evidence={"value": one.name, "wanted": wanted, "taken": one.mode, "values": values[:12]},
            fix=f'{one.kind}(monitor="{one.name}", mode="{wanted}")',
        )


def _never_better(run: Evidence, best: Best) -> Iterator[Proof]:
    start = unbeatable_start(best)
    losses = [backward.loss for backward in run.steps.backwards if backward.loss is not None]
    if start is None or len(losses) < _ENOUGH or not all(loss > 0 for loss in losses):
        return
    yield Proof(
        where=best.file.site(start),
        message=f"{best.name} starts at {ast.unparse(start.value)[:40]}, and no {best.what} is ever below that: "
        "nothing counts as an improvement",
        label="a loss above 0 can never be better than this",
        evidence={"value": best.what, "smallest_loss": min(losses)},
        fix=f'start from infinity: {best.name} = float("inf")',
        related=[(best.file.site(best.test), "compared here")],
    )


def _wrong_way(best: Best) -> Proof:
    better = "smaller" if best.wanted == "min" else "larger"
    taken = "larger" if best.wanted == "min" else "smaller"
    return Proof(
        where=best.file.site(best.test),
        message=f"{best.what} is better when {better}, but a {taken} one is taken as the best",
        label=f"{ast.unparse(best.test)}: {best.name} follows the worst",
        evidence={"value": best.what, "wanted": best.wanted, "taken": best.direction},
        fix=f"reverse the comparison: {best.turned}",
    )
