from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

if TYPE_CHECKING:
    from stepscope.evidence.norm_statistics import UnsetNorms
    from stepscope.records.place import Place

_OF_LAST = "they are those of the last model that was averaged"


@rule("mode.stale-bn-statistics", severity="error", follows=("mode.train-not-restored",))
def stale_bn_statistics(run: Evidence) -> Iterator[Proof]:
    """A copy or an average of a trained model is evaluated with batch norm statistics that were never computed.

    Why it matters: in eval mode batch norm uses its running mean and variance. Averaging or copying parameters leaves
    these buffers at 0 and 1, so the copy gives wrong answers however good its weights are.

    What to do: copy the buffers too, or recompute them: `torch.optim.swa_utils.update_bn(loader, model)`.

    How it is found: a model in eval mode has batch norms that no batch has gone through and nothing was loaded into,
    while its weights are much like those of a model of the same shapes that the script has trained; or it is an
    `AveragedModel` of equal parts whose statistics are exactly those of the last model that went into it.

    Bad:
        swa_model.update_parameters(model)
        evaluate(swa_model, test_loader)
    Good:
        swa_model.update_parameters(model)
        update_bn(train_loader, swa_model)
        evaluate(swa_model, test_loader)
    """
    for found in run.norm_statistics.all:
        evaluated = _evaluated(run, found)
        yield Proof(
            where=found.written or evaluated,
            message=f"{found.model} is evaluated with batch norm statistics that were never computed for its weights: "
            + (_OF_LAST if found.copied else f"it has weights of {found.twin}, but means of 0 and variances of 1"),
            label="only the parameters follow the trained model, not the buffers"
            if found.written
            else f"no batch has gone through {', '.join(found.layers[:3])}",
            evidence={"layers": found.layers[:12], "likeness_of_weights": round(found.likeness, 3)},
            fix="copy the buffers here too (or call torch.optim.swa_utils.update_bn before evaluating)"
            if found.written
            else "call update_bn(train_loader, model) before this, or copy the buffers with the parameters",
            related=[(evaluated, "it is evaluated here")] if found.written else (),
        )


def _evaluated(run: Evidence, found: UnsetNorms) -> Place | None:
    """The line that is about this model: not that of a function which evaluates others as well."""
    own = [place for place in found.places if place not in run.norm_statistics.others] or found.places
    return own[1] if len(own) > 1 and own == found.places else next(iter(own), None)
