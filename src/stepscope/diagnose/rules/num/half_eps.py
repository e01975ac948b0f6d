from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("num.half-eps", severity="warning", needs="steps, crash")
def half_eps(run: Evidence) -> Iterator[Proof]:
    """A small constant that should protect a division or a logarithm is zero in float16.

    Why it matters: the smallest positive number of float16 is 6e-8, so `x + 1e-8` is `x`; the division by zero that the
    constant should prevent happens. In Adam the weights become NaN as soon as a second moment is zero.

    What to do: use a constant that the type can hold (1e-4 for float16), or do this part in float32.

    How it is found: an op added to (or clamped at) a constant that rounds to 0 in the float16 tensor it was added to,
    or an optimizer over float16 parameters has such an `eps`.

    Bad:
        unit = x.half() / (x.half().norm(dim=1, keepdim=True) + 1e-8)
    Good:
        unit = x.half() / (x.half().norm(dim=1, keepdim=True) + 1e-4)
    """
    for lost in run.precision_loss.lost_eps:
        yield Proof(
            where=lost.place,
            message=f"{lost.eps:g} is 0 in {lost.dtype}, so it has no effect here",
            label=f"the smallest {lost.dtype} above zero is 6e-8",
            evidence={"eps": lost.eps, "dtype": lost.dtype, "op": lost.op},
            fix="use 1e-4 here, or compute this in float32: x.float()",
        )
    for made in run.optimizers.made:
        eps = made.defaults.get("eps")
        halves = [p for p in made.parameters if p.alive and p.dtype == "float16"]
        if isinstance(eps, float) and 0 < eps <= 2**-25 and halves and run.steps.of_optimizer(made.number):
            yield Proof(
                where=made.place,
                message=f"{made.type}'s eps of {eps:g} is 0 in float16, the type of {len(halves)} of its parameters",
                label=f"{len(halves)} float16 parameters; a second moment of zero is divided by",
                evidence={"eps": eps, "float16_parameters": len(halves)},
                edit=edits.keyword(made.place, "eps", "1e-4"),
                fix=f"keep the parameters in float32 and use torch.autocast, or {made.type}(..., eps=1e-4)",
            )
