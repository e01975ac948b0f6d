from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_sign import Divergence, divergences
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin


@rule("loss.kl-sign", severity="error")
def kl_sign(run: Evidence) -> Iterator[Proof]:
    """The KL divergence enters the loss with the wrong sign.

    Why it matters: training then makes the divergence larger instead of smaller. It has no upper bound, so the loss
    falls without end while the latent distribution runs away from the prior.

    What to do: `kl = -0.5 * sum(1 + logvar - mu**2 - logvar.exp())`, and `loss = reconstruction + kl`.

    How it is found: the loss is taken apart. `exp(logvar)` and `mu**2` enter it with a minus and `logvar` with a plus;
    for a divergence that is to become small it must be the other way round.

    Bad:
        kl = 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        loss = recon + kl
    Good:
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        loss = recon + kl
    """
    if run.optimizers.maximize:
        return
    wrong: list[tuple[Origin, Divergence]] = []
    for backward in list(run.steps.backwards)[:20]:
        if backward.origin is not None:
            wrong += [(backward.origin, one) for one in divergences(backward.origin) if one.factor < 0]
    if len(wrong) < 2:
        return
    losses = [backward.loss for backward in run.steps.backwards if backward.loss is not None]
    loss, divergence = wrong[0]
    where = _subtracted_at(divergence) or loss
    yield Proof(
        where=where.place,
        message="the KL divergence enters the loss with a minus: training makes it larger",
        label="exp(logvar) and mu**2 count negative in the loss",
        evidence={"steps": len(wrong), "factor_of_exp": divergence.factor, "loss": losses[:4] + losses[-1:]},
        edit=tensors.sign_turned(where.place),
        fix="flip its sign: -0.5 * sum(1 + logvar - mu**2 - logvar.exp()), added to the loss",
    )


def _subtracted_at(divergence: Divergence) -> Origin | None:
    """The divergence written out with a wrong sign, or the line that takes a right one from the loss."""
    for reduction in divergence.exponential.reductions:
        if reduction.value is not None or not reduction.shape:
            inner = reduction
            break
    else:
        return divergence.linear.origin
    last = divergence.exponential.reductions[-1]
    # Joins before the innermost reduction belong to the formula itself; a minus outside of it is where to look.
    outside = [join for join in divergence.exponential.joins if join.index > inner.index and join.op.startswith("sub")]
    return outside[0] if outside else last
