from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_sign import Divergence, divergences
from stepscope.diagnose.loss_terms import Term, axes_of, reduces_all, terms
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LOSSES
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_RATIO = 10.0
_SMALLEST_BATCH = 8
_LATEST, _TRAINED = 12, 20
_HEAVY, _PIXELS = 4.0, 16
_VANISHED = 0.05
"""Nats per latent dimension."""


@rule("loss.reduction-mismatch", severity="warning", follows=("num.*", "loss.kl-sign", "loss.broadcast"))
def reduction_mismatch(run: Evidence) -> Iterator[Proof]:
    """One term of the loss is a sum over the batch, another a mean: the sum drowns the mean.

    Why it matters: the sum grows with the batch size (and the number of elements), the mean does not. The smaller term
    has hardly any say in the gradient, and changing the batch size changes the balance.

    What to do: reduce all terms the same way: sum per sample, then mean over the batch.

    How it is found: the loss is taken apart into its terms. One is a sum over the whole batch with no factor that would
    make up for it, one is a mean over the same batch, and the first is at least ten times the second, or is the KL
    divergence of a variational autoencoder. Or the divergence is a sum over the latent dimensions, the reconstruction a
    mean over all pixels, and the divergence has gone to 0: the latent code says nothing any more.

    Bad:
        loss = F.mse_loss(recon, x) - 0.5 * torch.sum(1 + logvar - mu**2 - logvar.exp())
    Good:
        kl = -0.5 * torch.sum(1 + logvar - mu**2 - logvar.exp(), dim=1)
        loss = F.mse_loss(recon, x, reduction="none").sum(1).mean() + kl.mean()
    """
    added = list(_added(run))
    yield from added or _collapsed(run)  # both say one thing; the place where they are added is the clearer one


def _added(run: Evidence) -> Iterator[Proof]:
    """A sum over the batch and a mean over it that are added up."""
    reductions = {call.result: call.reduction for call in run.losses.calls if call.result is not None}
    found: dict[Place | None, list[tuple[_Part, _Part]]] = {}
    for backward in list(run.steps.backwards)[:30]:
        loss = backward.origin
        if loss is None:
            continue
        parts = [part for term in terms(loss, most=40) if (part := _part(term, reductions)) is not None]
        if _mismatch(parts) is None:
            continue
        pair = _mismatch([part for part in parts if _of_data(part.origin)])
        if pair is not None:
            pair[0].is_divergence = any(pair[0].origin in one.exponential.reductions for one in divergences(loss))
            found.setdefault(_adding(loss), []).append(pair)
    for place, pairs in found.items():
        if len(pairs) < 3 or place is None:
            continue
        ratio = max(abs(summed.value / mean.value) for summed, mean in pairs[:5] if mean.value)
        summed, mean = pairs[0]
        if ratio < _RATIO and not summed.is_divergence:
            continue
        averaged = mean.origin.place  # in a function of its own, that is where both are reduced
        yield Proof(
            where=averaged if averaged is not None and not averaged.is_beside(place) else place,
            message=f"a sum over the batch ({summed.said}) is added to a mean ({mean.said})",
            label=f"{summed.value:.3g} (sum) + {mean.value:.3g} (mean), a batch of {summed.batch}",
            evidence={"sum": [p[0].value for p in pairs[:4]], "mean": [p[1].value for p in pairs[:4]]},
            fix="reduce both the same way: sum over a sample's elements, then mean over the batch",
            related=[(summed.origin.place, "summed over the batch"), (mean.origin.place, "averaged over the batch")],
        )


def _collapsed(run: Evidence) -> Iterator[Proof]:
    """An autoencoder whose reconstruction is averaged over pixels and whose divergence is not, and has vanished."""
    means = {call.result: call for call in run.losses.calls if call.result is not None and call.reduction == "mean"}
    found: list[tuple[float, float, Origin, str]] = []
    for backward in list(run.steps.backwards)[-_LATEST:]:
        loss = backward.origin
        if loss is None or backward.step < _TRAINED:
            continue
        built = [(term, means[term.origin]) for term in terms(loss, most=40) if term.origin in means]
        for divergence in divergences(loss):
            if not built or not divergence.exponential.reductions:
                continue
            term, call = built[0]
            shape = call.shapes.get("input", ())
            pixels = math.prod(shape[1:])
            weight = _per_sample(divergence, shape[0]) * pixels / term.factor if shape and term.factor else 0.0
            value, latent = _divergence_value(divergence)
            if weight >= _HEAVY and pixels >= _PIXELS and value is not None and value < _VANISHED * latent:
                found.append((weight, value, term.origin, call.name))
            break
    if len(found) < 2:
        return
    weight, value, rebuilt, name = found[-1]
    yield Proof(
        where=rebuilt.place,
        message=f"the reconstruction is averaged over all elements, the KL divergence is summed: it counts "
        f"{weight:.0f} times as much as it should, and has gone to {value:.2g} (the latent code says nothing)",
        label="a mean over every element",
        evidence={"times": round(weight, 1), "divergence": [one[1] for one in found[-4:]]},
        fix=f'sum the reconstruction over each sample as well: F.{name}(..., reduction="sum") / len(x)',
    )


def _per_sample(divergence: Divergence, batch: int) -> float:
    """Its weight in the loss, per sample and summed over the latent dimensions; 0 where it is averaged over those."""
    weight = abs(divergence.factor) / 0.5
    kinds = [(one.op, axes_of(one)) for one in divergence.exponential.reductions]
    if any(op == "sum" and axes and 0 not in axes for op, axes in kinds):
        return weight if any(op == "mean" for op, _ in kinds) else 0.0
    return weight * batch if kinds[0][0] == "sum" and not kinds[0][1] else 0.0


def _divergence_value(divergence: Divergence) -> tuple[float | None, int]:
    """What it amounts to now, and the number of latent dimensions."""
    outer, inner = divergence.exponential.reductions[0], divergence.exponential.reductions[-1]
    shape = inner.inputs[0].shape if inner.inputs else ()
    return (None if outer.value is None else abs(outer.value)), (shape[-1] if shape else 1)


@dataclass
class _Part:
    origin: Origin
    kind: str
    batch: int
    value: float
    said: str
    is_divergence: bool = False


def _part(term: Term, reductions: dict[Origin, str]) -> _Part | None:
    origin, value = term.origin, term.value
    if not origin.inputs or value is None or not origin.requires_grad or not origin.inputs[0].shape:
        return None
    batch, kind = origin.inputs[0].shape[0], ""
    if origin.op in LOSSES:
        kind = {"mean": "mean", "batchmean": "mean", "sum": "sum"}.get(reductions.get(origin, ""), "")
    elif reduces_all(origin):
        kind = "sum" if origin.op == "sum" else "mean"
    if not kind:
        return None
    if kind == "sum" and abs(term.factor) < 0.4:
        kind = "weighted"  # a factor was chosen for it
    return _Part(origin, kind, batch, value, origin.op)


def _of_data(origin: Origin) -> bool:
    """It depends on the batch; a penalty on weights does not."""
    leaves = [one for one in origin.ancestors(3000) if not one.inputs]
    return any(leaf.kind not in ("parameter", "buffer") for leaf in leaves)


def _mismatch(parts: list[_Part]) -> tuple[_Part, _Part] | None:
    for summed in (part for part in parts if part.kind == "sum" and part.batch >= _SMALLEST_BATCH):
        for mean in (part for part in parts if part.kind == "mean" and part.batch == summed.batch):
            return summed, mean
    return None


def _adding(loss: Origin) -> Place | None:
    """Where the terms are added."""
    origin = loss
    while origin.op.rstrip("_") not in ("add", "sub") and origin.inputs:
        origin = origin.inputs[0]
    return origin.place
