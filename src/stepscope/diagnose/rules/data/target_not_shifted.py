from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from stepscope.common.ops import INT_CASTS, RESHAPES
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.target_lines import target_line
from stepscope.evidence.targets import Target

_UNCHANGED = RESHAPES | INT_CASTS
_COPIES = re.compile(r"auto_?enc|\bvae\b|reconstruct|copy_?task|copying|identity_?(?:task|map)|denois|\bmlm\b", re.I)


@rule("data.target-not-shifted", severity="error")
def target_not_shifted(run: Evidence) -> Iterator[Proof]:
    """The language model has to predict the token it was just given.

    Why it matters: the target at each position is the input at that position, so the model learns to copy. The loss
    falls to nothing and the model predicts nothing.

    What to do: shift by one: input `tokens[:, :-1]`, target `tokens[:, 1:]`.

    How it is found: the target of the loss is, number for number, the ids the model was given, batch after batch.
    Autoencoders and copying tasks, where that is the aim, are left alone.

    Bad:
        x, y = tokens[:, :-1], tokens[:, :-1]
    Good:
        x, y = tokens[:, :-1], tokens[:, 1:]
    """
    for target in run.targets.all:
        if target.same_ids < 3 or target.same_ids < target.looks or len(target.vocabulary) < 4:
            continue
        if target.place is not None and _meant(run, target.place.site.file):
            continue
        yield Proof(
            where=_where(run, target),
            message="the target is the input itself: the model has to predict the token it was just given",
            label="not shifted by one position",
            evidence={"batches": target.same_ids, "op": target.op},
            fix="use the next token as the target: inputs tokens[:, :-1], targets tokens[:, 1:]",
            related=[(target.place, "the loss compares with it here")],
        )


def _where(run: Evidence, target: Target) -> Any:
    """Where the target was cut; when the very tensor the model got is the target too, at the loss."""
    data = None if target.data is None else target.data.back_through(_UNCHANGED)
    if data is not None and target.origin.back_through(_UNCHANGED) is data:
        return target.place
    return target_line(run, target) or target.place


def _meant(run: Evidence, path: str) -> bool:
    file = run.source.file(path)
    return file is not None and bool(_COPIES.search(file.text))
