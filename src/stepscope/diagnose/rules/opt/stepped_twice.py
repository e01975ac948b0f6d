from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("opt.stepped-twice", severity="error", needs="crash, steps")
def stepped_twice(run: Evidence) -> Iterator[Proof]:
    """The optimizer is stepped in `training_step`, and the trainer steps it again with the loss that comes back.

    Why it matters: with automatic optimization Lightning calls `zero_grad`, `backward` and `step` itself. A step of
    your own before that updates twice, or backward fails because the weights have changed in between.

    What to do: only return the loss; or set `self.automatic_optimization = False` and do all of it yourself.

    How it is found: an optimizer steps at a line of `training_step` while the trainer also steps the optimizer.

    Bad:
        def training_step(self, batch, i):
            loss = self.loss(batch)
            loss.backward(); self.optimizers().step()
            return loss
    Good:
        def training_step(self, batch, i):
            return self.loss(batch)
    """
    works = run.trainer.works
    if works is None or not run.trainer.steps_itself:
        return
    own = [step for step in run.steps.steps if works.is_beside(step.place)]
    own = [step for step in own if step.place != works]
    if not own:
        return
    yield Proof(
        where=own[0].place,
        message=f"{run.trainer.name or 'the trainer'} already steps the optimizer, and this line steps it too",
        label="your own step, before the trainer's",
        evidence={"own_steps": len(own)},
        fix="leave out backward and step here and only return the loss, or set self.automatic_optimization = False",
        related=[(works, "with this loss the trainer runs backward and steps again")],
    )
