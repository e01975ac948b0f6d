"""Which way a loss pulls: the sign with which errors, likelihoods and divergences enter it.

A loss is taken apart (`lineage.terms`), further through functions that only rise (exp, log, logsumexp). What is left at
the ends enters with a plus or a minus; an error that enters with a minus only is made larger by training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.common.ops import CASTS, LAYERS, RESHAPES, VIEWS
from stepscope.diagnose.loss_terms import Term, constant_of, terms

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin

_RISING = frozenset({"exp", "log", "logsumexp", "sqrt", "log1p", "expm1", "softplus", "logaddexp", "log2", "log10"})
_POSITIVE = frozenset({"exp", "softplus", "square", "sigmoid", "softmax", "abs", "norm", "sqrt", "cosh", "elu"})


@dataclass(frozen=True)
class Divergence:
    """`exp(L) - L + m**2` inside a loss: the divergence of a Gaussian from the standard one, written out."""

    factor: float
    """Its factor in the loss; above 0 in a loss that is to fall with it."""
    exponential: Term
    linear: Term


def same(origin: Origin) -> Origin:
    """The tensor itself, however it was reshaped."""
    return origin.back_through(RESHAPES)


def scaled_source(origin: Origin) -> tuple[Origin, float]:
    """What a tensor is a multiple of, and the factor: `2 * x` is (x, 2), `-x` is (x, -1)."""
    factor = 1.0
    for _ in range(20):
        origin = origin.back_through(CASTS)
        op, inputs = origin.op.rstrip("_"), origin.inputs
        number = constant_of(origin) if len(inputs) == 1 else None
        if op in ("neg", "negative") and inputs:
            origin, factor = inputs[0], -factor
        elif op in ("mul", "multiply") and number is not None:
            origin, factor = inputs[0], factor * number
        elif op in ("div", "true_divide") and number:
            origin, factor = inputs[0], factor / number
        else:
            break
    return origin, factor


def divergences(loss: Origin) -> Iterator[Divergence]:
    """Gaussian divergences written out in a loss, each with the sign it really has there."""
    parts = list(terms(loss, inside_reductions=True))
    squares = [part for part in parts if is_square(part.origin)]
    for high in parts:
        pair = _logarithm_of(high.origin)
        if pair is None:
            continue
        base, times = pair
        for low in parts:
            if low is high or same(low.origin) is not base or not low.factor:
                continue
            if abs(low.factor + times * high.factor) > 0.01 * abs(low.factor):
                continue
            if any(one.factor * high.factor > 0 and one.origin is not high.origin for one in squares):
                yield Divergence(high.factor, high, low)
    yield from _with_logarithm(parts, squares)


def _logarithm_of(origin: Origin) -> tuple[Origin, float] | None:
    """exp(k * L), or exp(k * L) ** 2: L and the factor."""
    origin, power = same(origin), 1.0
    if is_square(origin):
        origin, power = same(origin.inputs[0]), 2.0
    if origin.op not in ("exp", "exp_") or not origin.inputs:
        return None
    base, factor = scaled_source(origin.inputs[0])
    return same(base), factor * power


def _with_logarithm(parts: list[Term], squares: list[Term]) -> Iterator[Divergence]:
    """V - log(V) + m**2, as `kl_divergence(Normal, Normal)` computes it."""
    for low in parts:
        if low.origin.op != "log" or not low.origin.inputs:
            continue
        variance = same(low.origin.inputs[0])
        for high in parts:
            fits = same(high.origin) is variance and abs(low.factor + high.factor) <= 0.01 * abs(low.factor)
            if fits and any(one.factor * high.factor > 0 and same(one.origin) is not variance for one in squares):
                yield Divergence(high.factor, high, low)


def is_square(origin: Origin) -> bool:
    if origin.op in ("mul", "multiply") and len(origin.inputs) == 2:
        return origin.inputs[0] is origin.inputs[1]
    return origin.op == "square" or (origin.op in ("pow", "pow_") and constant_of(origin) == 2.0)


def pulls(loss: Origin) -> dict[int, tuple[Origin, set[int]]]:
    """The errors inside a loss (by identity), with the signs they enter it with."""
    return _signed(loss, is_error)


def overlaps(loss: Origin) -> dict[int, tuple[Origin, set[int]]]:
    """The overlaps of a prediction with what is given (Dice, Jaccard) inside a loss, with the signs they enter it."""
    return _signed(loss, is_overlap)


def is_overlap(origin: Origin) -> bool:
    """What both have, divided by what either has: `2 * (p * t).sum() / (p.sum() + t.sum())`, the IoU of boxes."""
    if origin.op.rstrip("_") not in ("div", "divide", "true_divide") or len(origin.inputs) != 2:
        return False
    shared, either = origin.inputs
    if not shared.requires_grad or not either.requires_grad:
        return False
    sizes = [_bare(term.origin) for term in terms(_floored(either), inside_reductions=True)]
    for term in terms(_floored(shared), inside_reductions=True):
        both = _bare(term.origin)
        if _is_product(both):
            if any(one is both for one in sizes) or {id(_bare(one)) for one in both.inputs} <= set(map(id, sizes)):
                return True
        elif any(one is both for one in sizes) and _is_intersection(both):
            return True
    return False


def _floored(origin: Origin) -> Origin:
    """Behind a smallest value that keeps a division from failing."""
    return origin.inputs[0] if origin.op.rstrip("_") in ("clamp", "clamp_min", "clip") and origin.inputs else origin


def _bare(origin: Origin) -> Origin:
    """A part of a sum, behind shapes, picked rows and squares: the size of p may be counted as `p ** 2`."""
    origin = same(origin)
    while is_square(origin) or (origin.op == "getitem" and len(origin.inputs) > 1):
        origin = same(origin.inputs[0])
    return origin


def _is_product(origin: Origin) -> bool:
    products = ("mul", "multiply", "dot", "inner", "vdot", "matmul")
    is_pair = origin.op in products and len(origin.inputs) == 2
    return is_pair and origin.inputs[0].requires_grad != origin.inputs[1].requires_grad


def _is_intersection(origin: Origin) -> bool:
    """Of boxes: the part between the larger of the low corners and the smaller of the high ones."""
    near = origin.ancestors(24, through=lambda past: past.op not in LAYERS)
    corners = [one for one in near if one.op in ("min", "minimum", "max", "maximum") and len(one.inputs) == 2]
    return any(one.inputs[0].requires_grad != one.inputs[1].requires_grad for one in corners)


def likelihoods(loss: Origin) -> dict[int, tuple[Origin, set[int]]]:
    """The log-probabilities of something given inside a loss, with the signs they enter it with."""
    return _signed(loss, is_picked)


def _signed(loss: Origin, wanted: Callable[[Origin], bool]) -> dict[int, tuple[Origin, set[int]]]:
    """What is wanted at the ends of a loss, behind sums and functions that only rise."""
    found: dict[int, tuple[Origin, set[int]]] = {}
    queue = [(loss, 1)]
    seen: set[tuple[int, int]] = set()
    for whole, sign in queue:
        if wanted(whole):
            found.setdefault(id(whole), (whole, set()))[1].add(sign)
            continue
        for term in terms(whole, inside_reductions=True):
            origin = term.origin
            now = sign if term.factor > 0 else -sign
            if not term.factor or (id(origin), now) in seen or len(seen) > 600:
                continue
            seen.add((id(origin), now))
            if wanted(origin):
                found.setdefault(id(origin), (origin, set()))[1].add(now)
            else:
                queue.extend((part, now) for part in _rising(origin))
    return found


def _rising(origin: Origin) -> Sequence[Origin]:
    """What a value rises with, by how it was made."""
    if origin.op in _RISING:
        return origin.inputs
    if origin.op in ("div", "true_divide", "mul") and len(origin.inputs) == 2:
        first, second = origin.inputs
        if is_positive(second):
            return (first,)
        if origin.op == "mul" and is_positive(first):
            return (second,)
    return ()


def is_picked(origin: Origin) -> bool:
    """A log-probability at an index that is given: `log_p.gather(1, y)`, `log_p[rows, y]`."""
    if origin.op not in ("gather", "getitem", "take_along_dim", "index_select") or len(origin.inputs) < 2:
        return False
    if not origin.requires_grad or any(part.requires_grad for part in origin.inputs[1:]):
        return False
    near = origin.inputs[0].ancestors(12, through=lambda past: past.op not in LAYERS)
    return any(one.op in ("log_softmax", "logsumexp", "log", "logsigmoid") for one in near)


def is_error(origin: Origin) -> bool:
    """(prediction - target) ** 2 or its absolute value: one side is learned, the other is not."""
    if not (is_square(origin) or origin.op == "abs") or not origin.inputs:
        return False
    inner = origin.inputs[0].back_through(CASTS)
    while inner.op in ("div", "true_divide") and inner.inputs:  # (y - mu) / sigma
        inner = inner.inputs[0].back_through(CASTS)
    if inner.op not in ("sub", "rsub") or len(inner.inputs) != 2:
        return False
    first, second = inner.inputs
    return first.requires_grad != second.requires_grad and bool(first.shape or second.shape)


def is_positive(origin: Origin, depth: int = 8) -> bool:
    """Whether a tensor cannot be negative, by how it was made."""
    origin = origin.back_through(VIEWS)
    if origin.value is not None and not origin.requires_grad:
        return origin.value > 0
    if origin.op in _POSITIVE or (origin.op == "pow" and (constant_of(origin) or 1.0) % 2 == 0):
        return True
    if depth and origin.op.rstrip("_") in ("mul", "add", "div") and origin.inputs:
        number = constant_of(origin) if len(origin.inputs) == 1 else None
        return (number is None or number > 0) and all(is_positive(part, depth - 1) for part in origin.inputs)
    return False


def is_log_likelihood(origin: Origin) -> bool:
    """It rises with the probability of something given: a picked log-probability, a density's `log_prob`."""
    picked = likelihoods(origin).values()
    if picked:
        return all(signs == {1} for _, signs in picked)
    errors = pulls(origin).values()
    return bool(errors) and all(signs == {-1} for _, signs in errors)
