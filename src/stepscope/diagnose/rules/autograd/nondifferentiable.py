from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.graph import cut_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("autograd.nondifferentiable", severity="error", needs="crash")
def nondifferentiable(run: Evidence) -> Iterator[Proof]:
    """The loss is computed through an operation that has no derivative.

    Why it matters: `argmax`, comparisons, rounding to whole numbers and a detour over NumPy give numbers that do not
    tell how they would change, so no gradient reaches the parameters.

    What to do: use a loss on the scores themselves (`cross_entropy`), or a soft version (`softmax`, `sigmoid`).

    Bad:
        loss = (logits.argmax(1) != y).float().mean()
    Good:
        loss = F.cross_entropy(logits, y)
    """
    crash = run.crash
    cut = None if crash is None else cut_of(crash)
    if crash is None or cut is None or cut.kind != "no-derivative":
        return
    yield Proof(
        where=cut.site or crash.site,
        message=f"`{cut.op}` has no derivative, so the loss has no gradient",
        label="no gradient beyond this",
        evidence={"op": cut.op},
        fix="compute the loss from the scores, with a function that has a derivative",
        related=[(crash.site, "backward fails here")],
    )
