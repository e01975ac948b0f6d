from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import CASTS, NORMS, RESHAPES
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import constant_of, is_number, source
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_STEPS = 3
_FAR = 1500
_LARGE, _SMALL = 1.5, 0.6
_SHARPENED = frozenset({"cross_entropy", "log_softmax", "softmax", "logsumexp", "exp"})
_PRODUCTS = frozenset({"matmul", "mm", "einsum", "bmm", "linear"})


@rule("math.temperature", severity="warning")
def temperature(run: Evidence) -> Iterator[Proof]:
    """Scores are multiplied by the temperature; they are divided by it.

    Why it matters: cosines lie between -1 and 1. Multiplied by 0.1 they are all nearly equal for the softmax, the loss
    cannot fall far, and similar pairs hardly stand out. In a distillation, scores multiplied by 4 hide what the teacher
    knows about the other classes.

    What to do: `similarity / temperature`.

    How it is found: similarities of vectors of length 1 are multiplied by a number below 0.6 before the softmax of
    the loss; or the scores of both sides of `kl_div` are multiplied by the same number above 1.5.

    Bad:
        loss = F.cross_entropy(z1 @ z2.T * 0.1, labels)
    Good:
        loss = F.cross_entropy(z1 @ z2.T / 0.1, labels)
    """
    found: dict[tuple[Place | None, float], list[Origin]] = {}
    for scaled, number in (*_flat_cosines(run), *_sharp_scores(run)):
        found.setdefault((scaled.place, number), []).append(scaled)
    for (place, number), several in found.items():
        if place is None or (len(several) < _STEPS and not run.over):
            continue
        told = (
            f"similarities between -1 and 1 are multiplied by {number:g}: the softmax sees next to no difference"
            if number < 1
            else f"the scores are multiplied by {number:g} on both sides of the divergence: that sharpens what a "
            "temperature is to soften"
        )
        yield Proof(
            where=place,
            message=told,
            label=f"times {number:g}",
            evidence={"factor": number, "times": len(several)},
            fix=f"divide by {number:g} instead",
        )


def _flat_cosines(run: Evidence) -> Iterator[tuple[Origin, float]]:
    losses = [call.result for call in run.losses.named("cross_entropy") if call.trains and call.result is not None]
    roots = [backward.origin for backward in list(run.steps.backwards)[: 4 * _STEPS] if backward.origin is not None]
    seen: set[int] = set()
    for root in (*losses[: 4 * _STEPS], *roots):
        for origin in root.ancestors(_FAR):
            if origin.op not in _SHARPENED or not origin.inputs or id(origin) in seen:
                continue
            seen.add(id(origin))
            scaled = origin.inputs[0].back_through(RESHAPES)
            part, number = _multiplied(scaled)
            if part is not None and 0 < number <= _SMALL and _is_cosine(part):
                yield scaled, number


def _sharp_scores(run: Evidence) -> Iterator[tuple[Origin, float]]:
    for call in run.losses.named("kl_div"):
        if not call.trains or call.input is None or call.target is None:
            continue
        sides = [_scores(call.input), _scores(call.target)]
        scaled = [one for one in sides if one is not None]
        numbers = [_multiplied(one)[1] for one in scaled]
        if len(scaled) == 2 and numbers[0] == numbers[1] >= _LARGE:
            yield next(one for one in scaled if one.requires_grad), numbers[0]


def _scores(chances: Origin) -> Origin | None:
    """What a softmax was taken of."""
    made = chances.back_through(CASTS)
    if made.op == "log" and made.inputs:
        made = made.inputs[0].back_through(CASTS)
    return made.inputs[0].back_through(RESHAPES) if made.op in ("softmax", "log_softmax") and made.inputs else None


def _multiplied(scaled: Origin) -> tuple[Origin | None, float]:
    if scaled.op not in ("mul", "mul_"):
        return None, 0.0
    if len(scaled.inputs) == 1:
        return scaled.inputs[0], constant_of(scaled) or 0.0
    for part, number in (scaled.inputs, scaled.inputs[::-1]) if len(scaled.inputs) == 2 else ():
        if is_number(number) and number.value is not None and part.shape:
            return part, number.value
    return None, 0.0


def _is_cosine(origin: Origin) -> bool:
    origin = origin.back_through(RESHAPES)
    if origin.op == "cosine_similarity":
        return True
    is_product = origin.op in _PRODUCTS and len(origin.inputs) == 2
    return is_product and all(_is_unit(one) for one in origin.inputs)


def _is_unit(origin: Origin) -> bool:
    made = source(origin)
    if made.op in ("cat", "stack") and made.inputs:
        return all(_is_unit(one) for one in made.inputs)
    if made.op in ("div", "true_divide", "div_") and len(made.inputs) == 2:
        return any(one.op in NORMS for one in made.inputs[1].ancestors(6))
    return made.op == "normalize"
