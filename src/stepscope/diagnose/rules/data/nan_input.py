from __future__ import annotations

import math
from collections.abc import Iterator

from stepscope.diagnose.data_sources import birth
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import PARAMETER, Origin

_CAUSES = (
    "num.log-zero", "num.div-zero-std", "num.sqrt-zero", "num.sqrt-negative", "num.exp-overflow", "num.acos", "num.pow",
)  # fmt: skip


@rule("data.nan-input", severity="error", follows=_CAUSES)
def nan_input(run: Evidence) -> Iterator[Proof]:
    """The data contains NaN or infinite values, and they reach the loss.

    Why it matters: one NaN in a batch makes the loss NaN, the gradients NaN, and after one step every weight.

    What to do: drop or fill those rows before training (`torch.nan_to_num`, `df.dropna()`), or mask them in the loss.

    How it is found: the model's inputs are checked; the finding counts only if a loss is NaN too. NaN that a mask
    keeps away from the loss is fine.

    Bad:
        x = torch.tensor(table)                  # with empty cells
    Good:
        x = torch.nan_to_num(torch.tensor(table))
    """
    bad = [b for b in run.steps.backwards if b.loss is not None and not math.isfinite(b.loss)]
    if not bad:
        return
    fed = run.batches.bad
    if fed is not None and fed.look is not None and fed.step <= bad[0].step and _is_data(fed.origin):
        loader = fed.loader
        yield Proof(
            where=birth(run, fed.origin) or (None if loader is None else loader.made) or fed.visit.place,
            message=f"the data given to {fed.model.type} holds {fed.look.nan} values that are NaN or infinite",
            label=f"NaN from here reaches the loss at step {bad[0].step + 1}",
            evidence={"bad_values": fed.look.nan, "shape": list(fed.look.shape), "first_bad_loss_step": bad[0].step},
            fix="drop or fill these values before training, for example with torch.nan_to_num",
            related=[(fed.visit.place, "it is passed to the model here")],
        )
        return
    for target in run.targets.all:
        if target.nan and target.nan_step <= bad[0].step and _is_data(target.origin):
            yield Proof(
                where=birth(run, target.origin) or target.place,
                message="the targets hold NaN or infinite values",
                label=f"NaN from here reaches the loss at step {bad[0].step + 1}",
                evidence={"batches": target.nan, "first_bad_loss_step": bad[0].step},
                fix="drop these rows before training, or mask them in the loss",
                related=[(target.place, "the loss compares with them here")],
            )
            return


def _is_data(origin: Origin | None) -> bool:
    return origin is None or not origin.tags & PARAMETER
