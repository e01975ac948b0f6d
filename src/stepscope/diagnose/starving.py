"""Parameters that an optimizer holds and that no gradient has ever reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.modules import Parameter

_ENOUGH = 6


def never_fed(run: Evidence, parameters: list[Parameter]) -> list[Parameter]:
    """Those of them that got no gradient in the whole run and never changed, though an optimizer stepped them."""
    if not run.over:
        return []
    return [parameter for parameter in parameters if _is_never_fed(run, parameter)]


def _is_never_fed(run: Evidence, parameter: Parameter) -> bool:
    if not parameter.alive or not parameter.requires_grad or parameter.gradients or parameter.changed is not False:
        return False
    return any(run.steps.count_of(made.number) >= _ENOUGH for made in run.optimizers.holding(parameter))
