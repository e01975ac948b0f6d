from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name
from stepscope.evidence.schedulers import Scheduler
from stepscope.evidence.steps import Step

_MILESTONES = ("MultiStepLR", "StepLR")
_ENOUGH = 10
_SMALL = 1e-3
_FIX = "make the schedule as long as the trainer steps it often"
_FIXES = {
    "Lightning": 'set in configure_optimizers what it counts, {"scheduler": ..., "interval": "epoch"} or "step", '
    "and make it as long as that",
}


@rule(
    "opt.scheduler-per-micro",
    severity="warning",
    follows=("opt.scheduler-order", "opt.lambda-absolute-lr", "num.int-division"),
)
def scheduler_per_micro(run: Evidence) -> Iterator[Proof]:
    """The schedule counts in other units than the loop that calls it, so the learning rate ends far too early or late.

    Why it matters: a schedule made for epochs but stepped per batch is at zero after a fraction of the run; the other
    way round it never decays.

    What to do: give the scheduler the number of times its `step()` will be called, and call it in that rhythm.

    How it is found: the learning rate is next to nothing for a fifth of all updates while training continues, or the
    scheduler's length equals the count of the other unit (updates, epochs) exactly.

    Bad:
        scheduler = LinearLR(optimizer, 1.0, 0.0, total_iters=epochs)
        for batch in loader:
            ...
            scheduler.step()
    Good:
        scheduler = LinearLR(optimizer, 1.0, 0.0, total_iters=epochs * len(loader))
    """
    for scheduler in run.schedulers.all:
        if scheduler.optimizer < 0 or scheduler.count < 2 or scheduler.steps[0].metric is not None:
            continue
        steps = run.steps.of_optimizer(scheduler.optimizer)
        rates = [step.lr for step in steps if step.lr is not None]
        if len(rates) < _ENOUGH or not max(rates):
            continue
        said = _ended_early(run, scheduler, rates, steps) or _other_unit(run, scheduler, steps)
        said = said or _in_batches(run, scheduler, rates)
        if said is None:
            continue
        message, label = said
        place = scheduler.steps[-1].place
        by_trainer = scheduler.place is not None and place is not None and place == run.trainer.called
        yield Proof(
            where=scheduler.place if by_trainer else place,
            message=message,
            label=label,
            evidence={
                "scheduler": scheduler.type,
                "horizon": scheduler.horizon,
                "scheduler_steps": scheduler.count,
                "updates": len(steps),
                "lr_first": rates[0],
                "lr_last": rates[-1],
            },
            fix=_FIXES.get(run.trainer.name or "", _FIX)
            if by_trainer
            else "call scheduler.step() once per unit that its length counts (epochs, or optimizer steps)",
            related=[(scheduler.place, f"the {scheduler.type} is made here")]
            if scheduler.place is not None and not by_trainer
            else (),
        )


def _ended_early(run: Evidence, scheduler: Scheduler, rates: list[float], steps: list[Step]) -> tuple[str, str] | None:
    peak = max(rates)
    updates = max(len(steps), run.steps.count_of(scheduler.optimizer))
    per_update = scheduler.count / updates
    several = per_update >= 1.8
    known = scheduler.steps[-1].lr
    last = rates[-1] if known is None or scheduler.count > len(scheduler.steps) else min(known, rates[-1])
    small = _updates_below(_SMALL * peak, scheduler, updates)
    if small < max(5, 0.2 * updates) or last > _SMALL * peak:
        return None
    # A slow decay that is meant comes down in as many epochs; this one is at the bottom within the run and stays.
    if last > 1e-5 * peak and not several and not _beyond(scheduler):
        return None
    share = small / updates
    rhythm = f"it steps {per_update:.0f} times per update" if several else f"it has stepped {scheduler.count} times"
    horizon = f", its schedule is {scheduler.horizon} long" if scheduler.horizon else ""
    return (
        f"the learning rate is already {last:.2g} (from {peak:.2g}) for {share:.0%} of the updates: "
        f"the schedule ends too early",
        rhythm + horizon,
    )


def _updates_below(rate: float, scheduler: Scheduler, updates: int) -> int:
    """How many updates, up to the last, came after the learning rate had fallen for good; all count, watched or not."""
    began = updates
    for step in reversed(scheduler.steps):
        if step.lr is None or step.lr >= rate:
            break
        began = step.steps
    return updates - began


def _beyond(scheduler: Scheduler) -> bool:
    return scheduler.horizon is not None and scheduler.count > 1.2 * scheduler.horizon


def _other_unit(run: Evidence, scheduler: Scheduler, steps: list[Step]) -> tuple[str, str] | None:
    horizon = scheduler.horizon
    if horizon is None or not run.over:
        return None
    updates = max(len(steps), run.steps.count_of(scheduler.optimizer))
    epochs = max((loader.epochs for loader in run.loaders.all if loader.is_training), default=0)
    per_epoch = bool(epochs) and abs(scheduler.count - epochs) <= 1
    # Without a loader nobody counts epochs; as long as all updates together and stepped after many of them says it too.
    if horizon == updates and (scheduler.count * 2 <= horizon if per_epoch else scheduler.count * 4 <= horizon):
        rhythm = "once per epoch" if per_epoch else f"only once in {updates // scheduler.count} updates"
        return (
            f"the schedule is {horizon} updates long but is stepped {rhythm}: it gets through "
            f"{scheduler.count / horizon:.0%} of it",
            f"stepped {scheduler.count} times in {updates} updates",
        )
    if epochs > 1 and horizon == epochs and abs(scheduler.count - updates) <= 1 and scheduler.count >= 2 * horizon:
        return (
            f"the schedule is {horizon} epochs long but is stepped after every batch",
            f"stepped {scheduler.count} times in {epochs} epochs",
        )
    return None


def _in_batches(run: Evidence, scheduler: Scheduler, rates: list[float]) -> tuple[str, str] | None:
    """`MultiStepLR(opt, [30 * len(loader)])`, stepped once per epoch, whose rate never changed."""
    call = run.source.call(scheduler.place)
    epochs = max((loader.epochs for loader in run.loaders.all if loader.is_training), default=0)
    if scheduler.type not in _MILESTONES or call is None or not run.over or abs(scheduler.count - epochs) > 1:
        return None
    given = [*call.args[1:2], *(word.value for word in call.keywords if word.arg in ("milestones", "step_size"))]
    in_batches = any(called_name(node) == "len" for part in given for node in ast.walk(part))
    if not in_batches or min(rates) != max(rates) or run.steps.count_of(scheduler.optimizer) < 2 * scheduler.count:
        return None
    return (
        f"the schedule counts batches ({ast.unparse(given[0])[:60]}) but is stepped once per epoch: in "
        f"{scheduler.count} steps the learning rate has never changed",
        f"stepped {scheduler.count} times",
    )
