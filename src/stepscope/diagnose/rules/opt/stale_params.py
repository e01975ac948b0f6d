from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.ownership import orphans, strangers
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.modules import Parameter
from stepscope.evidence.optimizers import Made
from stepscope.records.place import Place


@rule("opt.stale-params", severity="error")
def stale_params(run: Evidence) -> Iterator[Proof]:
    """The optimizer holds parameters that are no longer part of the model; the ones that replaced them never learn.

    Why it matters: a head replaced, or a model rebuilt, after the optimizer was created is never trained.

    What to do: build the optimizer after the model has its final layers, or add the new parameters with
    `add_param_group`.

    How it is found: the optimizer has parameters that no model called by the script contains and that never get a
    gradient, while parameters of the model get gradients, never change, and are in no optimizer.

    Bad:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.head = nn.Linear(512, 10)
    Good:
        model.head = nn.Linear(512, 10)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    """
    lost = orphans(run)
    if not lost:
        return
    for made in run.optimizers.made:
        if not run.steps.of_optimizer(made.number):
            continue
        strange = strangers(run, made)
        gone = sum(not p.alive for p in made.parameters)
        if not strange and not gone:
            continue
        first = lost[0]
        # All of the optimizer's parameters lie outside: another model's, a different mistake, unless the shapes tell
        # that it is the same model made again.
        if len(strange) == len(made.parameters) and not _twins(strange, first.parameters):
            continue
        owner = run.models.owner_of(first.parameters[0])
        newer = owner[0].made if owner is not None else None
        # An optimizer that has trained what was replaced was right until then.
        was_right = newer is not None and any(p.gradients for p in strange)
        names = ", ".join(first.names[:3]) + (" ..." if len(first.names) > 3 else "")
        yield Proof(
            where=newer if was_right else made.place,
            message=f"the optimizer was built before the model was changed: it does not have {names}",
            label=f"{len(strange) + gone} of its {len(made.parameters)} parameters are no longer in the model",
            evidence={"not_in_model": len(strange) + gone, "never_updated": first.names[:20]},
            fix="build the optimizer after the last change of the model's layers",
            related=_related(made, newer, first.names[0], was_right),
        )


def _related(made: Made, newer: Place | None, name: str, was_right: bool) -> list[tuple[Any, str]]:
    if was_right:
        return [(made.place, "the optimizer was made here")] if made.place is not None else []
    return [(newer, f"{name} was made here")] if newer is not None else []


def _twins(some: list[Parameter], others: list[Parameter]) -> bool:
    return sorted(p.shape for p in some)[:4] == sorted(p.shape for p in others)[:4]
