from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import Source
from stepscope.evidence.schedulers import Scheduler
from stepscope.evidence.steps import Step
from stepscope.records.place import Place


@rule("opt.scheduler-order", severity="warning", follows=("opt.no-step", "opt.step-before-backward"))
def scheduler_order(run: Evidence) -> Iterator[Proof]:
    """The scheduler steps before the optimizer, so the first learning rate of the schedule is never used.

    Why it matters: the schedule runs one step early: the first value is skipped, and the last steps use one too low.

    What to do: call `scheduler.step()` after `optimizer.step()`; once per epoch, after the epoch's training.

    How it is found: the scheduler was called before the optimizer's first step and keeps coming before it.

    Bad:
        for epoch in range(epochs):
            scheduler.step()
            train_one_epoch()
    Good:
        for epoch in range(epochs):
            train_one_epoch()
            scheduler.step()
    """
    for scheduler in run.schedulers.all:
        if scheduler.optimizer < 0 or len(scheduler.steps) < 2:
            continue
        first, second = scheduler.steps[:2]
        if first.explicit or first.metric is not None or first.steps != 0 or second.steps == 0:
            continue
        # At setup (fast forward to where a run was resumed) it is another line, or several calls in a row.
        if first.place is None or first.place != second.place:
            continue
        if not _comes_before(run, scheduler):
            continue
        steps = run.steps.of_optimizer(scheduler.optimizer)
        yield Proof(
            where=first.place,
            message="the scheduler steps before the optimizer: the first learning rate of the schedule is never used",
            label=f"{scheduler.type} is called before the optimizer's first step",
            evidence={"first_lr": scheduler.first_lr, "lr_of_first_step": steps[0].lr if steps else None},
            edit=_later(run, first.place, steps),
            fix="move this line after optimizer.step() (or after the epoch)",
            related=[(steps[0].place, "the optimizer steps here, afterward")] if steps else (),
        )


def _comes_before(run: Evidence, scheduler: Scheduler) -> bool:
    """Each of the scheduler's calls has a step of the optimizer after it that belongs to the same round.

    A step skipped by a gradient scaler looks alike at first: but then backward lies between the two.
    """
    steps = dict(enumerate(run.steps.of_optimizer(scheduler.optimizer)))
    rounds = 0
    for call in scheduler.steps[:6]:
        following = steps.get(call.steps)
        if following is None:
            continue
        before = [b for b in following.backwards if b.index < call.backwards]
        after = [b for b in following.backwards if b.index >= call.backwards]
        if before and after:
            return False
        rounds += 1
    return rounds >= 2


def _later(run: Evidence, place: Place, steps: list[Step]) -> edits.Plan | None:
    """After the step where both stand in one block; else after the loop that has the step."""
    if not steps or steps[0].place is None:
        return None

    def plan(source: Source) -> Sequence[edits.Span] | None:
        here, there = edits.find(source, place), edits.find(source, steps[0].place)
        if here is None or there is None or here[0] is not there[0]:
            return None
        file = here[0]
        mine, target = edits.enclosing_statement(*here), edits.enclosing_statement(*there)
        while mine is not None and target is not None and file.parents.get(target) is not file.parents.get(mine):
            target = file.enclosing(target, ast.stmt)
        return None if target is None else edits.move_after(place, (file, target))(source)

    return plan
