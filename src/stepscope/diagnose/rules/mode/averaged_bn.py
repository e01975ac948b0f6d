from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.averaged_models import AveragedModels


@rule("mode.averaged-bn", severity="error")
def averaged_bn(run: Evidence) -> Iterator[Proof]:
    """An averaged copy of the model follows its weights only; its batch norm statistics stay as they were made.

    Why it matters: in evaluation mode batch norm uses its running mean and variance. In the copy these are still 0 and
    1, so its activations have another scale than the weights were trained for, and it evaluates badly.

    What to do: copy or average the buffers too, or compute them with `torch.optim.swa_utils.update_bn`.

    How it is found: a model in evaluation mode has batch norms that never saw a batch, though its weights were written
    while training went on, and a trained model of the same build has seen batches.

    Bad:
        for averaged, p in zip(ema.parameters(), model.parameters()):
            averaged.lerp_(p, 0.01)
    Good:
        for averaged, p in zip(ema.parameters(), model.parameters()):
            averaged.lerp_(p, 0.01)
        for averaged, b in zip(ema.buffers(), model.buffers()):
            averaged.copy_(b)
    """
    for one in run[AveragedModels].all:
        yield Proof(
            where=one.updated,
            message=f"the averaged {one.type} follows the weights and not the running statistics of its batch norms, "
            "with which it is evaluated",
            label=f"{', '.join(one.layers[:3])}: mean 0 and variance 1, as made",
            evidence={"layers": one.layers[:12], "batches_of_the_trained_model": one.batches},
            fix="copy the buffers too (or call torch.optim.swa_utils.update_bn before evaluating)",
            related=[(one.place, "it is evaluated here")] if one.place is not None else (),
        )
