from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import ELEMENTWISE, VIEWS
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import source
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall
from stepscope.evidence.origins import Origin

_CALLS = 3
_UNIFORM = ("rand", "rand_like")
_THROUGH = ELEMENTWISE | VIEWS


@rule("loss.uniform-noise", severity="warning")
def uniform_noise(run: Evidence) -> Iterator[Proof]:
    """A model learns to predict noise from `torch.rand`, uniform between 0 and 1, where Gaussian noise is meant.

    Why it matters: a diffusion model is derived for noise with mean 0 and variance 1. Uniform noise has mean 0.5 and a
    third of the spread: samples drawn with Gaussian noise later are nothing the model has seen.

    What to do: `torch.randn` / `torch.randn_like`.

    How it is found: the target of a regression loss is noise drawn uniformly, and the same noise, scaled, was added to
    what the model got.

    Bad:
        noise = torch.rand(x.shape)
        loss = F.mse_loss(model(a * x + b * noise, t), noise)
    Good:
        noise = torch.randn_like(x)
    """
    for calls in run.losses.by_place("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        found = [noise for call in calls if call.trains and (noise := _noise(call)) is not None]
        if len({id(noise) for noise in found}) < _CALLS or found[0].place is None:  # else it is the data, drawn once
            continue
        name = found[0].op
        yield Proof(
            where=found[0].place,
            message=f"the noise that the model learns to predict comes from torch.{name}: uniform between 0 and 1, "
            "with mean 0.5, not Gaussian",
            label="uniform noise",
            evidence={"calls": len(found), "op": name},
            edit=tensors.called_otherwise(found[0].place, {name: name.replace("rand", "randn")}),
            fix=f"torch.{name.replace('rand', 'randn')}",
            related=[(calls[0].place, "it is the target here")],
        )


def _noise(call: LossCall) -> Origin | None:
    if call.target is None or call.input is None:
        return None
    noise = source(call.target)
    if noise.op not in _UNIFORM:
        return None
    for made in call.input.ancestors(400):
        if made.op not in ("add", "sub"):
            continue
        parts = list(made.ancestors(30, through=lambda past: past.op in _THROUGH))
        is_data = any(source(one) is noise for one in made.inputs)  # not scaled: something else was added to it
        if any(one is noise for one in parts) and not is_data:
            return noise
    return None
