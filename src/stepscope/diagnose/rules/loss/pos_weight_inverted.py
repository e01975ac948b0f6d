from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import source
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall

_ENOUGH = 100
_IMBALANCE = 3.0


@rule("loss.pos-weight-inverted", severity="warning")
def pos_weight_inverted(run: Evidence) -> Iterator[Proof]:
    """The class weights of the loss favor the frequent classes.

    Why it matters: weights are there to lift rare classes. The other way round the rare class is ignored: accuracy
    looks good and its recall goes to zero.

    What to do: weight by the inverse of the counts: `counts.sum() / (len(counts) * counts)`; for binary targets
    `pos_weight = negatives / positives`.

    How it is found: the targets of the first batches are counted. The more often a class occurs, the larger its weight
    is, without exception. Of several `pos_weight`s all favor what is frequent in the targets together.

    Bad:
        pos_weight = n_positive / n_negative
    Good:
        pos_weight = n_negative / n_positive
    """
    for calls in run.losses.by_place("cross_entropy", "nll_loss"):
        weights = _latest(call.weight for call in calls)
        if weights is None:
            continue
        counts = _counted(calls)
        if _favours_frequent(weights, counts):
            yield _proof(calls, "weight", weights, [counts.get(kind, 0) for kind in range(len(weights))])
    for calls in run.losses.by_place("binary_cross_entropy_with_logits"):
        weights = _latest(call.pos_weight for call in calls)
        if weights is None:
            continue
        counts = _counted(calls)
        if set(counts) - {0, 1} or sum(counts.values()) < _ENOUGH or not counts.get(1):
            continue
        odds = counts.get(0, 0) / counts[1]  # what pos_weight should be, about
        if min(weights) > 0 and all(_points_away(math.log(one), odds) for one in weights):
            yield _proof(calls, "pos_weight", weights, [counts.get(0, 0), counts[1]])


def _latest(values: Iterable[list[float] | None]) -> list[float] | None:
    """The last that was read: those of late calls are not."""
    return next((value for value in reversed(list(values)) if value is not None), None)


def _points_away(weight: float, odds: float) -> bool:
    if odds <= 0 or abs(math.log(odds)) < math.log(_IMBALANCE):
        return False
    return weight * math.log(odds) < 0 and abs(weight) > math.log(2)


def _counted(calls: list[LossCall]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for call in calls:
        for kind, number in (call.counts or {}).items():
            if kind != call.ignore_index and kind >= 0:
                counts[kind] += number
    return counts


def _favours_frequent(weights: list[float], counts: Counter[int]) -> bool:
    total = sum(counts.values())
    if total < _ENOUGH or max(counts, default=0) >= len(weights) or min(weights) <= 0:
        return False
    known = [(counts[kind], weights[kind]) for kind in range(len(weights)) if counts[kind] > 0]
    if len(known) < 2 or len(known) < len(weights) / 2:
        return False
    frequencies = [count for count, _ in known]
    if max(frequencies) < _IMBALANCE * min(frequencies):
        return False
    pairs = [(a, b) for a in known for b in known if a[0] > 1.5 * b[0]]
    with_it = sum(a[1] > 1.05 * b[1] for a, b in pairs)
    rare, frequent = min(known), max(known)
    return bool(pairs) and with_it == len(pairs) and frequent[1] > 2 * rare[1]


def _proof(calls: list[LossCall], name: str, weights: list[float], counts: list[int]) -> Proof:
    origin = calls[-1].origins.get(name)
    made = None if origin is None else source(origin)
    where = made.place if made is not None and made.place is not None else calls[-1].place
    shown = ", ".join(f"{weight:.3g}" for weight in weights[:6])
    seen = ", ".join(map(str, counts[:6])) if name == "weight" else f"{counts[0]} negative and {counts[1]} positive"
    fix = "counts.sum() / (len(counts) * counts)" if name == "weight" else "pos_weight = negatives / positives"
    return Proof(
        where=where,
        message=f"{name} is largest for the most frequent class: {shown} for {seen} targets",
        label=f"weights {shown}; counted {seen}",
        evidence={"weights": weights[:20], "counts": counts[:20]},
        fix=f"use the inverse: {fix}",
        related=[(calls[-1].place, "the loss that uses it")] if where is not calls[-1].place else [],
    )
