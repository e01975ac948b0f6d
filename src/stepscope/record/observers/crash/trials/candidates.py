"""Single changes that may be meant, read off the line that raised and the values on it. A trial tells which run."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MethodType, TracebackType
from typing import Any

import torch

from stepscope.common.syntax import enclosing_function, parents_of, running_node, said, statement_at
from stepscope.record.observers.crash.kinds import held_by
from stepscope.record.observers.crash.live_values import instruction_span, value_in
from stepscope.record.observers.crash.missing_names import attribute_names, similar
from stepscope.record.observers.crash.trials.python_changes import python_changes
from stepscope.record.observers.crash.trials.shape_changes import shape_changes

MISSING: Any = object()


@dataclass(frozen=True)
class Change:
    """One expression to replace, here and where else it stands."""

    node: ast.AST
    new: str
    kind: str
    is_sure: bool = False
    because: str = ""
    others: tuple[tuple[ast.AST, str], ...] = ()
    """Further expressions that need the same."""

    @property
    def all(self) -> list[tuple[ast.AST, str]]:
        return [(self.node, self.new), *self.others]


@dataclass(frozen=True)
class Scene:
    """The innermost own frame of a crash: the expression that raised, and what its names hold."""

    error: BaseException
    link: TracebackType
    node: ast.AST

    @property
    def file(self) -> str:
        return self.link.tb_frame.f_code.co_filename

    @property
    def statement(self) -> ast.stmt | None:
        return statement_at(self.file, self.link.tb_lineno)

    def value(self, node: ast.AST | None) -> Any:
        """What a name, attribute or item holds; MISSING where that would have to be computed."""
        if isinstance(node, ast.Constant):
            return node.value
        names = (self.link.tb_frame.f_locals, self.link.tb_frame.f_globals, vars(builtins))
        root = node
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if not isinstance(root, ast.Name) or not any(root.id in one for one in names):
            return MISSING
        try:
            return value_in(self.link, node)
        except Exception:  # a class of the user's with attributes of its own
            return MISSING


def scene_of(error: BaseException, link: TracebackType) -> Scene | None:
    code = link.tb_frame.f_code
    node = running_node(code.co_filename, instruction_span(code, link.tb_lasti), link.tb_lineno)
    return None if node is None else Scene(error, link, node)


def changes(scene: Scene, callers: Sequence[Scene]) -> Iterator[Change]:
    """The likeliest first."""
    for find in _FINDERS:
        yield from find(scene)
    for caller in callers:
        yield from _arguments(caller)
    for node, new, kind, is_sure, because in python_changes(scene):
        yield Change(node, new, kind, is_sure, because)
    for node, new, kind, is_sure, because in shape_changes(scene):
        yield Change(node, new, kind, is_sure, because)


def _names_in(scene: Scene) -> Iterator[tuple[ast.expr, Any]]:
    """The names and attributes of the failing expression that hold something, the longest of each chain."""
    waiting: list[ast.AST] = [scene.node]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.Name, ast.Attribute)):
            value = scene.value(node)
            if _is_known(value):
                yield node, value
                continue
        waiting += list(ast.iter_child_nodes(node))


def _is_known(value: Any) -> bool:
    return value is not MISSING and type(value) is not object


def _missing_parentheses(scene: Scene) -> Iterator[Change]:
    """A class where an object is needed, a method where its result is: `()` is missing, here or where it was bound."""
    for node, value in _names_in(scene):
        if isinstance(node, ast.Attribute) and isinstance(scene.value(node.value), type):
            owner = node.value
            node, value = owner, scene.value(owner)
        if isinstance(value, MethodType) and not _is_called(scene, node):
            yield Change(node, f"{said(node, 400)}()", "called", True, f"`{said(node)}` is a method that is not called")
        if isinstance(value, type) and value.__module__ != "builtins" and _needs_nothing(value):
            for bound in _bindings_to(scene, value):
                because = f"`{said(node)}` is a class, not an object: parentheses are missing"
                yield Change(bound, f"{said(bound, 400)}()", "called", True, because)


def _is_called(scene: Scene, node: ast.AST) -> bool:
    holder = parents_of(scene.file).get(node)
    return isinstance(holder, ast.Call) and holder.func is node


def _needs_nothing(kind: type) -> bool:
    try:
        parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]  # type: ignore[misc]
    except (TypeError, ValueError):
        return False
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(one.default is not inspect.Parameter.empty or one.kind in variadic for one in parameters)


def _bindings_to(scene: Scene, kind: type) -> Iterator[ast.expr]:
    """The right sides of assignments that name a class."""
    for node in parents_of(scene.file):
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Attribute)):
            text = said(node.value, 400)
            if text.rpartition(".")[2] == kind.__name__:
                yield node.value


def _attribute(scene: Scene) -> Iterator[Change]:
    """An attribute that does not exist: of what the object wraps, a builtin function, a name like it."""
    name, owner = getattr(scene.error, "name", None), getattr(scene.error, "obj", None)
    node = scene.node.func if isinstance(scene.node, ast.Call) else scene.node
    if not isinstance(scene.error, AttributeError) or not isinstance(name, str) or not isinstance(node, ast.Attribute):
        return
    if node.attr != name:
        return
    before = said(node.value, 400)
    kind = type(owner).__name__
    if isinstance(owner, torch.utils.data.Subset) and _has(owner.dataset, name):
        because = f"a Subset has no `{name}`: it belongs to the whole dataset, and `.indices` says which of it are here"
        new = f"{before}.dataset.{name}[{before}.indices]"
        yield Change(node, new, "wrapped", True, because, _others_like(scene, node, new))
    for inner, held in _parts_of(owner):
        if _has(held, name):
            because = f"{kind} has no `{name}`; what it wraps, `.{inner}`, has it"
            new = f"{before}.{inner}.{name}"
            others = [*_others_like(scene, node, new), *_others_of(scene, node, owner, inner, held)]
            yield Change(node, new, "wrapped", True, because, tuple(others))
    function = getattr(builtins, name, None) or (next if name == "next" else None)
    if callable(function) and isinstance(scene.node, ast.Call):
        arguments = ", ".join([before, *(said(one, 400) for one in scene.node.args)])
        because = f"{kind} has no method `{name}`; Python's own function does this"
        yield Change(scene.node, f"{name}({arguments})", "function", True, because)
    known = attribute_names(owner) | {one for base in type(owner).__mro__ for one in vars(base)}
    for near in similar(name, known):
        yield Change(node, f"{before}.{near}", "near name", True, f"{kind} has no `{name}`, but `{near}`")


def _others_like(scene: Scene, node: ast.expr, new: str) -> tuple[tuple[ast.AST, str], ...]:
    """The same expression elsewhere in the function."""
    text, here = ast.unparse(node), enclosing_function(scene.file, node)
    same = [one for one in parents_of(scene.file) if type(one) is type(node) and one is not node]
    return tuple((one, new) for one in same if ast.unparse(one) == text and enclosing_function(scene.file, one) is here)


def _others_of(scene: Scene, node: ast.Attribute, owner: Any, inner: str, held: Any) -> Iterator[tuple[ast.AST, str]]:
    """Other attributes in the same statement that only the wrapped object has."""
    before = ast.unparse(node.value)
    for one in ast.walk(scene.statement) if scene.statement is not None else ():
        is_other = isinstance(one, ast.Attribute) and one.attr != node.attr and ast.unparse(one.value) == before
        if is_other and _has(held, one.attr) and not _has(owner, one.attr):  # type: ignore[attr-defined]
            yield one, f"{before}.{inner}.{one.attr}"  # type: ignore[attr-defined]


def _parts_of(owner: Any) -> Iterator[tuple[str, Any]]:
    held = held_by(owner)
    for name, value in {**held, **(held.get("_modules") or {})}.items():
        if isinstance(name, str) and name.isidentifier() and not name.startswith("_"):
            yield name, value


def _has(owner: Any, name: str) -> bool:
    layers = {**held_by(owner), **(held_by(owner).get("_modules") or {})}
    inside = type(owner).__module__ not in ("builtins",)
    return inside and (name in layers or any(name in vars(base) for base in type(owner).__mro__))


def _key(scene: Scene) -> Iterator[Change]:
    if not isinstance(scene.error, KeyError) or not isinstance(scene.node, ast.Subscript):
        return
    owner = scene.value(scene.node.value)
    wanted = scene.error.args[0] if scene.error.args else None
    if isinstance(owner, dict) and isinstance(wanted, str):
        for near in similar(wanted, [key for key in list(owner)[:2000] if isinstance(key, str)]):
            yield Change(scene.node.slice, repr(near), "near name", True, f"there is no {wanted!r}, but {near!r}")
    text = said(scene.node.value, 400)
    is_table = type(owner).__module__.startswith("pandas") and type(owner).__name__ == "Series"
    if is_table or (isinstance(wanted, int) and not isinstance(owner, dict)):  # a column of a table, by its row label
        because = "the rows have labels, and not all of 0, 1, 2 ... are among them: `.iloc` takes them by position"
        others = tuple((one, f"{said(one, 400)}.iloc") for one in _columns_like(scene, scene.node))
        yield Change(scene.node.value, f"{text}.iloc", "by position", True, because, others)


def _columns_like(scene: Scene, node: ast.Subscript) -> Iterator[ast.expr]:
    """Other columns of the same table that the function indexes in the same way."""
    here = enclosing_function(scene.file, node)
    table = node.value.value if isinstance(node.value, ast.Subscript) else None
    for one in parents_of(scene.file):
        if not isinstance(one, ast.Subscript) or one is node or not isinstance(one.value, ast.Subscript):
            continue
        same = table is not None and ast.unparse(one.value.value) == ast.unparse(table)
        if same and ast.unparse(one.slice) == ast.unparse(node.slice) and enclosing_function(scene.file, one) is here:
            yield one.value


def _arguments(scene: Scene) -> Iterator[Change]:
    """Two arguments, or two operands of a matrix product, in the other order."""
    call = scene.node
    if isinstance(call, ast.BinOp) and isinstance(call.op, ast.MatMult):
        left, right = said(call.left, 400), said(call.right, 400)
        because = f"`{left} @ {right}` does not fit; the other order does"
        yield Change(call, f"{right} @ {left}", "swapped", _tell_apart(scene, [call.left, call.right]), because)
        chain = parents_of(scene.file).get(call)
        if isinstance(chain, ast.BinOp) and isinstance(chain.op, ast.MatMult) and chain.left is call:
            because = f"`{right}` and `{said(chain.right)}` are in the wrong order"
            sure = _tell_apart(scene, [call.right, chain.right])
            yield Change(chain, f"{left} @ {said(chain.right, 400)} @ {right}", "swapped", sure, because)
    if not isinstance(call, ast.Call) or any(isinstance(one, ast.Starred) for one in call.args):
        return
    texts = [said(one, 400) for one in call.args]
    words = [f"{one.arg}={said(one.value, 400)}" if one.arg else f"**{said(one.value, 400)}" for one in call.keywords]
    for first in range(min(len(texts) - 1, 3)):
        for second in range(first + 1, min(len(texts), 4)):
            swapped = list(texts)
            swapped[first], swapped[second] = texts[second], texts[first]
            sure = _tell_apart(scene, [call.args[first], call.args[second]])
            new = f"{said(call.func, 400)}({', '.join([*swapped, *words])})"
            yield Change(call, new, "swapped", sure, f"`{texts[first]}` and `{texts[second]}` are in the wrong order")


def _tell_apart(scene: Scene, nodes: list[ast.expr]) -> bool:
    """Whether the two are so unlike that only one order can be right: another type, dtype or number of axes."""
    marks: list[tuple[object, ...]] = []
    for node in nodes:
        value = scene.value(node)
        if isinstance(value, torch.Tensor):
            marks.append((str(value.dtype), tuple(value.shape)))
        elif _is_known(value):
            marks.append((type(value).__name__,))
        else:
            return False
    return marks[0] != marks[1]


def _numbers_from_text(scene: Scene) -> Iterator[Change]:
    """A text that should be a number."""
    for node, value in _names_and_items(scene):
        if type(value) is str and _is_number(value):
            maker = "int" if value.strip().lstrip("+-").isdigit() else "float"
            because = f"`{said(node)}` is the text {value!r}, not a number"
            yield Change(node, f"{maker}({said(node, 400)})", "number", True, because)


def _names_and_items(scene: Scene) -> Iterator[tuple[ast.expr, Any]]:
    for node in ast.walk(scene.node):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            value = scene.value(node)
            if _is_known(value):
                yield node, value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _inverted(scene: Scene) -> Iterator[Change]:
    """`1 - mask` and `-mask` of a mask."""
    node = scene.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        mask = scene.value(node.right)
        if isinstance(mask, torch.Tensor) and mask.dtype is torch.bool and isinstance(node.left, ast.Constant):
            new = f"~{said(node.right, 400)}"
            yield Change(node, new, "inverted", True, f"`{said(node.right)}` holds True and False: `~` inverts it")


def _dropped(scene: Scene) -> Iterator[Change]:
    """A call that takes a value out of a tensor where the tensor itself is needed: `.item()` under `vmap`."""
    node = scene.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args:
        return
    if node.func.attr in ("item", "tolist", "numpy") and "vmap" in str(scene.error):
        because = f"`.{node.func.attr}()` needs a value, and inside vmap there is none yet: keep the tensor"
        yield Change(node, said(node.func.value, 400), "dropped", True, because)


def _whole_shape(scene: Scene) -> Iterator[Change]:
    """`x.size()` or `x.shape` among numbers: one of its sizes is meant."""
    if not isinstance(scene.node, ast.Call) or len(scene.node.args) < 2:
        return
    for one in scene.node.args:
        sizes = isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "size"
        text = said(one, 400)
        if sizes and not one.args and not one.keywords:  # type: ignore[attr-defined]
            yield Change(one, f"{text[:-1]}0)", "one size", True, f"`{text}` is the whole shape, not one size")
        elif isinstance(one, ast.Attribute) and one.attr == "shape":
            yield Change(one, f"{text}[0]", "one size", True, f"`{text}` is the whole shape, not one size")


def _loop_end(scene: Scene) -> Iterator[Change]:
    """`x[i + k]` in a loop over `range(len(x))`: it has to end k earlier."""
    node = scene.node
    if not isinstance(scene.error, IndexError) or not isinstance(node, ast.Subscript):
        return
    index = node.slice
    if not isinstance(index, ast.BinOp) or not isinstance(index.op, ast.Add) or not isinstance(index.left, ast.Name):
        return
    for loop in parents_of(scene.file):
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and loop.target.id == index.left.id:
            end = _end_of_range(loop.iter)
            if end is not None and loop.lineno <= scene.link.tb_lineno <= (loop.end_lineno or 0):
                because = f"`{said(index)}` passes the end of `{said(node.value)}`: the loop has to stop earlier"
                yield Change(end, f"{said(end, 400)} - {said(index.right, 400)}", "loop end", True, because)


def _end_of_range(node: ast.expr) -> ast.expr | None:
    is_range = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    if not is_range or not node.args:  # type: ignore[attr-defined]
        return None
    return node.args[0 if len(node.args) == 1 else 1]  # type: ignore[attr-defined, no-any-return]


def _enumerated(scene: Scene) -> Iterator[Change]:
    """`for i, (x, y) in loader`: `enumerate` is missing; or it is not, and a name is."""
    node = scene.node
    loop = scene.statement if not isinstance(node, (ast.For, ast.comprehension)) else node
    if not isinstance(loop, ast.For) or not isinstance(scene.error, (ValueError, TypeError)):
        return
    if isinstance(loop.target, ast.Tuple) and len(loop.target.elts) == 2 and not _is_enumerated(loop.iter):
        because = "the loop has a counter, and `enumerate` is missing"
        yield Change(loop.iter, f"enumerate({said(loop.iter, 400)})", "counted", True, because)
    inner = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) and _is_enumerated(loop.iter) else loop.target
    if isinstance(inner, ast.Tuple) and "too many values" in str(scene.error):
        for extra in range(1, 3):
            names = [*(said(one) for one in inner.elts), *["_"] * extra]
            because = f"what the loop gets has {len(names)} parts, and it is unpacked into {len(inner.elts)} names"
            yield Change(inner, f"({', '.join(names)})", "unpacked", True, because)


def _is_enumerated(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "enumerate"


_FINDERS = (
    *(_missing_parentheses, _attribute, _key, _arguments, _numbers_from_text, _inverted, _dropped, _whole_shape),
    *(_loop_end, _enumerated),
)
