from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.nonfinite_origin import proofs
from stepscope.diagnose.rule import Proof, rule


@rule("num.sqrt-negative", severity="error", needs="steps, crash", follows=("loss.swapped-args",))
def sqrt_negative(run: Evidence) -> Iterator[Proof]:
    """A function is evaluated outside its domain: the root or logarithm of a negative number, `acos` beyond 1.

    Why it matters: the result is NaN, and with it the loss, all gradients and then the weights.

    What to do: clamp the argument into the domain, or find out why it leaves it (often rounding).

    How it is found: the loss was not finite and spoiled parameters; tracing back from it leads to an op that read a
    value outside its domain and made NaN of it.

    Bad:
        angle = torch.acos(u @ v)
    Good:
        angle = torch.acos((u @ v).clamp(-1 + 1e-6, 1 - 1e-6))
    """
    yield from proofs(run, "num.sqrt-negative")
