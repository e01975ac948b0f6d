from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.data_sources import birth
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import terms
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall
from stepscope.evidence.origins import CONSTANT, DATA

_LOSSES = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
_CALLS, _SAMPLES = 5, 64


@rule("loss.one-label", severity="error", needs="end", follows=("data.*", "loss.wrong-target", "loss.overwritten"))
def one_label(run: Evidence) -> Iterator[Proof]:
    """All labels of the training are 1 (or all are 0): the model only has to give one answer.

    Why it matters: a bias that grows is enough to bring the loss to 0. The model never learns what tells the two
    classes apart, and ranks new samples by chance.

    What to do: train on samples of both classes. Of data that has only what happened (clicks, ratings, words that
    stand together), draw pairs that did not happen as the zeros.

    How it is found: one optimizer trains, its loss is one binary cross entropy and nothing else, and the targets in all
    observed calls are the same number. They were either made as a constant, or come from a loader that shuffles.

    Bad:
        loss = bce(model(users, items), torch.ones(len(users)))
    Good:
        others = torch.randint(0, n_items, items.shape)
        scores = model(users.repeat(2), torch.cat([items, others]))
        loss = bce(scores, torch.cat([torch.ones(len(users)), torch.zeros(len(users))]))
    """
    calls = [call for call in run.losses.named(*_LOSSES) if call.trains]
    labels = {label for call in calls for label in (call.counts or {})}
    samples = sum(sum((call.counts or {}).values()) for call in calls)
    if len(labels) != 1 or not labels <= {0, 1} or len(calls) < _CALLS or samples < _SAMPLES:
        return
    if any(call.counts is None for call in calls[:_CALLS]) or not _is_all(run, calls):
        return
    target = calls[0].target
    if target is None or not all(_is_typical(call) for call in calls):
        return
    label = next(iter(labels))
    made = birth(run, target) if not target.tags & DATA else None
    yield Proof(
        where=made or target.place or calls[0].place,
        message=f"all labels that the model is trained on are {label}: it only has to answer {label} each time",
        label=f"{samples:,} labels, each of them {label}",
        evidence={"label": label, "samples": samples, "calls": len(calls)},
        fix=f"add samples with the label {1 - label}; where there are none, draw pairs that did not happen",
        related=[(calls[0].place, "the loss compares here")] if made is not None else [],
    )


def _is_all(run: Evidence, calls: list[LossCall]) -> bool:
    """Whether these losses are all that one optimizer trains on."""
    if len({step.optimizer for step in run.steps.steps}) != 1:
        return False
    results = {id(call.result) for call in calls}
    seen = [one.origin for one in run.steps.backwards if one.origin is not None and one.accumulates]
    whole = [[term.origin for term in terms(loss)] for loss in seen]
    return bool(whole) and all(len(parts) == 1 and id(parts[0]) in results for parts in whole)


def _is_typical(call: LossCall) -> bool:
    target = call.target
    if target is None:
        return False
    if not target.tags & DATA:
        return bool(target.tags & CONSTANT)
    loaders = [one.loader for one in target.ancestors(60) if one.loader is not None]
    return any(loader.sampler == "RandomSampler" for loader in loaders)
