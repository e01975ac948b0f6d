from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import GAUSSIAN, RESHAPES, SELECTIONS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.predicted_noise import predictions
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin

_STEPS = 10
_ANCESTORS = 400
_PICKS = SELECTIONS | {"stack"}


@rule("loss.noise-drawn-once", severity="warning")
def noise_drawn_once(run: Evidence) -> Iterator[Proof]:
    """The noise that a model learns to predict is drawn once, before the training, and is the same in every step.

    Why it matters: the model memorizes this one tensor instead of telling noise from data.

    What to do: draw new noise for every batch, inside the loop: `noise = torch.randn_like(x)`.

    How it is found: in at least ten steps the target of the loss is the very same drawn tensor, and it is mixed with
    other data each time to make the input of the model.

    Bad:
        noise = torch.randn(64, 2)
        for x in loader:
            loss = F.mse_loss(model(a * x + b * noise), noise)
    Good:
        for x in loader:
            noise = torch.randn_like(x)
    """
    mixed: dict[int, tuple[Origin, set[int]]] = {}
    for prediction, target, _ in predictions(run):
        drawn = target.back_through(RESHAPES)
        if drawn.op not in GAUSSIAN or drawn.place is None or drawn.requires_grad:
            continue
        if _mixed_with_others(prediction, drawn):
            mixed.setdefault(drawn.index, (drawn, set()))[1].add(prediction.step)
    for drawn, steps in mixed.values():
        if len(steps) >= _STEPS:
            yield Proof(
                where=drawn.place,
                message=f"the noise that the model learns to predict is drawn once and used in {len(steps)} steps",
                label="drawn before the training loop",
                evidence={"steps": len(steps), "shape": list(drawn.shape)},
                fix="draw new noise for every batch, inside the loop",
            )


def _mixed_with_others(prediction: Origin, drawn: Origin) -> bool:
    """Whether the noise was added to data that was picked in the step of the prediction, on its way into the model."""
    for past in prediction.ancestors(_ANCESTORS):
        if past.op.rstrip("_") not in ("add", "addcmul", "lerp") or past.requires_grad or past.step != prediction.step:
            continue
        sides = [list(part.ancestors(12)) for part in past.inputs]
        noisy = any(one is drawn for side in sides for one in side)
        rest = [one for side in sides if all(part is not drawn for part in side) for one in side]
        if noisy and any(one.step == past.step and (one.kind == "data" or one.op in _PICKS) for one in rest):
            return True
    return False
