"""The tape: what the script did between its models and its `backward()`, kept so that it can be done again on copies.

Only `stepscope check` and `stepscope data` use it. A node is a call of a root module, or an op on what one gave back;
everything else (the batch, masks, numbers) is a constant. So the script's own loss is replayed, whatever its form.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common.units import bytes_text
from stepscope.events.unpatched_torch import raw
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.observer import Observer
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.steps import Backward, Step
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

MOST_BYTES = 256 << 20
_MOST_NODES = 4000
_MOST_TAPES = 4
_LAST_STEP = 3
_NO_VALUES = "a tensor on the way to the loss has no values of its own (vmap, nested, a subclass)"


@dataclass(frozen=True)
class Slot:
    """The place of a tensor that a node makes."""

    number: int


@dataclass(frozen=True)
class Constant:
    """A tensor that no node makes, as it was."""

    tensor: Any


@dataclass(frozen=True)
class Leaf:
    """A parameter used outside a module."""

    ref: Any


@dataclass
class Node:
    """One call: `function` of an op, or a root module; `makes` are the slots of its tensors in order."""

    function: Callable[..., Any] | None
    module: Any
    args: Any
    kwargs: Any
    name: str
    place: Place | None = None
    training: bool = False
    makes: list[int] = field(default_factory=list)
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    """Of the tensors among its arguments."""
    value: float | None = None
    """What it gave, where that is one number on a CPU."""
    writes_first: bool = False
    """An op in place that gives nothing back: its first argument is what it makes."""
    kept: Any = None
    """The module itself where it is a loss function of torch's, which scripts make and forget in one line."""


@dataclass
class Tape:
    """The way to one loss, in order."""

    nodes: list[Node]
    loss: int
    """The slot of the loss."""
    value: float | None
    place: Place | None
    """Where `backward()` was called."""
    step: int

    @property
    def calls(self) -> list[Node]:
        """The calls of root modules."""
        return [node for node in self.nodes if node.function is None]

    @property
    def modules(self) -> list[Any]:
        """The root modules, each once; None for one that is gone."""
        return [ref() for ref in dict.fromkeys(node.module for node in self.calls)]

    @property
    def model_call(self) -> Node | None:
        """The first call of a module with parameters: the model itself, and not its loss."""
        with_parameters = (
            node for node in self.calls if (m := node.module()) is not None and any(True for _ in m.parameters())
        )
        return next(with_parameters, None)


class Unreplayable(Exception):
    """Why a tape cannot be made."""


class Tapes(Observer):
    """The first tape of each place where `backward()` is called, from the first steps."""

    everywhere = False

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.all: list[Tape] = []
        self.problem: str | None = None
        """Why there is none, where that is known."""
        self.samples: int | None = None
        """How many samples the first batch of a loader has."""
        self._reset()

    def _reset(self) -> None:
        self._nodes: list[Node] = []
        self._slots: dict[int, tuple[Any, int]] = {}
        self._constants: dict[int, tuple[Any, int, Constant]] = {}
        self._count = self._bytes = 0
        self._open: Node | None = None
        self._broken: str | None = None
        """Why the last node that could not be kept was not; what is made of it cannot be kept either."""

    @property
    def _is_over(self) -> bool:
        return self.watcher.step > _LAST_STEP or len(self.all) >= _MOST_TAPES

    # What happens

    def batch(self, loader: Loader, batch: Any) -> None:
        if self.samples is None:
            tensors = [tensor for tensor in tensors_in(batch) if tensor.dim()]
            self.samples = tensors[0].shape[0] if tensors else None

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        self._open = None
        if self._is_over or not visit.grad:
            return
        node = Node(None, weakref.ref(module), None, None, visit.type, visit.place, visit.training)
        if type(module).__module__ == torch.nn.modules.loss.__name__:
            node.kept = module
        if self._described(node, args, kwargs):
            self._open = node

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        node, self._open = self._open, None
        if node is not None and node.module() is module:
            self._add(node, tensors_in(result))

    def op(self, call: Call) -> None:
        if call.visit is not None or not call.grad or self._is_over:
            return
        if not any(tensor.requires_grad or self._slot_of(tensor) is not None for tensor in call.inputs):
            return
        node = Node(call.function, None, None, None, call.name, call.place)
        if not self._described(node, call.args, call.kwargs):
            return
        outputs = call.outputs
        if not outputs and call.name.endswith("_"):
            node.writes_first, outputs = True, call.inputs[:1]
        if outputs:
            self._add(node, outputs)

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        if self._is_over or not backward.accumulates or len(roots) != 1:
            return
        loss = self._slot_of(roots[0])
        if loss is None:
            self.problem = self._broken or "the loss is made by operations that could not be followed"
        elif not any(tape.place == backward.place for tape in self.all):
            self.all.append(Tape(needed(self._nodes, loss), loss, backward.loss, backward.place, self.watcher.step))

    def step_done(self, step: Step, optimizer: Any) -> None:
        if self._is_over:  # until then what one optimizer's step has used may be used by the next: a GAN's fake images
            self._reset()

    # How it is kept

    def _described(self, node: Node, args: Any, kwargs: Any) -> bool:
        try:
            node.args, node.kwargs = self._template(args), self._template(kwargs or {})
            node.shapes = [tuple(tensor.shape) for tensor in tensors_in((args, kwargs))]
        except Unreplayable as why:
            self._broken = str(why)
            return False
        return True

    def _add(self, node: Node, outputs: list[Any]) -> None:
        if len(self._nodes) >= _MOST_NODES:
            self._broken = f"more than {_MOST_NODES} ops lie between the model and the loss"
            return
        if not all(map(_can_be_kept, outputs)):
            self._broken = _NO_VALUES
            return
        for tensor in outputs:
            self._slots[id(tensor)] = (weakref.ref(tensor), self._count)
            node.makes.append(self._count)
            self._count += 1
        if len(outputs) == 1 and outputs[0].numel() == 1 and outputs[0].device.type == "cpu":
            node.value = float(raw.item(raw.detach(outputs[0])))
        self._nodes.append(node)

    def _slot_of(self, tensor: Any) -> int | None:
        found = self._slots.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def _template(self, value: Any, depth: int = 0) -> Any:
        if isinstance(value, torch.Tensor):
            return self._stand_in(value)
        if type(value) in (list, tuple) and depth < 6:
            return type(value)(self._template(item, depth + 1) for item in value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            made: Any = type(value)
            return made._make(self._template(item, depth + 1) for item in value)  # not through its __new__
        if type(value) is dict and depth < 6:
            return {key: self._template(item, depth + 1) for key, item in value.items()}
        if isinstance(value, slice):
            return slice(*(self._template(part, depth + 1) for part in (value.start, value.stop, value.step)))
        if tensors_in(value):
            raise Unreplayable(f"the model is called with a {type(value).__name__}, which cannot be copied here")
        return value

    def _stand_in(self, tensor: Any) -> Any:
        if not _can_be_kept(tensor):
            raise Unreplayable(_NO_VALUES)
        slot = self._slot_of(tensor)
        if slot is not None:
            return Slot(slot)
        if tensor.is_leaf and tensor.requires_grad:
            return Leaf(weakref.ref(tensor))
        if tensor.requires_grad:
            raise Unreplayable("the loss is made by operations that could not be followed")
        known = self._constants.get(id(tensor))
        if known is not None and known[0]() is tensor and known[1] == _version(tensor):
            return known[2]
        self._bytes += tensor.numel() * tensor.element_size()
        if self._bytes > MOST_BYTES:
            raise Unreplayable(f"the batch is larger than {bytes_text(MOST_BYTES)}")
        constant = Constant(raw.clone(raw.detach(tensor)))
        self._constants[id(tensor)] = (weakref.ref(tensor), _version(tensor), constant)
        return constant


def _can_be_kept(tensor: Any) -> bool:
    return not tensor.is_nested and not is_transformed(tensor)


def _version(tensor: Any) -> int:
    return -1 if tensor.is_inference() else tensor._version


def needed(nodes: list[Node], loss: int) -> list[Node]:
    """Those that the loss depends on, in order."""
    wanted, kept = {loss}, []
    for node in reversed(nodes):
        if wanted.intersection(node.makes):
            kept.append(node)
            filled((node.args, node.kwargs), lambda part: wanted.add(part.number) if isinstance(part, Slot) else None)
    return kept[::-1]


def filled(template: Any, fill: Callable[[Any], Any]) -> Any:
    """A template with a value for each slot, constant and leaf."""
    if isinstance(template, Slot | Constant | Leaf):
        return fill(template)
    if type(template) in (list, tuple):
        return type(template)(filled(item, fill) for item in template)
    if isinstance(template, tuple) and hasattr(template, "_fields"):
        made: Any = type(template)
        return made._make(filled(item, fill) for item in template)
    if type(template) is dict:
        return {key: filled(item, fill) for key, item in template.items()}
    if isinstance(template, slice):
        return slice(*(filled(part, fill) for part in (template.start, template.stop, template.step)))
    return template
