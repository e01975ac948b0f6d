"""Tensors joined along an axis in which they agree, where they differ in one other axis only."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.op_chain import CONCAT
from stepscope.diagnose.crash.suggested import with_argument

_WORDS = ("dim", "axis")


@dataclass(frozen=True)
class Joined:
    """A `cat` along one axis where another one was meant."""

    op: str
    used: int
    is_said: bool
    """The call names the axis."""
    needed: int
    keyword: str
    suggested: str
    """The call along the other axis."""


def wrong_axis(crash: Crash) -> Joined | None:
    found = crash.operation
    call = None if found is None else found.node
    if found is None or found.op not in CONCAT or not isinstance(call, ast.Call):
        return None
    keyword = next((word for word in call.keywords if word.arg in _WORDS), None)
    given = keyword.value if keyword is not None else call.args[1] if len(call.args) > 1 else None
    used = 0 if given is None else found.frame.value_of(given)
    shapes = [tensor.shape for _, tensor in crash.operands]
    if type(used) is not int or len(shapes) < 2 or len({len(shape) for shape in shapes}) > 1:
        return None
    differing = [axis for axis, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
    if len(differing) != 1 or differing[0] == used % len(shapes[0]):
        return None
    name = keyword.arg if keyword is not None and keyword.arg else "dim"
    suggested = with_argument(call, 1, name, str(differing[0]))
    return Joined(found.op, used, given is not None, differing[0], name, suggested)
