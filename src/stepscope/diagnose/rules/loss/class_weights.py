from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stepscope.diagnose import edits
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.turning_point import own_site
from stepscope.diagnose.crash.where_made import cast_where, made_where
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor

_LOSSES = ("cross_entropy", "nll_loss", "nll_loss2d", "multi_margin_loss", "binary_cross_entropy_with_logits")
_SIGNS = (r"scalar type|same dtype", r"weight tensor should be defined", r"size of tensor", r"inconsistent.*weight")


@rule("loss.class-weights", severity="error", needs="crash")
def class_weights(run: Evidence) -> Iterator[Proof]:
    """The class weights of a loss do not fit the outputs: another number of them, or another dtype.

    Why it matters: the loss needs one weight for each output, in the dtype of the outputs. Weights computed with NumPy
    are float64, and weights counted on part of the labels lack the classes that do not occur there.

    What to do: count with a fixed length, `torch.bincount(labels, minlength=classes)`, and convert with `.float()`.

    Bad:
        weights = torch.tensor(len(y) / np.bincount(y))
    Good:
        weights = torch.tensor(len(y) / np.bincount(y, minlength=classes)).float()
    """
    crash = run.crash
    found = None if crash is None or not crash.says(*_SIGNS) else _weighted(crash)
    if crash is None or found is None:
        return
    classes, count = found.classes, found.weights.shape[0] if found.weights.ndim else 1
    if count != classes:
        yield _count(crash, found, count, classes)
    elif found.weights.dtype != found.output.dtype:
        yield _dtype(crash, found)


def _count(crash: Crash, found: _Weighted, count: int, classes: int) -> Proof:
    origin = found.weights.origin
    counted = None if origin is None or count > classes else own_site(origin.comes_from("bincount"))
    where = counted or made_where(crash, found.weights)
    fix = f"give one weight for each of the {classes} outputs"
    if counted is not None:
        fix = f"count every class, also those without a sample: torch.bincount(..., minlength={classes})"
    return Proof(
        where=where or crash.site,
        message=f"the loss has {count} class weights for {classes} outputs",
        label=f"{count} weights",
        evidence={"weights": count, "outputs": classes},
        edit=None if counted is None else edits.argument(counted, 2, "minlength", str(classes)),
        fix=fix,
        related=[] if where is None else [(crash.site, "the loss is computed here")],
    )


def _dtype(crash: Crash, found: _Weighted) -> Proof:
    where = cast_where(crash, found.weights)
    call = ".float()" if found.output.dtype == "float32" else f".to(torch.{found.output.dtype})"
    return Proof(
        where=where or crash.site,
        message=f"the class weights are {found.weights.dtype}, and the outputs are {found.output.dtype}",
        label=f"{found.weights.dtype} weights",
        evidence={"weights": found.weights.dtype, "outputs": found.output.dtype},
        edit=None if where is None else edits.append(where, call),
        fix=f"convert the weights where they are made: {call}",
        related=[] if where is None else [(crash.site, "the loss is computed here")],
    )


@dataclass(frozen=True)
class _Weighted:
    weights: HeldTensor
    output: HeldTensor
    classes: int


def _weighted(crash: Crash) -> _Weighted | None:
    """The loss that was being computed with weights."""
    for frame in crash.frames:
        if frame.own or frame.function not in _LOSSES:
            continue
        binary = frame.function.startswith("binary")
        output, weights = frame.locals.get("input"), frame.locals.get("pos_weight" if binary else "weight")
        if isinstance(output, HeldTensor) and isinstance(weights, HeldTensor) and output.ndim and weights.ndim <= 1:
            if binary and weights.shape in ((), (1,)):  # one for all
                return None
            axis = -1 if binary or output.ndim == 1 else 1
            return _Weighted(weights, output, int(output.shape[axis]))
    return None
