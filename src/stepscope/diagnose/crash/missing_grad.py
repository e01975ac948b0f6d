"""A `.grad` that is None because the tensor is not a leaf: it was computed from the one that has the gradient."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from stepscope.common.syntax import statement_at
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.provenance import made_at
from stepscope.diagnose.crash.turning_point import made_line
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site


@dataclass(frozen=True)
class Gradless:
    """A computed tensor that was mistaken for a parameter."""

    name: str
    tensor: HeldTensor
    site: Site | None


def gradless(crash: Crash) -> Gradless | None:
    if crash.says(r"can't optimize a non-leaf"):
        for frame in reversed(crash.frames):
            for name in ("param", "p"):
                found = frame.locals.get(name)
                if isinstance(found, HeldTensor) and not found.is_leaf:
                    return _found(crash, _name(crash, found), found)
        return None
    if not crash.is_a("TypeError", "AttributeError") or "nonetype" not in crash.message:
        return None
    last = crash.last
    statement = None if last is None else statement_at(last.file, last.line)
    for node in ast.walk(statement) if last is not None and statement is not None else ():
        if isinstance(node, ast.Attribute) and node.attr == "grad" and last is not None:
            owner = last.value_of(node.value)
            if isinstance(owner, HeldTensor) and not owner.is_leaf and owner.requires_grad:
                return _found(crash, ast.unparse(node.value), owner)
    return None


def _name(crash: Crash, tensor: HeldTensor) -> str:
    return next((name for name, value, _ in crash.values() if value is tensor), "the tensor")


def _found(crash: Crash, name: str, tensor: HeldTensor) -> Gradless:
    return Gradless(name, tensor, made_line(tensor) or made_at(crash, tensor))
