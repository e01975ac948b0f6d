"""The story of a tensor: the operations it came through, the nearest first, back to where it was made.

The trail knows it exactly. Where the trail was off it is read off the source: from the variable to the statement that
bound it, through the caller's arguments, through the loader into the dataset.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stepscope.common.syntax import said, tree_of
from stepscope.diagnose.crash.bindings import Binding, bindings_in, bound_before, node_site, scope_of
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import MISSING, Frame, several
from stepscope.diagnose.crash.loop_heads import is_loop_head
from stepscope.evidence.frame_values import Held, HeldLoader, HeldTensor, Kind
from stepscope.records.step import Site

MAKERS = frozenset(
    {
        *("tensor", "from_numpy", "as_tensor", "asarray", "frombuffer", "zeros", "ones", "full", "empty", "rand"),
        *("randn", "randint", "randperm", "arange", "linspace", "eye", "zeros_like", "ones_like", "full_like"),
        *("rand_like", "randn_like", "empty_like", "Tensor", "FloatTensor", "LongTensor", "DoubleTensor", "IntTensor"),
    }
)
_DEEPEST = 12


@dataclass(frozen=True)
class Step:
    """One operation in a tensor's past."""

    op: str
    site: Site | None
    text: str = ""


def story(crash: Crash, tensor: HeldTensor) -> list[Step]:
    """The tensor's past, nearest first; empty when nothing is known."""
    own = _own_story(crash, tensor)
    known = [step for step in own if not is_loop_head(step.site)]
    return known or _from_loaders(crash, tensor) or own


def _own_story(crash: Crash, tensor: HeldTensor) -> list[Step]:
    """Its past as the trail or its variable tells it, without guessing at the loaders."""
    origin = tensor.origin
    found: list[Step] = []
    for past in origin.ancestors(200) if origin is not None else ():
        if past.op and past.place is not None:
            found.append(Step(past.op, past.place.site))
        elif past.kind == "data":
            found += _from_loaders(crash, tensor)
    if found:
        return found
    for name, frame in names_of(crash, tensor):
        found = list(_Reader(crash).of_name(name, frame, frame.line, 0))
        if found:
            return found
    return []


def made_by(crash: Crash, tensor: HeldTensor, *ops: str) -> Step | None:
    """The nearest step of a tensor's past that is one of these operations."""
    return next((step for step in story(crash, tensor) if step.op in ops and step.site is not None), None)


def made_at(crash: Crash, value: Any) -> Site | None:
    """Where an object (a loader, an optimizer, a tensor) was made: the statement that bound it to its first name."""
    if isinstance(value, HeldLoader) and value.made is not None:
        return value.made.site
    for name, frame in names_of(crash, value):
        for scope in (scope_of(frame), tree_of(frame.file)):
            found = None if scope is None else bindings_in(frame.file, scope, name)
            if found:
                made = [binding for binding in found if isinstance(binding.value, ast.Call)]
                return (made or found)[0].site
    return None


def names_of(crash: Crash, value: Any) -> Iterator[tuple[str, Frame]]:
    """The variables of the user's frames that hold this very object."""
    for name, held, frame in crash.values():
        if held is value:
            yield name, frame


class _Reader:
    """Reads a story off the source; keeps to a budget, for code may go round in circles."""

    def __init__(self, crash: Crash) -> None:
        self.crash = crash
        self.seen: set[tuple[str, str, int]] = set()

    def of_name(self, name: str, frame: Frame, line: int, depth: int) -> Iterator[Step]:
        scope = scope_of(frame)
        if scope is None or depth > _DEEPEST:
            return
        binding = bound_before(frame.file, scope, name, line)
        tree = tree_of(frame.file)
        if binding is None and name in frame.arguments:
            yield from self._of_argument(name, frame, depth)
            return
        if binding is None and tree is not None and name not in frame.locals:
            binding = bound_before(frame.file, tree, name, 10**9)
        if binding is None or (frame.file, name, binding.line) in self.seen:
            return
        self.seen.add((frame.file, name, binding.line))
        yield from self._of_binding(binding, frame, depth)

    def _of_binding(self, binding: Binding, frame: Frame, depth: int) -> Iterator[Step]:
        if isinstance(binding.statement, (ast.For, ast.AsyncFor)):
            for part in ast.walk(binding.statement.iter):
                value = frame.value_of(part) if isinstance(part, (ast.Name, ast.Attribute)) else MISSING
                if isinstance(value, HeldLoader):
                    yield from dataset_steps(self.crash, value.dataset)
                    return
        if binding.value is not None:
            yield from self.of_expression(binding.value, frame, binding.line, binding.file, depth)

    def of_expression(self, node: ast.expr, frame: Frame, line: int, file: str, depth: int) -> Iterator[Step]:
        later: list[str] = []
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                op = part.func.attr if isinstance(part.func, ast.Attribute) else said(part.func)
                yield Step(op, node_site(file, part), said(part))
            elif isinstance(part, ast.BinOp):
                yield Step(type(part.op).__name__.lower(), node_site(file, part), said(part))
            elif isinstance(part, ast.Attribute) and part.attr == "data":
                yield Step("data", node_site(file, part), said(part))
            elif isinstance(part, ast.Name):
                later.append(part.id)
        for name in dict.fromkeys(later):
            if isinstance(frame.locals.get(name, frame.globals.get(name)), HeldTensor):
                yield from self.of_name(name, frame, line, depth + 1)

    def _of_argument(self, name: str, frame: Frame, depth: int) -> Iterator[Step]:
        caller = self.crash.frame_before(frame)
        call = None if caller is None else caller.running
        if caller is None or not isinstance(call, ast.Call):
            return
        names = frame.arguments
        position = names.index(name) - (1 if names[0] == "self" else 0)
        given = next((word.value for word in call.keywords if word.arg == name), None)
        if given is None and 0 <= position < len(call.args):
            given = call.args[position]
        if given is not None:
            if isinstance(given, ast.Name):
                yield from self.of_name(given.id, caller, caller.line, depth + 1)
            else:
                yield from self.of_expression(given, caller, caller.line, caller.file, depth + 1)


def _from_loaders(crash: Crash, tensor: HeldTensor) -> list[Step]:
    for dataset in crash.datasets:
        found = list(dataset_steps(crash, dataset, tensor))
        if found:
            return found
    return [] if crash.datasets else _from_delivery(crash, tensor)


def _from_delivery(crash: Crash, tensor: HeldTensor) -> list[Step]:
    """Of a loader that no variable holds, `for x, y in DataLoader(...)`: by what the watch has noted of its dataset."""
    past = () if tensor.origin is None else tensor.origin.ancestors(200)
    data = next((one.loader.data for one in past if one.loader is not None), None)
    place = None if data is None else data.methods.get("__getitem__") or data.methods.get("__iter__")
    return [] if place is None else list(_of_class(place.file, place.line, _position(crash, tensor)))


def dataset_steps(crash: Crash, dataset: Any, tensor: HeldTensor | None = None) -> Iterator[Step]:
    """Where a dataset's samples are made: its tensors' own past, or its `__getitem__` and `__init__`."""
    while isinstance(dataset, Held) and dataset.is_a("Subset"):
        dataset = dataset.attributes.get("dataset")
    if not isinstance(dataset, Held):
        return
    if dataset.is_a("TensorDataset"):
        for held in tensors_of(dataset):
            if tensor is None or (held.dtype == tensor.dtype and held.shape[1:] == tensor.shape[1:]):
                yield from _own_story(crash, held)
        return
    alike = [held for held in dataset.attributes.values() if isinstance(held, HeldTensor) and tensor is not None]
    alike = [held for held in alike if tensor is not None and held.dtype == tensor.dtype]
    fitting = [held for held in alike if tensor is not None and held.shape[1:] == tensor.shape[1:]]
    for held in fitting or alike:
        yield from _own_story(crash, held)
    yield from _of_methods(dataset.kind, None if tensor is None else _position(crash, tensor))


def _position(crash: Crash, tensor: HeldTensor) -> int | None:
    """Which part of a batch a tensor is, by the names that the training loop unpacks it into."""
    for name, frame in names_of(crash, tensor):
        scope = scope_of(frame)
        loops = [node for node in ast.walk(scope) if isinstance(node, ast.For)] if scope is not None else []
        targets = [node for loop in loops for node in ast.walk(loop.target) if isinstance(node, ast.Tuple)]
        for target in targets:
            names = [one.id for one in target.elts if isinstance(one, ast.Name)]
            if name in names and len(names) == len(target.elts):
                return names.index(name)
    return None


def held_in(dataset: Any) -> list[HeldTensor]:
    """All tensors a dataset holds: of a TensorDataset its parts, of one of the user's own its attributes."""
    while isinstance(dataset, Held) and dataset.is_a("Subset"):
        dataset = dataset.attributes.get("dataset")
    if not isinstance(dataset, Held):
        return []
    own = [one for one in dataset.attributes.values() if isinstance(one, HeldTensor)]
    return own + tensors_of(dataset)


def tensors_of(dataset: Any) -> list[HeldTensor]:
    """What a dataset holds under the name `tensors`."""
    held = dataset.attributes.get("tensors") if isinstance(dataset, Held) else None
    return [one for one in several(held) or () if isinstance(one, HeldTensor)]


def _of_methods(kind: Kind, position: int | None = None) -> Iterator[Step]:
    """The calls in the methods that make a sample; of one part of it, where the position of that is known."""
    code = kind.methods.get("__getitem__") or kind.methods.get("__iter__")
    if code is not None and code.own:
        yield from _of_class(code.file, code.first_line, position)


def _of_class(file: str, line: int, position: int | None) -> Iterator[Step]:
    """The same of the class that has a method at this line."""
    classes = [node for node in ast.walk(tree_of(file) or ast.Module([], [])) if isinstance(node, ast.ClassDef)]
    holder = next((n for n in classes if n.lineno <= line <= (n.end_lineno or 0)), None)
    methods = {n.name: n for n in (holder.body if holder else []) if isinstance(n, ast.FunctionDef)}
    for name in ("__getitem__", "__iter__", "__init__"):
        nodes = list(_nodes_of_part(methods[name], position)) if name in methods else []
        if name == "__getitem__" and not any(isinstance(node, (ast.Call, ast.Return)) for node in nodes):
            bound = [node.value for node in nodes if isinstance(node, ast.Assign)]
            yield from (Step("return", node_site(file, value), said(value)) for value in bound[:1])
        for node in nodes:
            if isinstance(node, ast.Call):
                op = node.func.attr if isinstance(node.func, ast.Attribute) else said(node.func)
                yield Step(op, node_site(file, node), said(node))
            elif isinstance(node, ast.Return) and name == "__getitem__":
                yield Step("return", node_site(file, node), said(node))


def _nodes_of_part(method: ast.FunctionDef, position: int | None) -> Iterator[ast.AST]:
    """What a method does for one part of the tuple that it returns; all it does where that cannot be told."""
    returned = [node for node in ast.walk(method) if isinstance(node, ast.Return)]
    value = returned[0].value if len(returned) == 1 else None
    if position is None or not isinstance(value, ast.Tuple) or position >= len(value.elts):
        yield from ast.walk(method)
        return
    waiting: list[ast.AST] = [value.elts[position]]
    followed: set[str] = set()
    while waiting:
        for node in ast.walk(waiting.pop(0)):
            yield node
            if isinstance(node, ast.Name) and node.id not in followed:
                followed.add(node.id)
                waiting += [one for one in ast.walk(method) if isinstance(one, ast.Assign) and _binds(one, node.id)]


def _binds(statement: ast.Assign, name: str) -> bool:
    bound = (node for target in statement.targets for node in ast.walk(target))
    return any(isinstance(node, ast.Name) and node.id == name for node in bound)
