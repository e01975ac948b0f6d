"""Finds arithmetic on numpy bytes that wrapped around: numpy has no mode to listen to, so it is computed again.

Where an array becomes a tensor, the sums and differences written above it in the same function are computed once more
in wide numbers. What a dataset does in helpers is followed line by line while one of its samples is made once more, in
a fork. Operands are only read: names, attributes, items, and casts of arrays.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from stepscope.errors import StepscopeError
from stepscope.events.trials import each_line
from stepscope.evidence.uint8_overflow import Overflow
from stepscope.files.opening import read_text
from stepscope.record.observers.fork_probe import can_fork, in_a_fork, shares_files
from stepscope.record.observers.loaders import live_data
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import is_own, locals_of
from stepscope.records.place import Place
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.evidence.loaders import Loader
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_OPS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_SAMPLES = 8
_SECONDS = 1.0
_LOOKS = 3
_SMALLEST = 16
_DEEP = 3
_LARGEST_FILE = 1 << 22
_CASTS = frozenset({"astype", "copy", "reshape", "transpose", "asarray", "array", "ascontiguousarray", "uint8"})
_UNKNOWN: Any = object()


class NumpyByteObserver(Observer):
    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self._looked: dict[CodeType, int] = {}
        self._tried: set[int] = set()

    ops = frozenset({"tensor", "as_tensor"})

    def install(self, installed: Installed) -> None:
        installed.after("torch:from_numpy", "reading numpy bytes", self._converted)

    def _converted(self, frame: Any, tensor: Any, array: Any) -> None:
        if self.watcher.listens():
            self._look(frame)

    def op(self, call: Call) -> None:
        if call.direct and call.args and type(call.args[0]).__module__ == "numpy":
            self._look(sys._getframe(1))

    def _look(self, frame: FrameType | None) -> None:
        while frame is not None and not is_own(frame.f_code):
            frame = frame.f_back
        if frame is None:
            return
        code = frame.f_code
        looked = self._looked.get(code, 0)
        if looked >= _LOOKS:
            return
        self._looked[code] = looked + 1
        function = _function(code)
        for node in [] if function is None else _arithmetic(function):
            if node.lineno <= frame.f_lineno:
                self._note(_wrap(frame, node, function), code, node.lineno)

    def batch(self, loader: Loader, batch: Any) -> None:
        """The first batch of a dataset of the script's own: how is a sample made?"""
        dataset = live_data(loader)
        code = getattr(getattr(type(dataset), "__getitem__", None), "__code__", None)
        if code is None or id(dataset) in self._tried or not is_own(code):
            return
        self._tried.add(id(dataset))
        if not _may_have_bytes(dataset, code) or shares_files() or not can_fork():
            return
        found = in_a_fork(lambda: _followed(dataset), _SECONDS) or {}
        for one in found.get("wraps", ()):
            site = Site(file=one["file"], line=one["line"], function=one["function"])
            place = Place(one["file"], one["function"], one["first"], site)
            self._add(place, one["op"], one["wrapped"], one["values"], tuple(one["shape"]))

    def _note(self, found: dict[str, Any] | None, code: CodeType, line: int) -> None:
        if found:
            site = Site(file=code.co_filename, line=line, function=code.co_name)
            place = Place(code.co_filename, code.co_name, code.co_firstlineno, site)
            self._add(place, found["op"], found["wrapped"], found["values"], tuple(found["shape"]))

    def _add(self, place: Place, op: str, wrapped: int, values: int, shape: tuple[int, ...]) -> None:
        known = self.watcher.uint8_overflow.found
        same = next((one for one in known if one and (one.file, one.line) == (place.file, place.line)), place)
        overflow = known.setdefault(same, Overflow(op, same, shape))
        overflow.calls, overflow.wrapped, overflow.values = (
            overflow.calls + 1,
            overflow.wrapped + wrapped,
            overflow.values + values,
        )


def _may_have_bytes(dataset: Any, code: CodeType) -> bool:
    """Whether it keeps arrays of bytes, or its file speaks of them or of images."""
    if any(_is_bytes(value) for value in getattr(dataset, "__dict__", {}).values()):
        return True
    tree = _tree(code.co_filename)
    names = () if tree is None else (getattr(node, "attr", "") for node in ast.walk(tree))
    return any(name in ("uint8", "ubyte", "imread", "open") for name in names)


def _followed(dataset: Any) -> dict[str, Any]:
    """Make a few samples once more and look at every line of the script's own that runs."""
    wraps: dict[tuple[str, int], dict[str, Any]] = {}

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if event == "call":
            return trace if is_own(code) and _function(code) is not None else None
        if event == "line":
            for node in _arithmetic(_function(code)):
                found = _wrap(frame, node) if node.lineno == frame.f_lineno else None
                if found:
                    at = {"file": code.co_filename, "line": node.lineno, "first": code.co_firstlineno}
                    wraps[code.co_filename, node.lineno] = {**found, **at, "function": code.co_name}
        return trace

    with each_line(trace):
        for number in range(min(_SAMPLES, len(dataset))):
            dataset[number]
    return {"wraps": list(wraps.values())}


@cache
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse(read_text(Path(file), _LARGEST_FILE))
    except (OSError, SyntaxError, ValueError, StepscopeError):
        return None


@cache
def _function(code: CodeType) -> ast.AST | None:
    tree = _tree(code.co_filename)
    if tree is None or code.co_name == "<module>":
        return tree
    return next(
        (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            and node.name == code.co_name
            and code.co_firstlineno in (node.lineno, *(one.lineno for one in node.decorator_list))
        ),
        None,
    )


@cache
def _arithmetic(function: ast.AST | None) -> list[ast.BinOp | ast.AugAssign]:
    """Sums, differences and products of a function, without those of functions inside it."""
    if function is None:
        return []
    return [node for node in _own(function) if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _OPS]


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from _own(child)


def _wrap(frame: FrameType, node: ast.BinOp | ast.AugAssign, function: ast.AST | None = None) -> dict[str, Any] | None:
    """Of an operation on bytes: how many of its values came out at the other end."""
    sides = (node.target, node.value) if isinstance(node, ast.AugAssign) else (node.left, node.right)
    left, right = (_value(frame, side, node, function) for side in sides)
    if left is _UNKNOWN and right is not _UNKNOWN and function is not None:
        left = _undone(frame, node, sides[0], right, function)
    if not (_is_bytes(left) or _is_bytes(right)) or left is _UNKNOWN or right is _UNKNOWN:
        return None
    numpy = sys.modules["numpy"]
    name = _OPS[type(node.op)]
    compute = {"add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply}[name]
    try:
        with numpy.errstate(all="ignore"):
            result = compute(left, right)
            if getattr(result, "dtype", None) != numpy.uint8 or result.size < _SMALLEST:
                return None
            wide = compute(*(numpy.asarray(one).astype(numpy.int64) for one in (left, right)))
    except Exception:  # what does not fit together says nothing
        return None
    wrong = int((wide != result).sum())
    return {"op": name, "wrapped": wrong, "values": int(result.size), "shape": list(result.shape)} if wrong else None


def _undone(frame: FrameType, node: ast.AST, left: ast.AST, right: Any, function: ast.AST) -> Any:
    """Of `x = x + y`, where x has its new value by now: the old one."""
    if not isinstance(left, ast.Name):
        return _UNKNOWN
    bound = [one for one in _own(function) if isinstance(one, ast.Assign | ast.AugAssign) and _binds(one, left.id)]
    now = locals_of(frame).get(left.id, _UNKNOWN)
    itself = len(bound) == 1 and node in (bound[0], bound[0].value)
    if not itself or not _is_bytes(now) or not isinstance(node, ast.BinOp | ast.AugAssign):
        return _UNKNOWN
    try:
        if isinstance(node.op, ast.Mult):
            return _UNKNOWN
        return now - right if isinstance(node.op, ast.Add) else now + right
    except Exception:  # as in `_wrap`
        return _UNKNOWN


def _is_bytes(value: Any) -> bool:
    return type(value).__module__ == "numpy" and str(getattr(value, "dtype", "")) == "uint8"


def _value(frame: FrameType, node: ast.AST, at: ast.AST, function: ast.AST | None, deep: int = _DEEP) -> Any:
    """The value of an expression that can be read without running anything; `_UNKNOWN` otherwise."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return _named(frame, node.id, at, function, deep)
    if isinstance(node, ast.Attribute):
        owner = _value(frame, node.value, at, function, deep)
        return _UNKNOWN if owner is _UNKNOWN else getattr(owner, "__dict__", {}).get(node.attr, _UNKNOWN)
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice | ast.Tuple):
        owner, key = (_value(frame, part, at, function, deep) for part in (node.value, node.slice))
        readable = type(owner).__module__ == "numpy" or type(owner) in (list, tuple, dict)
        try:
            return owner[key] if readable and key is not _UNKNOWN else _UNKNOWN
        except (LookupError, TypeError):
            return _UNKNOWN
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CASTS:
        return _cast(frame, node, at, function, deep)
    return _UNKNOWN


def _cast(frame: FrameType, node: ast.Call, at: ast.AST, function: ast.AST | None, deep: int) -> Any:
    """`array.astype(np.uint8)`, `np.uint8(shift)`: calls of numpy that leave their argument as it is."""
    assert isinstance(node.func, ast.Attribute)
    owner = _value(frame, node.func.value, at, function, deep)
    given = [_value(frame, part, at, function, deep) for part in node.args]
    is_numpys = owner is sys.modules.get("numpy") or type(owner).__module__ == "numpy"
    if not is_numpys or node.keywords or any(one is _UNKNOWN for one in given):
        return _UNKNOWN
    try:
        return getattr(owner, node.func.attr)(*given)
    except Exception:  # an overflow of the cast itself, a shape that does not fit
        return _UNKNOWN


def _named(frame: FrameType, name: str, at: ast.AST, function: ast.AST | None, deep: int) -> Any:
    """A variable's value at a line; that of now, unless it was bound again since."""
    now = locals_of(frame).get(name, frame.f_globals.get(name, _UNKNOWN))
    if function is None:
        return now
    line = at.lineno  # type: ignore[attr-defined]
    bound = [node for node in _own(function) if isinstance(node, ast.Assign | ast.AugAssign) and _binds(node, name)]
    if all(node.lineno < line for node in bound):
        return now
    before = [node for node in bound if node.lineno < line]
    if not before or not deep or not isinstance(before[-1], ast.Assign) or len(before[-1].targets) != 1:
        return _UNKNOWN
    if not isinstance(before[-1].targets[0], ast.Name):
        return _UNKNOWN
    return _value(frame, before[-1].value, before[-1], function, deep - 1)


def _binds(node: ast.Assign | ast.AugAssign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(one, ast.Name) and one.id == name for target in targets for one in ast.walk(target))
