"""Which of the tensors that should learn have learned anything: what `stepscope check` says of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.modules import Parameter


@dataclass(frozen=True)
class Learning:
    """Of the tensors that optimizers hold (without one: of the models' parameters), those that were looked at."""

    looked: int
    lost: list[str]
    """The names of those that got no gradient and did not change."""

    @property
    def reached(self) -> int:
        return self.looked - len(self.lost)


def learning(run: Evidence) -> Learning:
    """How many tensors should learn, and which of them do not."""
    stepped = [made for made in run.optimizers.made if run.steps.count_of(made.number)]
    held = [parameter for made in stepped for parameter in made.parameters]
    chosen = {id(one): one for one in (held or run.models.parameters) if one.alive and one.requires_grad}
    looked = [one for one in chosen.values() if one.changed is not None or one.gradients]
    return Learning(len(looked), [one.title for one in looked if not _has_learned(one)])


def _has_learned(parameter: Parameter) -> bool:
    return bool(parameter.gradients or parameter.changed)
