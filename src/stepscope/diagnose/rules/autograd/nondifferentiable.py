from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.idle_terms import FLAT, idle_terms
from stepscope.diagnose.rule import Proof, rule

_BACKWARDS = 5


@rule("autograd.nondifferentiable", severity="error", needs="crash, steps")
def nondifferentiable(run: Evidence) -> Iterator[Proof]:
    """The loss is computed through an operation that has no derivative.

    Why it matters: `argmax`, comparisons, rounding to whole numbers and a detour over NumPy give numbers that do not
    tell how they would change, so no gradient reaches the parameters.

    What to do: use a loss on the scores themselves (`cross_entropy`), or a soft version (`softmax`, `sigmoid`).

    How it is found: `backward()` fails; or a term of the loss changes its value and, in at least three backwards, has
    no gradient, because it was computed from the result of such an operation; or parameters before it get only zeros.

    Bad:
        loss = (logits.argmax(1) != y).float().mean()
    Good:
        loss = F.cross_entropy(logits, y)
    """
    crash = run.crash
    if crash is None:
        yield from _silent(run)
        yield from _of_terms(run)
        return
    from stepscope.diagnose.crash.graph import cut_of

    cut = cut_of(crash)
    if cut is None or cut.kind != "no-derivative":
        return
    yield Proof(
        where=cut.site or crash.site,
        message=f"`{cut.op}` has no derivative, so the loss has no gradient",
        label="no gradient beyond this",
        evidence={"op": cut.op},
        fix="compute the loss from the scores, with a function that has a derivative",
        related=[(crash.site, "backward fails here")],
    )


def _silent(run: Evidence) -> Iterator[Proof]:
    """Rounding has a derivative of zero everywhere: the layers before it get gradients, all of them zero."""
    backwards = [b for b in run.steps.backwards if b.accumulates and b.origin is not None]
    if len(backwards) < _BACKWARDS:
        return
    every = [p for p in run.models.parameters if p.requires_grad]
    dead = [p for p in every if p.has_grad and not p.gradients]
    if not dead or len(dead) == len(every):
        return
    origin = backwards[-1].origin
    behind = origin.ancestors(2000, through=lambda past: past.requires_grad) if origin is not None else ()
    for past in behind:
        if past.op in FLAT and past.requires_grad and past.place is not None:
            names = [parameter.title for parameter in dead]
            yield Proof(
                where=past.place,
                message=f"`{past.op}` has a derivative of zero, and {len(dead)} parameters before it never get another",
                label="every gradient ends here",
                evidence={"op": past.op, "parameters": names[:8], "backwards": len(backwards)},
                fix="pass the gradient straight through: x + (torch.round(x) - x).detach()",
                severity="warning",
            )
            return


def _of_terms(run: Evidence) -> Iterator[Proof]:
    """One term of the loss goes through such an operation; the others hide that it trains nothing."""
    for term in idle_terms(run):
        if term.way not in ("no-derivative", "flat"):
            continue
        said = "has no derivative" if term.way == "no-derivative" else "has a derivative of zero"
        yield Proof(
            where=term.place,
            message=f"`{term.cut.op}` {said}, so the term of the loss that is computed from it trains nothing",
            label="no gradient beyond this",
            evidence={"op": term.cut.op, "backwards": term.backwards},
            fix="compute this term from the scores, with a function that has a derivative (softmax, sigmoid)",
            related=[(term.loss, "backward starts here")] if term.loss is not None else [],
            severity="warning",
        )
