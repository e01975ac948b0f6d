from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.record.watch.origin import PARAMETER

_MOST_SHOWN = 4
_WRAPS = frozenset({"tensor", "as_tensor", "from_numpy", "requires_grad_", "detach", "Tensor", "FloatTensor"})


@rule("autograd.rewrapped-loss", severity="error", needs="steps")
def rewrapped_loss(run: Evidence) -> Iterator[Proof]:
    """The loss was wrapped anew, and nothing leads from it to the parameters.

    Why it matters: `torch.tensor(loss, requires_grad=True)` and `loss.requires_grad_()` silence the error that the loss
    has no gradient. Backward runs, no parameter gets a gradient, and nothing is learned.

    What to do: call backward on the loss itself; where it has no gradient, look for what cut it off.

    How it is found: backward is called on a leaf that no module's parameter is.

    Bad:
        loss = torch.tensor(F.mse_loss(out, y).item(), requires_grad=True)
        loss.backward()
    Good:
        loss = F.mse_loss(out, y)
        loss.backward()
    """
    cut = [b for b in run.steps.backwards if b.leaf and b.accumulates and b.requires_grad]
    if len(cut) < 2 or not run.models.roots:
        return
    first = cut[0]
    origin = first.origin
    # A parameter of the script's own may be a leaf and a loss at once (optimising a number itself).
    if origin is not None and origin.kind == "parameter" and origin.tags & PARAMETER and not origin.op:
        return
    if any(p is not None and not run.models.unchanged(p) for p in run.models.all_parameters()):
        return
    place = None if origin is None or origin.op not in _WRAPS else origin.place
    losses = [b.loss for b in cut[:_MOST_SHOWN]]
    yield Proof(
        where=place or first.place,
        message="backward is called on a loss with no history: no parameter gets a gradient",
        label=f"a leaf in {len(cut)} of {len(run.steps.backwards)} backwards",
        evidence={"backwards": len(cut), "losses": losses},
        fix="call backward on the loss itself, without wrapping it again or requires_grad_()",
        related=[(first.place, "backward stops here")] if place is not None else [],
    )
