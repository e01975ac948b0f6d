"""Follows what is taken from models, saved, read from files and put back, and what of it was the same memory."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import torch

from stepscope import fence
from stepscope.events import caller
from stepscope.evidence.checkpoints import Checkpoints, FileRead, FileWritten, Loading, Taken
from stepscope.record.observers.module_records import live
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.record.observers.watcher import Watcher

_MOST = 200
_SAMPLE = 4


class CheckpointObserver(Observer, Checkpoints):
    def __init__(self, watcher: Watcher) -> None:
        Checkpoints.__init__(self)
        super().__init__(watcher)
        self._taken: dict[int, tuple[Any, Taken]] = {}
        self._from_file: dict[int, tuple[Any, FileRead]] = {}
        self._depth = 0

    def install(self, installed: Installed) -> None:
        who = "following load_state_dict"
        installed.wrap("torch.nn:Module.state_dict", self._taking)
        installed.wrap("torch.nn:Module.load_state_dict", self._loading_through)
        installed.after("torch.optim:Optimizer.load_state_dict", who, self._optimizer_loaded)
        installed.before("torch:save", "following torch.save", self._writes)
        installed.after("torch:load", "following torch.load", self._read)

    def _taking(self, take: Any) -> Any:
        observer = self

        @wraps(take)
        def state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
            if observer._depth or not observer.watcher.listens():
                return take(self, *args, **kwargs)
            observer._depth += 1
            try:
                result = take(self, *args, **kwargs)
            finally:
                observer._depth -= 1
            observer._took(self, result, caller())
            return result

        return state_dict

    def _loading_through(self, load: Any) -> Any:
        observer = self

        @wraps(load)
        def load_state_dict(self: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
            noted = observer._loading(self, state_dict, caller())
            result = load(self, state_dict, *args, **kwargs)
            observer._loaded(noted, self, state_dict, result)
            return result

        return load_state_dict

    # Modules

    @fence.fenced("following state_dict")
    def _took(self, module: Any, result: Any, frame: Any) -> None:
        taken = Taken(self.watcher.module_records.of(module), own_place(frame), self.watcher.step)
        for tensor in list(_tensors(result))[:_SAMPLE]:
            self._taken[id(tensor)] = (weakref.ref(tensor), taken)
        if len(self._taken) > 20 * _MOST:
            self._taken = {key: known for key, known in self._taken.items() if known[0]() is not None}

    @fence.fenced("following load_state_dict")
    def _loading(self, module: Any, given: Any, frame: Any) -> Loading | None:
        if not self.watcher.listens() or not isinstance(given, Mapping) or len(self.loadings) >= _MOST:
            return None
        loading = Loading(self.watcher.module_records.of(module), own_place(frame), self.watcher.step)
        tensors = list(_tensors(given))
        loading.given = len(given)
        mine = {t.data_ptr() for t in (*module.parameters(), *module.buffers()) if t.numel()}
        loading.own = sum(t.data_ptr() in mine for t in tensors if t.numel())
        for tensor in tensors:
            loading.taken = loading.taken or _known(self._taken, tensor)
            loading.file = loading.file or _known(self._from_file, tensor)
        return loading

    @fence.fenced("following load_state_dict")
    def _loaded(self, loading: Loading | None, module: Any, given: Any, result: Any) -> None:
        if loading is None:
            return
        loading.missing = list(getattr(result, "missing_keys", []))
        loading.unexpected = list(getattr(result, "unexpected_keys", []))
        if loading.unexpected and loading.missing:
            shapes = {name: tuple(t.shape) for name, t in (*module.named_parameters(), *module.named_buffers())}
            loading.shapes_fit = _renamable(given, loading.unexpected, {n: shapes.get(n) for n in loading.missing})
        self.loadings.append(loading)

    # Optimizers and files

    def _optimizer_loaded(self, frame: Any, result: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        if self.watcher.listens():
            self.optimizer_loads.append((self.watcher.optimizers.number_of(optimizer), self.watcher.step))

    def _writes(self, frame: Any, obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        if not self.watcher.listens() or len(self.writes) >= _MOST:
            return
        written = FileWritten(str(f), own_place(frame), self.watcher.step)
        if isinstance(f, str | os.PathLike):
            self.watcher.distributed.saves(os.fspath(f), written.place)
        written.modules = [type(value).__name__ for value in _parts(obj) if isinstance(value, torch.nn.Module)]
        for tensor in _tensors(obj):
            taken = _known(self._taken, tensor)
            if taken is not None and taken.step < self.watcher.step and _is_memory_of(live(taken.module), tensor):
                written.stale = taken
        self.writes.append(written)

    def _read(self, frame: Any, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        if not self.watcher.listens() or len(self.reads) >= _MOST:
            return
        read = FileRead(str(f), own_place(frame), self.watcher.step)
        read.keys = [str(key) for key in result][:50] if isinstance(result, Mapping) else []
        read.optimizers = sum(_is_optimizer_state(value) for value in _parts(result))
        read.schedulers = [value["last_epoch"] for value in _parts(result) if _is_scheduler_state(value)]
        for tensor in list(_tensors(result))[: 50 * _SAMPLE]:
            self._from_file[id(tensor)] = (weakref.ref(tensor), read)
        self.reads.append(read)


def _parts(value: Any, depth: int = 0) -> Iterator[Any]:
    """A value and what it holds, two levels down."""
    yield value
    if depth < 2 and isinstance(value, Mapping):
        for inner in list(value.values())[:500]:
            yield from _parts(inner, depth + 1)
    elif depth < 2 and isinstance(value, (list, tuple)):
        for inner in value[:50]:
            yield from _parts(inner, depth + 1)


def _tensors(value: Any) -> Iterator[Any]:
    return (part for part in _parts(value) if type(part) in (torch.Tensor, torch.nn.Parameter))


def _is_optimizer_state(value: Any) -> bool:
    return isinstance(value, Mapping) and "param_groups" in value and "state" in value


def _is_scheduler_state(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("last_epoch"), int)
        and ("_last_lr" in value or "base_lrs" in value or "_step_count" in value)
    )


def _is_memory_of(module: Any, tensor: Any) -> bool:
    return module is not None and any(p.data_ptr() == tensor.data_ptr() for p in module.parameters() if p.numel())


def _known(where: dict[int, tuple[Any, Any]], tensor: Any) -> Any:
    found = where.get(id(tensor))
    return found[1] if found is not None and found[0]() is tensor else None


def _renamable(given: Any, unexpected: list[str], missing: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs of names that differ by a prefix only, and have the same shape."""
    found = []
    for name in unexpected[:500]:
        shape = tuple(getattr(given.get(name), "shape", ()))
        for other, wanted in missing.items():
            if wanted == shape and (name.endswith("." + other) or other.endswith("." + name)):
                found.append((name, other))
                break
    return found
