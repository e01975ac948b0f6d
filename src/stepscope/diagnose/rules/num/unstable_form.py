from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import PICKS, VIEWS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin


@rule(
    "num.unstable-form", severity="info", needs="end", follows=("num.log-zero", "num.exp-overflow", "num.sqrt-negative")
)
def unstable_form(run: Evidence) -> Iterator[Proof]:
    """A formula is written in a form that loses digits or overflows, where torch has a stable one.

    Why it matters: `log(softmax(x))` is -inf for classes that are far behind, `log(1 + exp(x))` overflows above 88, and
    `E[x^2] - E[x]^2` can become negative. It works for a while, then makes NaN.

    What to do: use `log_softmax`, `logsigmoid`, `softplus`, `logsumexp`, `var`.

    How it is found: on the way to the loss an op reads the result of the other: a `log` that of a `softmax`, a
    `sigmoid`, of `1 + exp` or of a sum of `exp`; a difference of a mean of squares and a square of a mean.

    Bad:
        loss = -torch.log(torch.softmax(logits, 1))[rows, y].mean()
    Good:
        loss = F.cross_entropy(logits, y)
    """
    told: set[object] = set()
    for backward in list(run.steps.backwards)[:5]:
        for origin in backward.origin.ancestors(5000) if backward.origin is not None else ():
            found = _form(origin) if origin.requires_grad and origin.place not in told else None
            if found is not None:
                told.add(origin.place)
                written, better = found
                yield Proof(
                    where=origin.place,
                    message=f"{written} loses digits or overflows; {better} is stable",
                    label=f"use {better}",
                    evidence={"form": written, "op": origin.op},
                    fix=f"use {better}",
                )


_LOGS = frozenset({"log", "log_", "log2", "log10"})
_UNCHANGED = VIEWS | PICKS


def _form(origin: Origin) -> tuple[str, str] | None:
    if origin.op in _LOGS or origin.op == "log1p":
        return _logarithm(origin)
    return _variance(origin) if origin.op == "sub" and len(origin.inputs) == 2 else None


def _logarithm(origin: Origin) -> tuple[str, str] | None:
    read = origin.inputs[0].back_through(_UNCHANGED) if origin.inputs else None
    if read is None:
        return None
    if origin.op == "log1p":
        return ("log1p(exp(x))", "F.softplus(x)") if read.op == "exp" else None
    if read.op == "softmax":
        return "log(softmax(x))", "F.log_softmax(x, dim)"
    if read.op == "sigmoid":
        return "log(sigmoid(x))", "F.logsigmoid(x)"
    if read.op == "add" and len(read.inputs) == 1 and read.inputs[0].op == "exp":
        return "log(1 + exp(x))", "F.softplus(x)"
    if read.op == "rsub" and read.inputs and read.inputs[0].op == "sigmoid":
        return "log(1 - sigmoid(x))", "F.logsigmoid(-x)"
    if read.op == "sum" and read.inputs and read.inputs[0].back_through(_UNCHANGED).op == "exp":
        return "log(sum(exp(x)))", "torch.logsumexp(x, dim)"
    if read.op == "div" and len(read.inputs) == 2 and all(_is_exponential(part) for part in read.inputs):
        return "log(exp(x) / sum(exp(x)))", "F.log_softmax(x, dim)"
    return None


def _is_exponential(origin: Origin) -> bool:
    part = origin.back_through(_UNCHANGED | {"sum"})
    return part.op == "exp"


def _variance(origin: Origin) -> tuple[str, str] | None:
    first, second = origin.inputs
    mean_of_square = first.op == "mean" and first.inputs and first.inputs[0].op in ("pow", "square", "mul")
    square_of_mean = second.op in ("pow", "square", "mul") and second.inputs and second.inputs[0].op == "mean"
    if mean_of_square and square_of_mean:
        return "E[x^2] - E[x]^2", "x.var(dim, correction=0)"
    return None
