from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits.loop import parameters_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.ownership import orphans
from stepscope.diagnose.rule import Proof, rule


@rule("opt.wrong-params", severity="error", follows=("opt.stale-params", "dist.wrap-order"))
def wrong_params(run: Evidence) -> Iterator[Proof]:
    """An optimizer steps parameters that its loss does not reach, and those it reaches are in no optimizer.

    Why it matters: the model that should learn stands still while another one is stepped with nothing, or with
    gradients meant for something else.

    What to do: pass the optimizer the parameters of the model whose loss is minimized with it.

    How it is found: in every step the optimizer's own parameters have no gradient, or another optimizer already has
    them, while a model that gets gradients is in no optimizer and never changes.

    Bad:
        opt_d = torch.optim.Adam(generator.parameters())
    Good:
        opt_d = torch.optim.Adam(discriminator.parameters())
    """
    lost = [one for one in orphans(run) if one.whole and not one.loaded and one.model.module.training]
    if not lost:
        return
    for made in run.optimizers.made:
        steps = run.steps.of_optimizer(made.number)
        if len(steps) < 3:
            continue
        idle = all(step.without_grad == len(made.parameters) for step in steps)
        mine = {id(p) for p in made.parameters}
        others = [o for o in run.optimizers.made if o is not made and run.steps.of_optimizer(o.number)]
        doubled = any(mine and mine == {id(p) for p in other.parameters} for other in others)
        if not idle and not (doubled and made.number == max(o.number for o in (*others, made))):
            continue
        what = "none of its parameters ever gets a gradient" if idle else "another optimizer has the same parameters"
        yield Proof(
            where=made.place,
            message=f"this optimizer holds the wrong parameters: {what}, and {lost[0].model.type} is in no optimizer",
            label=what,
            evidence={"never_updated": lost[0].names[:20], "steps": len(steps)},
            edit=parameters_of(made.place, lost[0].model.module.made, instead=True) if idle else None,
            fix=f"pass it the parameters of the {lost[0].model.type} instead",
        )
