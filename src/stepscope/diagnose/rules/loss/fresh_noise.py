from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import GAUSSIAN, RESHAPES
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.predicted_noise import predictions
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_ENOUGH = 3
_ANCESTORS = 4000


@rule("loss.fresh-noise", severity="error")
def fresh_noise(run: Evidence) -> Iterator[Proof]:
    """The model has to predict noise that it has never seen: not the noise that was added to its input.

    Why it matters: a denoising model learns to tell the noise in its input. Noise drawn again for the loss has nothing
    to do with that input, so the best answer is zero everywhere and nothing is learned.

    What to do: keep the noise that was mixed into the input, and compare the prediction with that.

    How it is found: in at least three steps the target of the loss is Gaussian noise that the prediction does not
    depend on, while other noise of the same shape, drawn in the same step, was added to what the model was given.

    Bad:
        noisy = a * x + b * torch.randn_like(x)
        loss = F.mse_loss(model(noisy, t), torch.randn_like(x))
    Good:
        noise = torch.randn_like(x)
        noisy = a * x + b * noise
        loss = F.mse_loss(model(noisy, t), noise)
    """
    found: dict[Place | None, list[tuple[Origin, Origin]]] = {}
    for prediction, target, place in predictions(run):
        drawn = target.back_through(RESHAPES)
        if drawn.op not in GAUSSIAN:
            continue
        added = _added_noise(prediction, drawn)
        if added is not None:
            found.setdefault(place, []).append((drawn, added))
    for place, pairs in found.items():
        if len(pairs) < _ENOUGH or place is None:
            continue
        drawn, added = pairs[0]
        yield Proof(
            where=place,
            message="the target is new noise, not the noise that was added to the input",
            label=f"{drawn.op} of {list(drawn.shape)}, which the model has not seen",
            evidence={"steps": len(pairs), "shape": list(drawn.shape)},
            fix="compare with the noise that was added to the input",
            related=[(added.place, "this noise was added to the input")] if added.place is not None else (),
        )


def _added_noise(prediction: Origin, drawn: Origin) -> Origin | None:
    """Other noise of this shape and step that was added to what the prediction was computed from."""
    others: dict[int, Origin] = {}
    mixed: set[int] = set()
    for past in prediction.ancestors(_ANCESTORS):
        if past.index == drawn.index:
            return None
        if past.op in GAUSSIAN and past.shape == drawn.shape and past.step == drawn.step:
            others[id(past)] = past
        if past.op.rstrip("_") in ("add", "addcmul", "lerp") and not past.requires_grad and len(past.inputs) > 1:
            mixed.update(id(one) for part in past.inputs for one in part.ancestors(6))
    return next((one for key, one in others.items() if key in mixed), None)
