"""Finding the stages inside a dataset: its transforms, and the parts of composed ones, each with a clock around it.

The clocks are in place only while a batch is fetched that is timed in detail, and only in the attributes of the dataset
(and of its composed transforms) that hold the callables; the classes of the user are never touched.
"""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable, Iterator, MutableMapping
from operator import itemgetter
from time import perf_counter_ns
from typing import Any
from weakref import ref

from stepscope.events.objects import lend_entry
from stepscope.profile.data.probe import Probe

_DEPTH = 4
_MOST = 64
_NO_STAGES = (type, str, bytes)


class _Timed:
    """A callable with a clock; to whoever looks at it, it is the callable: its class, its attributes, its copies."""

    __slots__ = ("_call", "_name", "_place", "_probe")

    def __init__(self, call: Any, name: str, place: str, probe: Probe) -> None:
        for slot, value in zip(self.__slots__, (call, name, place, probe), strict=True):
            object.__setattr__(self, slot, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        start = perf_counter_ns()
        try:
            return self._call(*args, **kwargs)
        finally:
            self._probe.note(self._name, start, perf_counter_ns(), place=self._place)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._call)

    @property
    def __wrapped__(self) -> Any:
        return self._call

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_call"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._call, name, value)

    def __bool__(self) -> bool:
        return bool(self._call)

    def __repr__(self) -> str:
        return repr(self._call)

    def __eq__(self, other: object) -> bool:
        return bool(self._call == other)

    def __hash__(self) -> int:
        return hash(self._call)

    def __copy__(self) -> Any:
        return copy.copy(self._call)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(self._call, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return itemgetter(0), ((self._call,),)


class Stages:
    """The clocks of one dataset."""

    def __init__(self, dataset: Any, probe: Probe) -> None:
        self.probe = probe
        self._dataset = _weakly(dataset)
        self._places: list[tuple[MutableMapping[Any, Any], Any, Any, Any]] = []
        """(where, key, its value, its value while it is timed)"""
        self._give_back: list[Callable[[], None]] = []
        self._seen: set[int] = set()
        self.read_at = _read_at(dataset)
        """Where the dataset's own code begins."""
        self._find(dataset, _DEPTH)

    @property
    def count(self) -> int:
        """How many events a sample makes, at most about."""
        return 1 + len(self._places)

    def put_in(self) -> None:
        if any(where.get(key) is not now for where, key, now, _ in self._places):  # the dataset has other transforms
            self._places, self._seen = [], set()
            self._find(self._dataset(), _DEPTH)
        self._give_back = [lend_entry(where, key, timed) for where, key, _, timed in self._places]

    def take_out(self) -> None:
        while self._give_back:
            self._give_back.pop()()

    # -- looking --------------------------------------------------------------------------------------------------

    def _find(self, owner: Any, depth: int) -> None:
        held = getattr(owner, "__dict__", None)
        if depth == 0 or not isinstance(held, dict) or id(owner) in self._seen or len(self._places) >= _MOST:
            return
        self._seen.add(id(owner))
        for key, value in list(held.items()):
            if _is_dataset(value) or key in ("dataset", "base"):
                self._find(value, depth - 1)
            elif key == "datasets" and isinstance(value, list | tuple):
                for one in value[:8]:
                    self._find(one, depth - 1)
            elif _is_stage(key, value):
                self._stand(held, key, value)
                self._parts(value, depth - 1)

    def _parts(self, transform: Any, depth: int) -> None:
        """What a composed transform is made of."""
        held = getattr(transform, "__dict__", None)
        if depth <= 0 or not isinstance(held, dict) or id(transform) in self._seen:
            return
        self._seen.add(id(transform))
        self._composed(held, depth)
        for key in ("transform", "target_transform"):
            value = held.get(key)
            if callable(value) and not isinstance(value, _NO_STAGES):
                self._stand(held, key, value)
                self._parts(value, depth - 1)
        modules = held.get("_modules")
        if isinstance(modules, dict) and type(transform).__name__ == "Sequential":
            for key, value in list(modules.items()):
                self._stand(modules, key, value)
                self._parts(value, depth - 1)

    def _composed(self, held: dict[str, Any], depth: int) -> None:
        """The parts of torchvision's `Compose` and its like."""
        parts = held.get("transforms")
        if not isinstance(parts, list | tuple) or not parts or not all(callable(part) for part in parts):
            return
        timed = [part if _is_container(part) else self._timed(part) for part in parts]
        self._places.append((held, "transforms", parts, tuple(timed) if type(parts) is tuple else timed))
        for part in parts:
            self._parts(part, depth - 1)

    def _stand(self, where: MutableMapping[Any, Any], key: Any, value: Any) -> None:
        if len(self._places) < _MOST and not _is_container(value):
            self._places.append((where, key, value, self._timed(value)))

    def _timed(self, value: Any) -> _Timed:
        return _Timed(value, f"transform {name_of(value)}", place_of_callable(value), self.probe)


def stages_of(dataset: Any, probe: Probe) -> Stages:
    """Those of a dataset, looked for when it is first seen."""
    try:
        known = probe.stages.get(dataset)
        if known is None:
            known = probe.stages[dataset] = Stages(dataset, probe)
    except TypeError:  # one that cannot be hashed or weakly held: a list
        known = Stages(dataset, probe)
    return known


def _weakly(value: Any) -> Any:
    try:
        return ref(value)
    except TypeError:
        return lambda: value


def _read_at(dataset: Any) -> str:
    """Where the innermost dataset reads: `Subset` and the like hold another."""
    for _ in range(_DEPTH):
        names = ("__iter__",) if hasattr(type(dataset), "__iter__") else ("__getitems__", "__getitem__")
        for name in names:
            place = place_of_code(getattr(_unwrapped(getattr(type(dataset), name, None)), "__code__", None))
            if place:
                return place
        dataset = getattr(dataset, "dataset", None)
    return ""


def _is_dataset(value: Any) -> bool:
    return any(base.__name__ in ("Dataset", "IterableDataset") for base in type(value).__mro__)


def _is_stage(key: str, value: Any) -> bool:
    """A callable that a dataset holds: its transforms, its image loader, its tokenizer."""
    return callable(value) and not key.startswith("__") and not isinstance(value, _NO_STAGES)


def _is_container(value: Any) -> bool:
    """One that is iterated or indexed too: nothing can replace that; its parts are timed where they are known."""
    return any(hasattr(type(value), name) for name in ("__iter__", "__getitem__", "__enter__"))


def _unwrapped(value: Any) -> Any:
    while isinstance(value, functools.partial):
        value = value.func
    return getattr(value, "__func__", value)


def name_of(value: Any) -> str:
    """How a stage is called: a function by its name, an object by its class.

    >>> name_of(len), name_of(functools.partial(max, 3)), name_of(Probe.flush)
    ('len', 'max', 'Probe.flush')
    """
    value = _unwrapped(value)
    written_in_c = "__name__" if not hasattr(value, "__code__") else "__qualname__"
    name = getattr(value, written_in_c, None) or type(value).__qualname__
    return str(name).replace("<locals>.", "").replace("<lambda>", "lambda")


def place_of_callable(value: Any) -> str:
    """`data.py:51`, where it is written; nothing for what is in a library or written in C."""
    value = _unwrapped(value)
    code = getattr(value, "__code__", None)
    for name in () if code is not None else ("forward", "__call__", "transform"):
        method = _unwrapped(getattr(type(value), name, None))
        code = getattr(getattr(method, "__wrapped__", method), "__code__", None)
        if code is not None and not (name == "__call__" and "torch" in code.co_filename and hasattr(value, "forward")):
            break
    return place_of_code(code)


def place_of_code(code: Any) -> str:
    from stepscope.record.observers.own_frames import is_own

    return f"{shown_path(code.co_filename)}:{code.co_firstlineno}" if code is not None and is_own(code) else ""


def shown_path(path: str) -> str:
    """Relative to where the script was started, when it lies below."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return path if relative.startswith("..") else relative


def sample_times(samples: Iterator[Any], place: str, probe: Probe) -> Iterator[Any]:
    """The samples of an iterable dataset, each timed."""
    while True:
        start = perf_counter_ns()
        try:
            sample = next(samples)
        except StopIteration:
            return
        probe.note("sample", start, perf_counter_ns(), place=place)
        yield sample
