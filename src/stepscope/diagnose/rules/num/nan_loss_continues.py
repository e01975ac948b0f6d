from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.nonfinite_origin import proofs
from stepscope.diagnose.rule import Proof, rule


@rule(
    "num.nan-loss-continues",
    severity="error",
    needs="steps, crash",
    is_symptom=True,
    follows=(
        "num.*",
        "data.nan-input",
        "opt.no-zero-grad",
        "opt.momentum",
        "opt.lr-too-high",
        "grad.exploding",
        "loss.swapped-args",
        "loss.no-valid-target",
    ),
)
def nan_loss_continues(run: Evidence) -> Iterator[Proof]:
    """The loss is NaN or infinite, and the training continues.

    Why it matters: from that step on every weight is NaN; the rest of the run is wasted, and the last checkpoint with
    it.

    What to do: stop at the first loss that is not finite, and fix its cause.

    How it is found: a loss at `backward` was not finite, parameters were not finite after the step (or the next losses
    were bad too), and no rule knows a better name for the cause.

    Bad:
        loss.backward()
    Good:
        if not torch.isfinite(loss):
            raise RuntimeError(f"loss is {loss.item()} in step {step}")
        loss.backward()
    """
    yield from proofs(run, "num.nan-loss-continues")
