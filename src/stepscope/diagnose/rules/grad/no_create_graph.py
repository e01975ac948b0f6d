from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.idle_terms import idle_terms
from stepscope.diagnose.rule import Proof, rule


@rule("grad.no-create-graph", severity="error")
def no_create_graph(run: Evidence) -> Iterator[Proof]:
    """A penalty on gradients is computed without `create_graph=True`, so it trains nothing.

    Why it matters: `autograd.grad()` then returns plain numbers. A gradient penalty, a Hessian term or the residual of
    a differential equation is part of the printed loss, but no weight ever moves because of it.

    What to do: pass `create_graph=True` to the `autograd.grad()` whose result goes into the loss.

    How it is found: in at least three backwards a term of the loss had no gradient of its own, its value changed, and
    it was computed from the result of `autograd.grad()`.

    Bad:
        grads = autograd.grad(scores.sum(), mixed)[0]
        loss = critic_loss + 10 * (grads.norm(2, dim=1) - 1).pow(2).mean()
    Good:
        grads = autograd.grad(scores.sum(), mixed, create_graph=True)[0]
        loss = critic_loss + 10 * (grads.norm(2, dim=1) - 1).pow(2).mean()
    """
    for term in idle_terms(run):
        if term.way != "no-create-graph":
            continue
        yield Proof(
            where=term.place,
            message="a term of the loss is computed from these gradients, but they have no graph: it trains nothing",
            label="create_graph=True is missing",
            evidence={"backwards": term.backwards, "term": term.values[-1] if term.values else None},
            fix="pass create_graph=True to autograd.grad()",
            related=[(term.loss, "backward starts here")] if term.loss is not None else [],
        )
