from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import GAUSSIAN, VIEWS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import constant_of, source
from stepscope.diagnose.predicted_noise import predictions
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin

_TIMES = 3
_FAR = 400


@rule("math.noise-scale", severity="error")
def noise_scale(run: Evidence) -> Iterator[Proof]:
    """A diffusion model mixes data and noise with factors whose squares do not add up to 1: a square root is missing.

    Why it matters: the sampler undoes `sqrt(a) * x + sqrt(1 - a) * noise`. With another mixture the model is trained on
    other noise levels than it is asked about, and the samples are blurred or too wide.

    What to do: take the square root of both factors.

    How it is found: the model learns to predict Gaussian noise that was added to its input. One of the two factors is
    the square root of a number, the other is one minus that number itself (or the other way round).

    Bad:
        noisy = a.sqrt() * x + (1 - a) * noise
    Good:
        noisy = a.sqrt() * x + (1 - a).sqrt() * noise
    """
    found: dict[object, list[tuple[Origin, str]]] = {}
    for prediction, target, _ in predictions(run):
        for product, which in _unequal(prediction, source(target)):
            found.setdefault(product.place, []).append((product, which))
    for place, several in found.items():
        if place is None or (len(several) < _TIMES and not run.over):
            continue
        product, which = several[0]
        noise_is = "noise" if which == "noise" else "data"
        yield Proof(
            where=product.place,
            message=f"the factor of the {noise_is} lacks the square root that the other factor has: their squares do "
            "not add up to 1",
            label="no square root here",
            evidence={"times": len(several), "without_root": which},
            fix="noisy = a.sqrt() * x + (1 - a).sqrt() * noise",
        )


def _unequal(prediction: Origin, noise: Origin) -> Iterator[tuple[Origin, str]]:
    """The product whose factor is not a square root, where the other's is, and which of the two it is."""
    if noise.op not in GAUSSIAN:
        return
    for added in prediction.ancestors(_FAR):
        if added.op not in ("add", "add_") or len(added.inputs) != 2:
            continue
        for one, other in (added.inputs, added.inputs[::-1]):
            of_noise, of_data = _factor(one, noise), _factor(other, None)
            if of_noise is None or of_data is None:
                continue
            (share, rooted), (kept, kept_rooted) = _root(of_noise), _root(of_data)
            if rooted == kept_rooted or not (_is_rest(share, kept) or _is_rest(kept, share)):
                continue
            yield (other, "data") if rooted else (one, "noise")


def _factor(product: Origin, noise: Origin | None) -> Origin | None:
    """What the noise (or, without one, anything else) is multiplied with."""
    if product.op not in ("mul", "mul_") or len(product.inputs) != 2:
        return None
    first, second = product.inputs
    if noise is None:
        return min(first, second, key=_size)
    return second if source(first) is noise else first if source(second) is noise else None


def _size(origin: Origin) -> int:
    size = 1
    for one in origin.shape:
        size *= one
    return size


def _root(factor: Origin) -> tuple[Origin, bool]:
    """What a factor is the square root of, and whether it is one; picked from a table in either order."""
    factor = factor.back_through(VIEWS)
    is_root = factor.op == "sqrt" or (factor.op == "pow" and constant_of(factor) == 0.5)
    return (factor.inputs[0].back_through(VIEWS), True) if is_root and factor.inputs else (factor, False)


def _is_rest(one: Origin, other: Origin) -> bool:
    """`1 - a` of `a`"""
    is_rest = one.op in ("rsub", "sub") and len(one.inputs) == 1 and constant_of(one) == 1
    return is_rest and one.inputs[0].back_through(VIEWS) is other
