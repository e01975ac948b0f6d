"""A module that holds, as one of its layers, a module that holds it."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.common.syntax import said
from stepscope.diagnose.crash.bindings import bindings_in
from stepscope.diagnose.crash.classes import own_class
from stepscope.diagnose.crash.crash import Crash
from stepscope.evidence.modules import Module
from stepscope.records.step import Site


@dataclass(frozen=True)
class Circle:
    """The classes of both modules, and the attribute that closes the circle."""

    inner: str
    outer: str
    name: str
    site: Site | None
    given: str
    """What the attribute is set to, as it is written."""


def module_circle(crash: Crash) -> Circle | None:
    """The first such pair among the models that the frames know."""
    models = [value for _, value, _ in crash.values() if isinstance(value, Module)]
    for model in dict.fromkeys([*models, *crash.modules]):
        found = _closed(model, [])
        if found is not None:
            return _described(crash, *found)
    return None


def _closed(module: Module, above: list[Module]) -> tuple[Module, Module, str] | None:
    for name, child in module.children.items():
        if child is module or any(child is one for one in above):
            return module, child, name
        found = _closed(child, [*above, module])
        if found is not None:
            return found
    return None


def _described(crash: Crash, inner: Module, outer: Module, name: str) -> Circle:
    holder = own_class(crash, inner.type)
    made = [] if holder is None else bindings_in(holder.file, holder.node.body[0], f"self.{name}")
    given = said(made[0].value) if made and made[0].value is not None else name
    return Circle(inner.type, outer.type, name, made[0].site if made else None, given)
