from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.nonfinite_origin import proofs
from stepscope.diagnose.rule import Proof, rule


@rule(
    "num.div-zero-std",
    severity="error",
    needs="steps, crash",
    follows=("num.half-eps", "loss.swapped-args", "loss.no-valid-target"),
)
def div_zero_std(run: Evidence) -> Iterator[Proof]:
    """A division by zero (a constant column, an empty count) makes NaN or Inf.

    Why it matters: 0/0 is NaN; it spreads through every sum it enters, to the loss and to all weights.

    What to do: add a small number to the divisor, or `clamp_min` it.

    How it is found: the loss was not finite and spoiled parameters; tracing back from it leads to a division whose
    divisor held a zero, at a standard deviation over one value, or at a line where numpy warned of dividing by zero.

    Bad:
        x = (x - x.mean(0)) / x.std(0)
    Good:
        x = (x - x.mean(0)) / (x.std(0) + 1e-8)
    """
    yield from proofs(run, "num.div-zero-std")
