from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.batch_mixing import normalised_over_batch
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import where_applied
from stepscope.diagnose.rule import Proof, rule

_ROW_BY_ROW = ("nll_loss", "cross_entropy", "multinomial", "sum")


@rule("math.softmax-batch-dim", severity="error")
def softmax_batch_dim(run: Evidence) -> Iterator[Proof]:
    """Softmax runs over the batch instead of the classes.

    Why it matters: the probabilities of one sample do not add up to 1, and depend on which other samples are in the
    batch. A class gets probability by being likelier in this sample than in the others.

    What to do: `softmax(x, dim=-1)` (or `dim=1` for `(batch, classes)`).

    How it is found: each axis is followed from the softmax to its use: a class is chosen, or the loss picks the
    target's class, along an axis that was not normalized. Or the softmax runs over the first axis, and in a forked copy
    of the process the answers for one sample change when another sample is replaced.

    Bad:
        probabilities = torch.softmax(logits, dim=0)     # (batch, classes)
    Good:
        probabilities = torch.softmax(logits, dim=1)
    """
    seen = set()
    for crossing in run.contractions.all:
        made = crossing.made
        if (
            made.op not in ("softmax", "log_softmax")
            or crossing.how != "choice"
            or (crossing.calls < 2 and not run.over)
        ):
            continue
        if crossing.axis != 0 and crossing.op not in _ROW_BY_ROW:
            continue
        shape = ", ".join(map(str, made.shape))
        sums = f"; a row adds up to {crossing.sums[0]:.2g} to {crossing.sums[1]:.2g}" if crossing.sums else ""
        seen.add(made.place)
        yield Proof(
            where=where_applied(run, made),
            message=f"{made.op} normalizes axis {crossing.axis} of ({shape}), but classes are chosen along axis "
            f"{crossing.used}",
            label=f"axis {crossing.axis} of ({shape}){sums}",
            evidence={
                "axis": crossing.axis,
                "used_axis": crossing.used,
                "shape": list(made.shape),
                "used_by": crossing.op,
            },
            edit=tensors.dim(where_applied(run, made), -1 if crossing.used == len(made.shape) - 1 else crossing.used),
            fix=f"use dim={-1 if crossing.used == len(made.shape) - 1 else crossing.used}",
            related=[(crossing.place, "the classes are compared here")],
        )
    if "math.softmax-dim" in run.found or "math.softmax-batch-dim" in run.found:
        return
    for made, trial in normalised_over_batch(run, "softmax", "log_softmax"):
        if made.place not in seen:
            yield Proof(
                where=where_applied(run, made),
                message=f"{made.op} runs over the batch, axis 0 of ({', '.join(map(str, made.shape))})",
                label=f"replacing one sample changes the outputs for the others by {trial.mixing:.1%}",
                evidence={"axis": 0, "shape": list(made.shape), "change": trial.mixing},
                edit=tensors.dim(where_applied(run, made), -1),
                fix="use dim=-1",
            )
