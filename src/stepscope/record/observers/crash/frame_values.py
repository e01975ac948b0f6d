"""Describing what variables hold: breadth first, what is nearest to a frame first, within a limit.

Looking never calls the user's code: attributes are read from dictionaries, items through the methods of `list`, `tuple`
and `dict`, never through properties, `__getattr__` or `__getitem__` of an unknown class.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import DataLoader, Dataset

from stepscope import fence
from stepscope.evidence.frame_values import Held, HeldItems, HeldLoader, HeldOptimizer, HeldTensor, ModuleSeen
from stepscope.record.observers.crash.kinds import code_of, held_by, kind_of
from stepscope.record.observers.crash.tensors import described, extremes, graph_behind, parameters_behind
from stepscope.record.observers.own_frames import is_own_file

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module
    from stepscope.record.observers.watcher import Watcher

LEFT_OUT: Any = object()
"""A class, or a module of an installed package: nothing of a crash can be read off it."""
_MOST = 20_000
_DEEPEST = 3
_MOST_ITEMS, _MOST_INNER = 1024, 64
_RANGED_ITEMS = 4
_MOST_COUNTED = 60_000_000
_CONTAINERS = (list, tuple, dict)


class Describer:
    """Records of live objects, one for each."""

    def __init__(self, watcher: Watcher, wanted: set[str]) -> None:
        self._watcher = watcher
        self._wanted = wanted
        """The attributes the source speaks of."""
        self.modules: dict[Module, ModuleSeen] = {}
        self.keys: set[str] = set()
        """The words that dicts have as keys."""
        self._known: dict[int, Any] = {}
        self._kept: list[Any] = []
        self._waiting: deque[Callable[[], None]] = deque()
        self._counted = 0
        self._live: dict[int, torch.Tensor] = {}

    def of(self, value: Any, depth: int = 0, *, whole: bool = False, ranged: bool = True) -> Any:
        """What stands for a value. `whole`: with all attributes, not only those the source speaks of."""
        if value is None or type(value) in (bool, int, float):
            return value
        if isinstance(value, torch.Tensor):
            return self._tensor(value, depth, ranged)
        if isinstance(value, torch.nn.Module) and "_modules" in held_by(value):
            return self.module(value, depth)
        if isinstance(value, type) or (isinstance(value, ModuleType) and not _is_users(value)):
            return LEFT_OUT
        return self._object(value, depth, whole)

    def finish(self) -> None:
        """Describe what was left for later: attributes and items, nearest first."""
        while self._waiting:
            self._waiting.popleft()()

    def _keep(self, value: Any, record: Any) -> Any:
        self._known[id(value)] = record
        self._kept.append(value)
        return record

    def _tensor(self, tensor: torch.Tensor, depth: int, ranged: bool) -> Any:
        record = self._known.get(id(tensor))
        if record is None:
            if len(self._kept) >= _MOST:
                return LEFT_OUT
            record = described(tensor) or Held(kind_of(type(tensor)))
            self._keep(tensor, record)
            if isinstance(record, HeldTensor):
                self._past(tensor, record, depth)
        if ranged and isinstance(record, HeldTensor) and record.low is None and self._counted < _MOST_COUNTED:
            self._counted += tensor.numel() if tensor.device.type == "cpu" else 0
            record.low, record.high = extremes(tensor) or (None, None)
        return record

    def _past(self, tensor: torch.Tensor, record: HeldTensor, depth: int) -> None:
        record.origin = self._watcher.tensor_history.known(tensor)
        if record.has_graph and (record.origin is None or not record.origin.op):
            record.graph = graph_behind(tensor) or []
            record.sources = [self._watcher.module_records.parameter(one) for one in parameters_behind(tensor) or []]
        if record.has_grad and "grad" in self._wanted and depth < _DEEPEST:
            record.grad = self._tensor(tensor.grad, depth + 1, True)  # type: ignore[arg-type]

    def module(self, module: torch.nn.Module, depth: int = 0) -> Module:
        """The record of a module; its tree is described by `models.py`."""
        record = self._watcher.module_records.of(module)
        if record not in self.modules:
            self.modules[record] = ModuleSeen(record, kind_of(type(module)))
            self._kept.append(module)
        return record

    def _object(self, value: Any, depth: int, whole: bool) -> Any:
        record = self._known.get(id(value))
        if record is None:
            if len(self._kept) >= _MOST:
                return LEFT_OUT
            record = self._keep(value, _empty(value))
            self._waiting.append(lambda: self._fill(value, record, depth, whole))
        elif whole:
            self._waiting.append(lambda: self._fill(value, record, depth, whole))
        return record

    def _fill(self, value: Any, record: Held, depth: int, whole: bool) -> None:
        if isinstance(record, HeldItems):
            self._items(value, record, depth)
        elif isinstance(record, HeldLoader):
            self._loader(value, record, depth)
        elif isinstance(record, HeldOptimizer):
            record.shapes = _shapes_in(value) or []
        elif depth < _DEEPEST:
            self._attributes(value, record, depth, whole or isinstance(value, Dataset))

    def _attributes(self, value: Any, record: Held, depth: int, whole: bool) -> None:
        for name, held in list(held_by(value).items())[:2000]:
            if isinstance(name, str) and (whole or name in self._wanted) and name not in record.attributes:
                found = self.of(held, depth + 1, whole=whole and name == "dataset")
                if found is not LEFT_OUT:
                    record.attributes[name] = found

    def _items(self, value: Any, record: HeldItems, depth: int) -> None:
        most = _MOST_ITEMS if depth == 0 else _MOST_INNER
        if depth > _DEEPEST or record.items:
            return
        if isinstance(value, dict):
            pairs = [(key, item) for key, item in list(dict.items(value))[:most] if type(key) in (str, int)]
            record.keys = [key for key, _ in pairs]
            self.keys.update(key for key in record.keys if isinstance(key, str))
            items = [item for _, item in pairs]
        else:
            every = list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value)
            items = [item for item, _ in zip(every, range(most), strict=False)]
        for index, item in enumerate(items):
            found = self.of(item, depth + 1, ranged=depth < 2 and index < _RANGED_ITEMS)
            record.items.append(None if found is LEFT_OUT else found)

    def _loader(self, loader: Any, record: HeldLoader, depth: int) -> None:
        held = held_by(loader)
        record.batch_size = held.get("batch_size") if type(held.get("batch_size")) is int else None
        record.drop_last = bool(held.get("drop_last", False))
        record.workers = held.get("num_workers")
        record.samples = _length(held.get("sampler"))
        record.dataset = self.of(held.get("dataset"), min(depth, 1), whole=True)
        known = self._watcher.loaders.of(loader)
        record.made = None if known is None else known.made


def _empty(value: Any) -> Held:
    kind = kind_of(type(value))
    base: Any = next((base for base in _CONTAINERS if isinstance(value, base)), None)
    if base is not None:
        return HeldItems(kind, base.__len__(value))
    if isinstance(value, DataLoader):
        return HeldLoader(kind)
    if isinstance(value, torch.optim.Optimizer):
        return HeldOptimizer(kind)
    record = Held(kind)
    usual: Any = object.__getattribute__
    record.usual = isinstance(value, ModuleType) or type(value).__getattribute__ is usual
    if isinstance(value, (FunctionType, MethodType)):
        record.code = code_of(value)
    arrays: Any = getattr(sys.modules.get("numpy"), "ndarray", ())
    if isinstance(value, arrays):
        record.shape = tuple(value.shape)
    return record


def _is_users(module: ModuleType) -> bool:
    file = vars(module).get("__file__")
    return isinstance(file, str) and is_own_file(file)


@fence.fenced("reading the length of a dataset")
def _length(sampler: Any) -> int | None:
    try:
        return len(sampler)
    except (TypeError, NotImplementedError):  # of a stream nobody knows
        return None


@fence.fenced("reading the parameters of an optimizer")
def _shapes_in(optimizer: Any) -> list[tuple[int, ...]]:
    groups = held_by(optimizer).get("param_groups", ())  # none where its constructor has failed
    return [tuple(p.shape) for group in groups for p in group["params"]]
