from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.stale_batches import StaleBatches

_TURNS = 2


@rule("data.stale-batch", severity="error", needs="steps, end", follows=("data.test-in-train",))
def stale_batch(run: Evidence) -> Iterator[Proof]:
    """A loop over a loader gives the model the same old batch each time, not its own.

    Why it matters: the score of this loop is that of one batch, often of the training data; what the loader delivers is
    never looked at.

    What to do: use the names that this loop gives to its batches.

    How it is found: in turn after turn of a loop over one loader, the model got the very same rows of another loader's
    batch, and nothing else.

    Bad:
        for xv, yv in val_loader:
            total += loss_fn(model(x), y).item()
    Good:
        for xv, yv in val_loader:
            total += loss_fn(model(xv), yv).item()
    """
    for stale in run[StaleBatches].all:
        if stale.batches >= _TURNS:
            yield Proof(
                where=stale.place,
                message=f"the model gets the same batch of another loader in each turn of this loop "
                f"({stale.batches + 1} times so far); the loop's own batches are never used",
                label="not the batch of this loop",
                evidence={"turns": stale.batches + 1},
                fix="give the model the batch that this loop delivers",
                related=[
                    (place, words)
                    for place, words in (
                        (stale.loader.iterated, "the loop"),
                        (stale.given.iterated, "where its batch comes from"),
                    )
                    if place is not None
                ],
            )
            return
