"""Models: the root modules the script calls, and the parameters that are trained."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.modules import Module, Parameter
from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit


@record
@dataclass(eq=False)
class Model:
    """A root module."""

    module: Module
    number: int = 0
    calls: int = 0
    calls_with_grad: int = 0
    first_visit: Visit | None = None

    @property
    def type(self) -> str:
        return self.module.type


@table("models")
@dataclass(eq=False)
class Models:
    """`run.models`"""

    roots: list[Model] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    """Every parameter of every root module and optimizer (and other trained tensors), each once."""

    @property
    def present(self) -> list[Model]:
        """The root modules that still exist."""
        return [model for model in self.roots if model.module.alive]

    def owner_of(self, parameter: Parameter) -> tuple[Module, str] | None:
        """The module that owns it and its path inside its root."""
        return self.owners().get(parameter)

    def owners(self) -> dict[Parameter, tuple[Module, str]]:
        """`owner_of` every parameter of the models."""
        found: dict[Parameter, tuple[Module, str]] = {}
        for model in self.present:
            for path, part in model.module.named_modules():
                for parameter in part.own.values():
                    found.setdefault(parameter, (part, path))
        return found
