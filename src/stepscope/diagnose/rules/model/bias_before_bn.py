from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("model.bias-before-bn", severity="info", needs="end")
def bias_before_bn(run: Evidence) -> Iterator[Proof]:
    """A layer has a bias, and the batch normalization right after it removes it again.

    Why it matters: nothing breaks; the bias is a parameter that cannot do anything.

    What to do: `bias=False` in the layer before a batch normalization.

    How it is found: a BatchNorm layer reads exactly what a layer with a bias returned.

    Bad:
        nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16))
    Good:
        nn.Sequential(nn.Conv2d(3, 16, 3, bias=False), nn.BatchNorm2d(16))
    """
    for visits in list(run.layers.calls.values()):
        made = {id(visit.outputs[0]): visit for visit in visits if visit.outputs}
        for visit in visits:
            if not visit.module.is_a("_BatchNorm") or not visit.inputs:
                continue
            before = made.get(id(visit.inputs[0]))
            if before is not None and before.module.is_a("Linear", "_ConvNd") and "bias" in before.module.own:
                yield Proof(
                    where=before.module.made or before.place,
                    message=f"the bias of {before.path or before.type} is canceled by {visit.path or visit.type}",
                    label="bias=False would do the same",
                    evidence={"layer": before.path, "norm": visit.path},
                    edit=edits.keyword(before.module.made, "bias", "False"),
                    fix="bias=False in this layer",
                )
