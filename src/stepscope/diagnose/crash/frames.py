"""The frames of a crash, innermost last: whose they are, what they were running, and what their names held."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from stepscope.common.syntax import running_node
from stepscope.evidence import crash
from stepscope.evidence.frame_values import Held, HeldItems, HeldTensor, ModuleSeen
from stepscope.evidence.modules import Module

MISSING: Any = object()
_PLAIN = ("list", "tuple", "dict", "Size")


class Frame(crash.Frame):
    """One frame of the traceback, as rules read it."""

    modules: Mapping[Module, ModuleSeen]

    @classmethod
    def reading(cls, frame: crash.Frame, modules: Mapping[Module, ModuleSeen]) -> Frame:
        made = cls.__new__(cls)
        made.__dict__.update(vars(frame), modules=modules)
        return made

    @property
    def locals(self) -> dict[str, Any]:
        return self.inner.names

    @property
    def globals(self) -> dict[str, Any]:
        return self.outer.names

    @cached_property
    def running(self) -> ast.AST | None:
        """The sub-expression that raised or made the next call."""
        if not self.code:
            return running_node(self.file, self.span, self.line)
        statement = ast.parse(self.code).body[0]
        if isinstance(statement, ast.Assign):
            return statement.targets[0]
        return statement.value if isinstance(statement, ast.Expr) else statement

    @property
    def module(self) -> Module | None:
        """The layer whose method this is."""
        owner = self.locals.get(self.arguments[0]) if self.arguments else None
        return owner if isinstance(owner, Module) else None

    def value_of(self, node: ast.AST | None) -> Any:
        """The value of an expression, where it can be found by looking; MISSING where it would have to run."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.locals.get(node.id, self.globals.get(node.id, MISSING))
        if isinstance(node, ast.Attribute):
            owner = self.value_of(node.value)
            return MISSING if owner is MISSING else attribute(owner, node.attr, self.modules)
        if isinstance(node, ast.Subscript):
            return _item(self.value_of(node.value), self.value_of(node.slice))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.value_of(node.operand)
            return -value if isinstance(value, (int, float)) else MISSING
        return MISSING


def attribute(owner: Any, name: str, modules: Mapping[Module, ModuleSeen]) -> Any:
    """An attribute of what a name stood for."""
    if isinstance(owner, Module):
        return _of_module(owner, name, modules.get(owner))
    if isinstance(owner, HeldTensor):
        return _of_tensor(owner, name)
    return owner.attributes.get(name, MISSING) if isinstance(owner, Held) and owner.usual else MISSING


def _of_module(owner: Module, name: str, seen: ModuleSeen | None) -> Any:
    if name in owner.children:
        return owner.children[name]
    if seen is not None and name in seen.attributes:
        return seen.attributes[name]
    return owner.attributes.get(name, MISSING)


def _of_tensor(owner: HeldTensor, name: str) -> Any:
    if name == "data":
        bare = HeldTensor(owner.shape, owner.dtype, owner.device)
        bare.low, bare.high, bare.bytes = owner.low, owner.high, owner.bytes
        return bare
    return getattr(owner, name) if name in ("shape", "grad", "dtype") else MISSING


def _item(owner: Any, key: Any) -> Any:
    if type(key) not in (int, str):
        return MISSING
    if isinstance(owner, HeldItems) and owner.type in _PLAIN:
        items: Any = owner.items if owner.keys is None else dict(zip(owner.keys, owner.items, strict=True))
        if owner.keys is None and type(key) is int and key < 0 and owner.length > len(owner.items):
            return MISSING  # the last ones are not described
    elif type(owner) is tuple:
        items = owner
    else:
        return MISSING
    try:
        return items[key]
    except (LookupError, TypeError):
        return MISSING


def several(value: Any, *kinds: str) -> list[Any] | None:
    """The items of a list or tuple (of those kinds only, where some are named); None for anything else."""
    if isinstance(value, HeldItems) and value.is_a(*(kinds or ("list", "tuple"))):
        return value.items
    return list(value) if type(value) is tuple and "tuple" in (kinds or ("tuple",)) else None


def type_name(value: Any) -> str:
    """The name of the class of what a name stood for."""
    if isinstance(value, HeldTensor):
        return "Parameter" if value.is_parameter else "Tensor"
    return value.type if isinstance(value, (Held, Module)) else type(value).__name__
