from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import NOISE
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_sign import same, scaled_source
from stepscope.diagnose.loss_terms import Term, terms
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin


@rule("math.logdet-sign", severity="error", follows=("loss.kl-sign",))
def logdet_sign(run: Evidence) -> Iterator[Proof]:
    """The logarithm of a scale (a flow's log-determinant, a log-variance) enters the loss with the wrong sign.

    Why it matters: scaling values down lowers the loss; the logarithm of the scale is the penalty for that. With the
    wrong sign both pull in the same direction: the scale collapses and the loss falls without end.

    What to do: `log_prob = base.log_prob(z) + logdet` where `z = x * exp(s)` and `logdet = s.sum(1)`.

    How it is found: the same tensor scales values on their way into the loss (`x * exp(s)`) and enters the loss as it
    is. The two must have opposite effects; here both fall when it falls.

    Bad:
        loss = -(base.log_prob(z) - logdet).mean()
    Good:
        loss = -(base.log_prob(z) + logdet).mean()
    """
    if run.optimizers.maximize:
        return
    seen = 0
    for backward in list(run.steps.backwards)[:12]:
        if backward.origin is None or not backward.origin.requires_grad:
            continue
        wrong = list(_wrong(backward.origin))
        if not wrong:
            continue
        seen += 1
        if seen < 2:
            continue
        term, scale = wrong[0]
        join = term.joins[0] if term.joins else term.origin
        losses = [one.loss for one in run.steps.backwards if one.loss is not None]
        yield Proof(
            where=join.place,
            message="the log of a scale enters the loss with the wrong sign: shrinking the scale lowers both",
            label="the log-determinant has the wrong sign here",
            evidence={"terms": len(wrong), "factor": term.factor, "loss": losses[:4] + losses[-1:]},
            edit=tensors.sign_turned(join.place),
            fix="flip the sign of the log-determinant here",
            related=[(scale.place, "the scale is applied here")],
        )
        return


def _wrong(loss: Origin) -> Iterator[tuple[Term, Origin]]:
    whole = list(loss.ancestors(4000))
    if not any(origin.op in ("exp", "exp_") for origin in whole):
        return
    readers: dict[int, list[Origin]] = {}
    for origin in whole:
        for part in origin.inputs:
            readers.setdefault(id(part), []).append(origin)
    scales: dict[int, list[tuple[float, Origin]]] = {}
    for origin in whole:
        if origin.op in ("exp", "exp_") and origin.inputs:
            base, factor = scaled_source(origin.inputs[0])
            for power, applied in _applied(origin, readers):
                scales.setdefault(id(same(base)), []).append((factor * power, applied))
    for term in terms(loss, inside_reductions=True):
        if not term.origin.requires_grad or not term.factor or not term.reductions:
            continue
        known = scales.get(id(same(term.origin)), [])
        if known and all(power * term.factor > 0 for power, _ in known):
            yield term, known[0][1]


def _applied(scale: Origin, readers: dict[int, list[Origin]]) -> Iterator[tuple[float, Origin]]:
    """Where values are multiplied with (+1) or divided by (-1) a scale."""
    queue = [scale]
    for one in queue:
        for reader in readers.get(id(one), []):
            if reader.op in ("mul", "mul_", "div", "true_divide") and len(reader.inputs) == 2:
                other = reader.inputs[0] if reader.inputs[1] is one else reader.inputs[1]
                if not other.shape or same(other).op in NOISE:
                    yield 0.0, reader  # noise that is scaled is a sample, not a value that has to be explained
                elif reader.op.startswith("mul"):
                    yield 1.0, reader
                else:
                    yield (-1.0 if reader.inputs[1] is one else 1.0), reader
            elif reader.op in ("unsqueeze", "view", "reshape", "expand", "sqrt"):
                queue.append(reader)
