from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.numpy_decisions import compared_outside
from stepscope.diagnose.rule import Proof, rule
from stepscope.records.place import Place
from stepscope.records.step import Site


@rule("metric.threshold-on-logits", severity="warning", follows=("loss.double-sigmoid",))
def threshold_on_logits(run: Evidence) -> Iterator[Proof]:
    """Logits are compared with 0.5 as if they were probabilities.

    Why it matters: a logit of 0.5 is a probability of 0.62. Everything between 0.5 and 0.62 is counted as a no, so that
    accuracy, precision and recall are those of another decision.

    What to do: `torch.sigmoid(logits) > 0.5`, or `logits > 0`.

    How it is found: the compared numbers go below 0 or above 1, and the same line of the model makes the numbers that
    the loss takes as logits.

    Bad:
        correct = ((model(x) > 0.5) == y).sum()
    Good:
        correct = ((model(x) > 0) == y).sum()
    """
    for decision in run.metrics.decisions:
        if decision.op == "argmax" and _one_column(decision.shape, decision.dim) and decision.count >= 2:
            if decision.maker in run.metrics.logits:
                yield Proof(
                    where=decision.place,
                    message="argmax over a single column is always 0",
                    label=f"the output has the shape {list(decision.shape)}",
                    evidence={"shape": list(decision.shape)},
                    fix="compare the logit with 0: (logits > 0)",
                    related=[(run.metrics.logits[decision.maker], "the loss takes them as logits")],
                )
            continue
        loss = run.metrics.logits.get(decision.maker)
        if loss is None or not decision.outside:
            continue
        where: Place | Site | None = decision.place
        threshold = decision.threshold
        if decision.leaves:
            where, threshold = compared_outside(run, decision.place)
        if threshold is None or not 0.3 <= threshold <= 0.95:
            continue
        how = "rounded" if decision.op == "round" else f"compared with {threshold:g}"
        yield Proof(
            where=where,
            message=f"logits are {how} as if they were probabilities; they go from {decision.low:.2g} "
            f"to {decision.high:.2g}",
            label="these are logits, not probabilities",
            evidence={"lowest": decision.low, "highest": decision.high, "threshold": threshold},
            edit=tensors.compared_with_zero(where),
            fix="apply torch.sigmoid first, or compare with 0",
            related=[(loss, "the loss takes them as logits")],
        )


def _one_column(shape: tuple[int, ...], dim: int | None) -> bool:
    return dim is not None and len(shape) >= 2 and -len(shape) <= dim < len(shape) and shape[dim] == 1
