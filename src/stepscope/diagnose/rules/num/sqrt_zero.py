from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.nonfinite_origin import proofs
from stepscope.diagnose.rule import Proof, rule


@rule("num.sqrt-zero", severity="error", needs="steps, crash", follows=("loss.swapped-args",))
def sqrt_zero(run: Evidence) -> Iterator[Proof]:
    """A square root (or another steep function) is evaluated at 0, where its slope is infinite.

    Why it matters: the loss looks fine, but the gradient is infinite or NaN, and the first optimizer step spoils the
    weights.

    What to do: keep the argument away from zero: `torch.sqrt(x + 1e-8)`.

    How it is found: gradients were not finite before an optimizer step that then spoiled parameters, the loss was
    finite, and on its way lies a `sqrt`, a fractional power or an `acos`/`asin` that was evaluated exactly where its
    slope has no bound.

    Bad:
        rmse = torch.sqrt(((pred - target) ** 2).mean(1))
    Good:
        rmse = torch.sqrt(((pred - target) ** 2).mean(1) + 1e-8)
    """
    yield from proofs(run, "num.sqrt-zero")
