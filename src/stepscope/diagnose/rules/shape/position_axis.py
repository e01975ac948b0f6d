from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.batch_positions import BatchPositions


@rule("shape.position-axis", severity="error")
def position_axis(run: Evidence) -> Iterator[Proof]:
    """Position embeddings are added along the batch axis: each sample gets the embedding of its index in the batch.

    Why it matters: all steps of one sequence get the same code, so the model cannot tell their order, and the answer
    for a sample depends on where in the batch it stands. It happens when code for (time, batch) input is used with
    batch-first input: `self.pe[:x.size(0)]`.

    What to do: index the table by the time axis and let it broadcast over the batch: `x + self.pe[:x.size(1)]`.

    How it is found: the model is called twice in a copy of the process, the second time with the samples moved on by
    one. The samples do not affect each other, yet this operation does not give the same results in the new order.

    Bad:
        x = x + self.pe[: x.size(0)].unsqueeze(1)      # x: (batch, time, features)
    Good:
        x = x + self.pe[: x.size(1)]
    """
    for found in run[BatchPositions].all:
        yield Proof(
            where=found.site,
            message=f"{found.rows} position embeddings are laid along the batch: sample 1 gets the first, sample 2 the "
            f"second; all {found.steps} steps of a sample get the same one",
            label="the axis of the batch, not that of time",
            evidence={"batch": found.rows, "steps": found.steps, "op": found.op},
            fix="index the table by the time axis (x.size(1)) and let it broadcast over the batch",
        )
        return
