from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.nonfinite_origin import proofs
from stepscope.diagnose.rule import Proof, rule


@rule("num.exp-overflow", severity="error", needs="steps, crash", follows=("loss.swapped-args",))
def exp_overflow(run: Evidence) -> Iterator[Proof]:
    """An exponential overflows to infinity.

    Why it matters: above 88 `exp` is infinite in float32 (above 11 in float16); inf/inf and inf-inf are NaN.

    What to do: use the stable form (`logsumexp`, `softplus`, `cross_entropy`), or bound the argument.

    How it is found: the loss was not finite and spoiled parameters; tracing back from it leads to an exponential that
    read finite values and made infinite ones.

    Bad:
        loss = torch.log(torch.exp(scores).sum(1)) - scores[:, 0]
    Good:
        loss = torch.logsumexp(scores, 1) - scores[:, 0]
    """
    yield from proofs(run, "num.exp-overflow")
