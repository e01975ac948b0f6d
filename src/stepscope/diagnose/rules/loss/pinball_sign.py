from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.ops import RESHAPES
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import constant_of
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_ENOUGH = 3
_MOST = 12


@rule("loss.pinball-sign", severity="error", follows=("loss.sign",))
def pinball_sign(run: Evidence) -> Iterator[Proof]:
    """The error of a pinball loss has the wrong sign, so the opposite quantile is learned.

    Why it matters: `max(q * e, (q - 1) * e)` punishes a positive error by q. With `e = prediction - target` that is
    predicting too much, and the model settles at the quantile 1 - q: 10% instead of 90%.

    What to do: take the error as target minus prediction.

    How it is found: the loss takes the larger of q times an error and q - 1 times the same error, written like that in
    the source, and the error is what is learned minus what is given.

    Bad:
        e = prediction - target
        loss = torch.maximum(q * e, (q - 1) * e).mean()
    Good:
        e = target - prediction
        loss = torch.maximum(q * e, (q - 1) * e).mean()
    """
    found: dict[Place | None, list[tuple[Origin, float]]] = {}
    for backward in list(run.steps.backwards)[:_MOST]:
        for larger in backward.origin.ancestors(60) if backward.origin is not None else ():
            pair = _pinball(larger)
            if pair is not None and _is_written_so(run, larger):
                found.setdefault(pair[0].place, []).append(pair)
    for place, pairs in found.items():
        quantile = pairs[0][1]
        if len(pairs) < _ENOUGH or abs(quantile - 0.5) < 0.01:
            continue
        yield Proof(
            where=place,
            message=f"the error is prediction minus target, so the quantile {1 - quantile:g} is learned and not "
            f"{quantile:g}",
            label="this should be target minus prediction",
            evidence={"quantile": quantile, "steps": len(pairs)},
            fix="swap the two: target - prediction",
        )


def _pinball(larger: Origin) -> tuple[Origin, float] | None:
    """max(q * e, (q - 1) * e) with e = learned - given: e and q."""
    if larger.op not in ("max", "maximum") or len(larger.inputs) != 2:
        return None
    scaled = [_scaled(one) for one in larger.inputs]
    if scaled[0] is None or scaled[1] is None or scaled[0][0] is not scaled[1][0]:
        return None
    error, quantile = scaled[0][0], max(scaled[0][1], scaled[1][1])
    is_pair = abs(quantile - 1 - min(scaled[0][1], scaled[1][1])) < 1e-6 and 0 < quantile < 1
    is_reversed = error.op == "sub" and len(error.inputs) == 2 and error.inputs[0].requires_grad
    return (error, quantile) if is_pair and is_reversed and not error.inputs[1].requires_grad else None


def _scaled(origin: Origin) -> tuple[Origin, float] | None:
    origin = origin.back_through(RESHAPES)
    if origin.op not in ("mul", "multiply"):
        return None
    if len(origin.inputs) == 1:
        number = constant_of(origin)
        return None if number is None else (origin.inputs[0].back_through(RESHAPES), number)
    factor, other = sorted(origin.inputs, key=lambda one: one.requires_grad)
    return None if factor.value is None else (other.back_through(RESHAPES), factor.value)


def _is_written_so(run: Evidence, larger: Origin) -> bool:
    """The smaller factor is written as one minus from the other: `q - 1`; `(1 - q) * e, -q * e` is meant."""
    places = [part.back_through(RESHAPES).place for part in larger.inputs] + [larger.place]
    written = [one for place in places if (one := run.source.expression(place)) is not None]
    nodes = [node for one in written for node in ast.walk(one)]
    less_one = [n for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Sub) and _is_one(n.right)]
    return bool(less_one)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1
