from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.nonfinite_origin import proofs
from stepscope.diagnose.rule import Proof, rule


@rule("num.log-zero", severity="error", needs="steps, crash", follows=("loss.swapped-args",))
def log_zero(run: Evidence) -> Iterator[Proof]:
    """The logarithm of zero makes the loss infinite or NaN.

    Why it matters: `log(0)` is -inf and `0 * log(0)` is NaN; one such value spoils the loss, all gradients and then the
    weights.

    What to do: add a small number inside the logarithm, use `torch.xlogy`, or `log_softmax`/`logsigmoid` on logits.

    How it is found: the loss (or its gradient) was not finite and spoiled parameters; tracing back from it leads to a
    logarithm that read a zero. Infinities that do not reach the loss, such as masks, are not reported.

    Bad:
        entropy = -(p * p.log()).sum(-1)
    Good:
        entropy = -torch.xlogy(p, p).sum(-1)
    """
    yield from proofs(run, "num.log-zero")
