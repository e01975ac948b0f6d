from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

from stepscope.diagnose.data_sources import birth
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.target_lines import target_line

_ENOUGH = 3


@rule("loss.no-valid-target", severity="error", needs="steps, crash")
def no_valid_target(run: Evidence) -> Iterator[Proof]:
    """Every target is one that the loss ignores, so it compares with nothing.

    Why it matters: the mean over no target is 0 / 0: NaN, and so is every weight after the step. As a sum the loss is 0
    and nothing is learned.

    What to do: look at how labels are masked; leave out rows without any label, or divide by `count.clamp_min(1)`.

    How it is found: in every observed batch, all targets of a cross entropy were its `ignore_index`.

    Bad:
        labels = torch.full_like(input_ids, -100)
    Good:
        labels = input_ids.masked_fill(attention_mask == 0, -100)
    """
    losses = [one.loss for one in islice(run.steps.backwards, _ENOUGH) if one.loss is not None]
    is_broken = any(math.isnan(loss) for loss in losses)
    for target in run.targets.all:
        if not target.ignored or target.ignored < target.looks or (target.looks < _ENOUGH and not is_broken):
            continue
        where = target_line(run, target) or birth(run, target.origin)
        yield Proof(
            where=where or target.place,
            message=f"all targets are {target.ignore_index}, which the loss ignores: there is nothing to compare with",
            label="no target is left" + (", and the mean over none is NaN" if is_broken else ""),
            evidence={"batches": target.ignored, "ignore_index": target.ignore_index, "op": target.op},
            fix=f"label the positions that count; {target.ignore_index} is for those that do not",
            related=[(target.place, "the loss compares here")] if where is not None else [],
        )
