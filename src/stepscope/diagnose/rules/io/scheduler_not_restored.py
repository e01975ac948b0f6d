from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.checkpoints import FileRead, Loading
from stepscope.evidence.schedulers import Scheduler

_STEPS = 2


@rule("io.scheduler-not-restored", severity="warning", needs="steps, end")
def scheduler_not_restored(run: Evidence) -> Iterator[Proof]:
    """A training is resumed from a checkpoint, but its learning rate schedule restarts from the beginning.

    Why it matters: warm-up and decay are run through a second time, or never reach their end: the learning rate after
    a resume is not the one the training would have had.

    What to do: give the saved state to the new scheduler, after the optimizer's.

    How it is found: a file with the state of a scheduler that had already stepped was read, its weights were loaded and
    its optimizer was restored, and training continues with a new scheduler into which nothing was loaded. One that was
    made with `last_epoch`, was stepped forward before the first update, or is given the epoch, is fine.

    Bad:
        model.load_state_dict(ckpt["model"])
        optimizer.load_state_dict(ckpt["optimizer"])
    Good:
        model.load_state_dict(ckpt["model"])
        optimizer.load_state_dict(ckpt["optimizer"])
        scheduler.load_state_dict(ckpt["scheduler"])
    """
    for loading in run.checkpoints.loadings:
        read = loading.file
        if read is None or not any(come > 0 for come in read.schedulers):
            continue
        resumed = {number for number, step in run.checkpoints.optimizer_loads if step >= read.step}
        fresh = [one for one in run.schedulers.all if one.optimizer in resumed and _is_fresh(run, one, read)]
        if fresh:
            yield _proof(loading, read, fresh[0])
            return


def _is_fresh(run: Evidence, scheduler: Scheduler, read: FileRead) -> bool:
    """Whether it began at its beginning and moves on with the training that was resumed."""
    after = [step for step in scheduler.steps if step.steps]
    moved_before = len(scheduler.steps) - len(after)
    return (
        not scheduler.restored
        and scheduler.began <= 0
        and not moved_before
        and len(after) >= _STEPS
        and scheduler.made_at_step + after[0].steps >= read.step
        and run.steps.count_of(scheduler.optimizer) >= after[0].steps
        and not any(step.explicit for step in after)
    )


def _proof(loading: Loading, read: FileRead, scheduler: Scheduler) -> Proof:
    come = max(read.schedulers)
    return Proof(
        where=loading.place,
        message=f"training resumes from a checkpoint, but {scheduler.type} starts over: its saved state (after {come} "
        "steps) is not loaded",
        label="weights and optimizer are restored, the schedule is not",
        evidence={"scheduler": scheduler.type, "had_stepped": come, "keys": read.keys[:12]},
        fix="scheduler.load_state_dict(checkpoint[...]) after the optimizer's state is loaded",
        related=[(scheduler.place, "this scheduler starts over")] if scheduler.place is not None else (),
    )
