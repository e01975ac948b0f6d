from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.optimizers import Made

_ENOUGH = 5
_CUT = ("grad.detached-needed", "grad.requires-grad-typo", "grad.frozen-by-mistake", "grad.vanishing", "grad.dead-relu")
_EXPLAINED = (*_CUT, "autograd.*", "opt.*", "loss.*", "mode.*", "model.*", "data.*", "dist.*", "amp.*", "num.*")


@rule("opt.nothing-learns", severity="error", needs="end", follows=_EXPLAINED, is_symptom=True)
def nothing_learns(run: Evidence) -> Iterator[Proof]:
    """No tensor that the optimizer holds ever gets a gradient.

    Why it matters: the optimizer steps, the loss is printed, and the model keeps its initial weights.

    What to do: follow the loss back to the model's output. Something between them has no derivative or ends the graph:
    `argmax`, `round`, a comparison, `item()`, `detach()`, `torch.tensor(...)`, NumPy, `no_grad`; or the loss is
    computed from something else.

    How it is found: at the end of the script the optimizer has stepped at least five times, backward has run as often,
    none of its tensors had a gradient in any step that was watched, and none has changed. It is reported only where no
    other rule has found the cause.

    Bad:
        loss = F.mse_loss(x * scale, y)
        loss.backward()
        optimizer.step()
    Good:
        loss = F.mse_loss(model(x) * scale, y)
        loss.backward()
        optimizer.step()
    """
    if not run.over or run.steps.backward_count < _ENOUGH:
        return
    for made in run.optimizers.made:
        steps = [step for step in run.steps.of_optimizer(made.number) if step.looked]
        held, count = len(made.parameters), run.steps.count_of(made.number)
        if len(steps) < _ENOUGH or not held or not _is_unchanged(made):
            continue
        if any(step.without_grad < held for step in steps):
            continue
        last = steps[-1]
        yield Proof(
            where=last.backwards[-1].place if last.backwards else last.place,
            message=f"nothing learns: none of the {held} tensors of {made.type} ever has a gradient",
            label=f"{count} steps, and no tensor has changed",
            evidence={"steps": count, "watched": len(steps), "tensors": held, "backwards": run.steps.backward_count},
            fix="follow the loss back to the model: something ends the graph on the way, or the model is not in it",
            related=[(made.place, f"this {made.type} holds them")] if made.place is not None else (),
        )


def _is_unchanged(made: Made) -> bool:
    """Whether every tensor of the optimizer is alive, was compared, and is what it was."""
    return all(one.alive and one.changed is False for one in made.parameters)
