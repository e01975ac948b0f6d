from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits.loop import parameters_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.ownership import orphans, strangers
from stepscope.diagnose.rule import Proof, rule


@rule("opt.missing-params", severity="error", follows=("opt.stale-params", "opt.wrong-params", "dist.wrap-order"))
def missing_params(run: Evidence) -> Iterator[Proof]:
    """Parameters get gradients, but no optimizer has them, so they never learn.

    Why it matters: that part of the model stays at its random start while the rest trains around it.

    What to do: give the optimizer these parameters too, or freeze them with `requires_grad_(False)`.

    How it is found: a parameter of a model got a gradient in three backwards, is in no optimizer, and not one of its
    values has changed. Frozen parameters get no gradient, and those updated by hand do change.

    Bad:
        optimizer = torch.optim.Adam(decoder.parameters())
    Good:
        optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
    """
    for lost in orphans(run):
        stepping = [made for made in run.optimizers.made if run.steps.of_optimizer(made.number)]
        if not stepping or any(strangers(run, made) for made in stepping):
            continue
        # A whole model beside the trained one may be meant to stay as it is: pretrained, or put into eval mode.
        module = lost.model.module
        if lost.whole and (lost.loaded or not module.training or len(run.models.roots) == 1):
            continue
        mine = {id(p) for p in module.parameters()}
        nearest = [made for made in stepping if any(id(p) in mine for p in made.parameters)] or stepping
        names = ", ".join(lost.names[:3]) + (f" and {len(lost.names) - 3} more" if len(lost.names) > 3 else "")
        where = lost.model.type if lost.whole else f"{names} of {lost.model.type}"
        yield Proof(
            where=nearest[-1].place,
            message=f"{where} {'gets' if lost.whole else 'get'} gradients, but no optimizer updates "
            f"{'it' if lost.whole else 'them'}",
            label=f"holds {len(nearest[-1].parameters)} parameters; {len(lost.names)} others get gradients, stay fixed",
            evidence={
                "parameters": lost.names[:20],
                "count": len(lost.names),
                "gradients_seen": min(p.gradients for p in lost.parameters),
            },
            edit=parameters_of(nearest[-1].place, module.made, instead=False),
            fix=f"add the parameters of {where} to the optimizer, or freeze them with requires_grad_(False)",
            related=[(module.made, "the model is made here")] if module.made is not None else [],
            severity="info" if lost.loaded else None,
        )
