from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.evidence.steps import Backward

_MOST_SHOWN = 4
_CUTS = frozenset({"tensor", "from_numpy", "Tensor", "FloatTensor"})
"""They copy numbers, also those of tensors in a list: nothing of what they are given is in their history."""
_WRAPS = _CUTS | frozenset({"as_tensor", "requires_grad_", "detach"})


@rule("autograd.rewrapped-loss", severity="error", needs="steps")
def rewrapped_loss(run: Evidence) -> Iterator[Proof]:
    """The loss was rewrapped, so nothing connects it to the parameters.

    Why it matters: `torch.tensor(loss, requires_grad=True)` and `loss.requires_grad_()` silence the error that the loss
    has no gradient. Backward runs, no parameter gets a gradient, and nothing is learned.

    What to do: call backward on the loss itself; where it has no gradient, look for what cut it off.

    How it is found: backward is called on a tensor that was made from plain numbers, and no parameter has changed after
    several steps.

    Bad:
        loss = torch.tensor(F.mse_loss(out, y).item(), requires_grad=True)
        loss.backward()
    Good:
        loss = F.mse_loss(out, y)
        loss.backward()
    """
    parameters = run.models.parameters
    if not parameters or not run.models.roots or len(run.steps.steps) < 2:
        return
    # A number that is itself optimized is a leaf too: then something changes.
    if any(parameter.changed is not False for parameter in parameters):
        return
    cut = [b for b in run.steps.backwards if b.accumulates and b.requires_grad and _is_cut(b)]
    if len(cut) < 2:
        return
    first = cut[0]
    wrapped = None if first.origin is None else next((o for o in first.origin.ancestors(200) if o.op in _WRAPS), None)
    place = None if wrapped is None else wrapped.place
    losses = [b.loss for b in cut[:_MOST_SHOWN]]
    yield Proof(
        where=place or first.place,
        message="backward is called on a loss with no history: no parameter gets a gradient",
        label=f"no history in {len(cut)} of {len(run.steps.backwards)} backwards",
        evidence={"backwards": len(cut), "losses": losses},
        fix="call backward on the loss itself, without wrapping it again or requires_grad_()",
        related=[(first.place, "backward stops here")] if place is not None else [],
    )


def _is_cut(backward: Backward) -> bool:
    """Whether everything with a gradient behind the loss was wrapped from plain numbers."""
    if backward.leaf or backward.origin is None:
        return backward.leaf
    behind = backward.origin.ancestors(2000, through=lambda past: past.requires_grad and past.op not in _CUTS)
    leaves = [past for past in behind if past.requires_grad and _begins(past)]
    return bool(leaves) and all(past.op in _WRAPS for past in leaves)


def _begins(past: Origin) -> bool:
    """Whether the history of a tensor begins here."""
    return past.op in _CUTS or not any(one.requires_grad for one in past.inputs)
