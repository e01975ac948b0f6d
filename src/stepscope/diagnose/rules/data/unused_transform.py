from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.name_use import fate_of_name
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.unused_results import Unused

_STEPS = 3


@rule("data.unused-transform", severity="warning", follows=("loss.wrong-target",))
def unused_transform(run: Evidence) -> Iterator[Proof]:
    """A noisy, scaled or masked version of the samples is computed, and the model gets the plain ones.

    Why it matters: a denoising model that never sees noise learns to copy; an augmentation that is not used augments
    nothing. The loss even looks better for it.

    What to do: pass the new version on, or remove the line.

    How it is found: in at least three training steps a tensor of the same shape as the model's input was computed from
    it and freed without any operation having read it, and no line of the function reads its name.

    Bad:
        noisy = x + 0.2 * torch.randn_like(x)
        loss = F.mse_loss(model(x), x)
    Good:
        noisy = x + 0.2 * torch.randn_like(x)
        loss = F.mse_loss(model(noisy), x)
    """
    for unused in run.unused_results.all:
        if unused.steps < _STEPS or unused.origin.requires_grad or not _is_of_input(run, unused):
            continue
        use = fate_of_name(run.source, unused.place)
        if use is None or use.fate != "unread":
            continue
        yield Proof(
            where=unused.place,
            message=f"`{use.name}` is computed from the samples in every step and never used: the model gets the "
            "samples as they were",
            label=f"computed {unused.count} times and thrown away",
            evidence={"steps": unused.steps, "shape": list(unused.origin.shape)},
            fix=f"give `{use.name}` to the model, or remove this line",
        )


def _is_of_input(run: Evidence, unused: Unused) -> bool:
    """Whether a model was given the very tensor that this one is a version of."""
    behind = {id(one) for one in unused.origin.ancestors(60)}
    same = (given for visit in run.visits.roots if visit.grad for given in visit.inputs)
    return any(id(given) in behind and given.shape == unused.origin.shape for given in same)
