from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.graph import cut_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("mode.grad-left-off", severity="error", needs="crash")
def grad_left_off(run: Evidence) -> Iterator[Proof]:
    """Gradients were switched off for evaluation and never on again.

    Why it matters: the first epoch trains, then validation calls `torch.set_grad_enabled(False)`, and the second epoch
    has no gradients.

    What to do: use it as a block, `with torch.no_grad():`, so that it ends by itself.

    Bad:
        torch.set_grad_enabled(False)
        evaluate(model)
    Good:
        with torch.no_grad():
            evaluate(model)
    """
    crash = run.crash
    cut = None if crash is None else cut_of(crash)
    if crash is None or cut is None or cut.kind != "left-off":
        return
    yield Proof(
        where=cut.site or crash.site,
        message="gradients are switched off and never switched on again",
        label="off from here on",
        evidence={"grad_enabled": False},
        fix="use `with torch.no_grad():` around the evaluation instead",
        related=[(crash.site, "backward finds no gradients here")],
    )
