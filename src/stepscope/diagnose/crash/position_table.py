"""A table of positions, a parameter or buffer of a model, that is shorter than the sequences it is added to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.common.syntax import tree_of
from stepscope.diagnose.crash.bindings import bindings_in, node_site, scope_of
from stepscope.diagnose.crash.frames import Frame
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.origins import Origin
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.crash.crash import Crash

_ADDITIONS = ("add", "add_", "mul", "mul_")


@dataclass(frozen=True)
class Table:
    """`self.pos`, of which a slice ended early."""

    name: str
    rows: int
    wanted: int
    site: Site | None


def short_table(crash: Crash) -> Table | None:
    """The table whose slice is shorter on one axis than what it was cut for; None where no such slice is at work."""
    found = crash.operation
    pair = [tensor for _, tensor in crash.operands]
    if found is None or found.op not in _ADDITIONS or len(pair) != 2 or crash.last is None:
        return None
    for cut, other in (pair, pair[::-1]):
        axis = _short_axis(cut.shape, other.shape)
        if axis is None:
            continue
        for name in _sliced(found.node):
            table = crash.last.value_of(name)
            rows, wanted = cut.shape[axis], other.shape[axis - cut.ndim + other.ndim]
            whole = isinstance(table, HeldTensor) and table.is_leaf and rows in table.shape and _is_cut(cut, table)
            if whole and rows < wanted:
                return Table(ast.unparse(name), rows, wanted, _made(crash.last, name))
    return None


def _is_cut(cut: HeldTensor, table: HeldTensor) -> bool:
    """Whether a tensor is a piece of a table, as far as the trail and the shapes tell."""
    origin: Origin | None = cut.origin
    if origin is not None and origin.op and origin.op != "getitem":
        return False
    return cut.ndim <= table.ndim


def _short_axis(cut: tuple[int, ...], other: tuple[int, ...]) -> int | None:
    """The one axis on which a tensor is shorter than another, and not of size 1; it fits on all others."""
    if not cut or len(cut) > len(other):
        return None
    behind = other[len(other) - len(cut) :]
    differ = [axis for axis, (a, b) in enumerate(zip(cut, behind, strict=True)) if a not in (b, 1)]
    return differ[0] if len(differ) == 1 and cut[differ[0]] < behind[differ[0]] else None


def _sliced(node: ast.AST | None) -> Iterator[ast.Attribute]:
    """What is cut to a length on the failing line: `self.pos[:, :n]`."""
    for one in ast.walk(node) if node is not None else ():
        parts = ast.walk(one.slice) if isinstance(one, ast.Subscript) else ()
        cut = any(isinstance(part, ast.Slice) and part.upper is not None for part in parts)
        if cut and isinstance(one, ast.Subscript) and isinstance(one.value, ast.Attribute):
            yield one.value


def _made(frame: Frame, name: ast.Attribute) -> Site | None:
    """Where the model makes it: an assignment, or `register_buffer`."""
    scope = scope_of(frame)
    bound = [] if scope is None else bindings_in(frame.file, scope, ast.unparse(name))
    if bound:
        return bound[0].site
    for call in ast.walk(tree_of(frame.file) or ast.Module([], [])):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "register_buffer":
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant) and first.value == name.attr:
                return node_site(frame.file, call)
    return None
