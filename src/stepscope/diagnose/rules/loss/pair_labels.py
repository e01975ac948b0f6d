from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall

_SIGNED = ("cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "soft_margin_loss")
_ENOUGH = 2


@rule("loss.pair-labels", severity="error")
def pair_labels(run: Evidence) -> Iterator[Proof]:
    """A loss that expects the labels 1 and -1 gets 1 and 0.

    Why it matters: `cosine_embedding_loss`, `margin_ranking_loss` and their kin take the sign from the label. A 0 gives
    these pairs no loss, or a constant one: the model is never asked to tell them apart.

    What to do: turn 0 into -1: `2 * label - 1`.

    How it is found: in every observed call the labels are only 0 and 1, and some are 0.

    Bad:
        F.cosine_embedding_loss(a, b, same.float())
    Good:
        F.cosine_embedding_loss(a, b, 2 * same.float() - 1)
    """
    for calls in run.losses.by_place(*_SIGNED):
        looked = [call for call in calls if call.counts is not None]
        is_binary = bool(looked) and all(set(call.counts or ()) <= {0, 1} for call in looked)
        if not is_binary or _unlooked(calls, looked) or (len(looked) < _ENOUGH and not run.over):
            continue
        zeros = sum((call.counts or {}).get(0, 0) for call in looked)
        ones = sum((call.counts or {}).get(1, 0) for call in looked)
        if not zeros:
            continue
        call = looked[0]
        built = None if call.visit is None or not call.visit.module.is_torchs else call.visit.module.made
        yield Proof(
            where=built or call.place,
            message=f"{call.name} expects the labels 1 and -1 and gets 0 and 1: the {zeros} pairs labeled 0 teach "
            "nothing",
            label=f"{ones} labels are 1, {zeros} are 0, none is -1",
            evidence={"calls": len(looked), "zeros": zeros, "ones": ones},
            fix="pass 2 * label - 1, or make the label -1 where it is 0",
            related=[(call.place, "the labels come in here")] if built else (),
        )


def _unlooked(calls: list[LossCall], looked: list[LossCall]) -> bool:
    """Labels of early calls that are not 0 and 1 were not counted."""
    return any(call.counts is None and call.index < looked[-1].index for call in calls)
