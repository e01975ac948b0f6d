"""Which parameters are trained by which optimizer, and which by none: shared by the rules about optimizers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.models import Model
    from stepscope.evidence.modules import Parameter
    from stepscope.evidence.optimizers import Made

_GRADIENTS = 3
"""In how many backwards a parameter must have got a gradient before we say that it should have been trained."""
_GRADIENTS_AT_END = 2
"""The same when the script is over: whatever is not updated by then never is."""


@dataclass(frozen=True)
class Orphans:
    """Parameters of one model that get gradients and never change, because no optimizer has them."""

    model: Model
    names: list[str]
    parameters: list[Parameter]
    whole: bool
    """None of the model's parameters is in an optimizer."""
    loaded: bool
    """Weights were loaded into the modules that hold them: left alone on purpose, most likely."""


def orphans(run: Evidence) -> list[Orphans]:
    """What gets gradients but never moves, by model."""
    if not any(len(run.steps.of_optimizer(made.number)) >= _GRADIENTS for made in run.optimizers.made):
        return []
    held = {id(p) for made in run.optimizers.made for p in made.parameters}
    found: list[Orphans] = []
    seen: set[int] = set()
    for model in run.models.present:
        module = model.module
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        lost = [(name, p) for name, p in named if id(p) not in held and id(p) not in seen and _should_move(run, p)]
        seen.update(id(p) for _, p in named)
        if not lost:
            continue
        owners = [
            part for part in module.modules() if any(id(p) in {id(q) for _, q in lost} for p in part.own.values())
        ]
        found.append(
            Orphans(
                model,
                [name for name, _ in lost],
                [p for _, p in lost],
                whole=all(id(p) not in held for _, p in named),
                loaded=all(owner.loaded for owner in owners),
            )
        )
    return found


def _should_move(run: Evidence, parameter: Parameter) -> bool:
    enough = _GRADIENTS_AT_END if run.over else _GRADIENTS
    return parameter.gradients >= enough and parameter.changed is False


def strangers(run: Evidence, made: Made) -> list[Parameter]:
    """Parameters of an optimizer that belong to no model the script calls and get no gradient (any more)."""
    known = {id(p) for model in run.models.present for p in model.module.parameters()}
    return [p for p in made.parameters if p.alive and id(p) not in known and not p.has_grad]
