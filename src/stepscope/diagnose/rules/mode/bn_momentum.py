from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.layer_places import built_at
from stepscope.diagnose.rule import Proof, rule

_HIGH = 0.5


@rule("mode.bn-momentum", severity="warning", needs="end")
def bn_momentum(run: Evidence) -> Iterator[Proof]:
    """Batch norm's momentum is the share of the old statistics (as in Keras), but torch takes the share of the new.

    Why it matters: with `momentum=0.99` in torch the running mean and variance are those of the last batch alone, so
    evaluation depends on which batch happened to be the last.

    What to do: `momentum=0.1` (the default), or 1 minus the value from Keras: 0.01 for 0.99.

    How it is found: a batch norm with a momentum of 0.5 or more was trained on many batches and then used in eval mode.

    Bad:
        nn.BatchNorm1d(64, momentum=0.99)
    Good:
        nn.BatchNorm1d(64, momentum=0.01)
    """
    evaluated = {id(visit.module) for visit in run.visits.roots if not visit.training and visit.step > 1}
    for root in (model.module for model in run.models.roots):
        if id(root) not in evaluated:
            continue
        for path, layer in root.named_modules():
            share = layer.attributes.get("momentum")
            keeps = layer.is_a("_BatchNorm") and layer.attributes.get("track_running_stats", True)
            if not keeps or not layer.called or not isinstance(share, float) or share < _HIGH:
                continue
            where = built_at(run, root, path) or layer.made
            better = round(max(1 - share, 0.01), 4) if share > 1 - _HIGH else 0.1
            yield Proof(
                where=where,
                message=f"momentum={share} keeps {1 - share:.1%} of the old statistics at each batch: in eval mode "
                f"{path or layer.type} reflects little more than the last batch",
                label="torch's momentum is the share of the new batch",
                evidence={"momentum": share, "layer": path},
                edit=edits.keyword(where, "momentum", str(better)),
                fix=f"momentum={better}: in torch it is the weight of the new batch, not of the old average",
            )
            return
