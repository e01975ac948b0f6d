from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.stored.curves import trend_of

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_WORSE = 1.25
_EARLY = 7
"""Of ten tenths: the best one comes before the last three."""


@rule("run.overfits", needs="curves, stored", follows=("run.loss-not-finite", "run.diverged"))
def overfits(run: StoredRun) -> Iterator[Proof]:
    """The validation loss rose again while the training loss kept falling.

    Why it matters: from its lowest point on, the model memorized the training data. The last checkpoint is worse
    than an earlier one.

    What to do: keep the checkpoint with the best validation loss, or stop there. Then add data, augmentation, weight
    decay or dropout, or make the model smaller.

    How it is found: both curves are cut into tenths. The validation loss is lowest before its last three tenths, ends
    more than 25% and five times its noise above that, and the training loss falls from there on.

    Bad:
        for epoch in range(200): train(); torch.save(model.state_dict(), "last.pt")
    Good:
        if val_loss < best: best = val_loss; torch.save(model.state_dict(), "best.pt")
    """
    for series in run.losses:
        validation = None
        if series in run.training_losses:
            validation = run.partner(series, "loss", "val")
        trained, held_out = trend_of(series, least=10), None if validation is None else trend_of(validation, least=10)
        if validation is None or trained is None or held_out is None:
            continue
        at, best = held_out.best, held_out.medians[held_out.best]
        rise = held_out.last - best
        falls = trained.last < 0.9 * trained.medians[min(at, 9)]
        if at < _EARLY and best > 0 and held_out.last > _WORSE * best and rise > 5 * held_out.noise and falls:
            yield Proof(
                where=None,
                message=f"{validation.name} was best around step {held_out.steps[at]:,} ({best:.4g}) and ended at "
                f"{held_out.last:.4g}, while {series.name} fell to {trained.last:.4g}",
                fix="keep the checkpoint with the best validation loss, or stop there",
                label=f"best around step {held_out.steps[at]:,}, ended {held_out.last / best:.1f} times as high",
                evidence={
                    "validation": validation.name,
                    "best step": held_out.steps[at],
                    "best": best,
                    "last": held_out.last,
                    "validation medians": list(held_out.medians),
                    "training medians": list(trained.medians),
                },
            )
            return
