"""Who is who among tensors: a number for each tensor object, versions for in-place writes, storages for views.

Nothing is kept alive: a tensor is known by its address and a weak reference, so an address that is used again is not
taken for the tensor that had it before. Two tensors share a storage number only when they were seen sharing memory
while both lived, for the same reason.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch

if TYPE_CHECKING:
    from stepscope.record.step_builder import OpDraft, Ref

_TENSOR_TYPES: dict[type, bool] = {}


def is_tensor_type(kind: type) -> bool:
    """Whether objects of this class are tensors, cached: `isinstance` would go through a slow metaclass."""
    known = _TENSOR_TYPES.get(kind)
    if known is None:
        known = _TENSOR_TYPES[kind] = issubclass(kind, torch.Tensor)
    return known


def know_as_tensor(kind: type) -> None:
    """Take objects of this class for tensors."""
    _TENSOR_TYPES[kind] = True


class Entry:
    """A tensor: its number, how to know it again, and what is written down about it when it is first seen.

    Fields that most tensors leave alone are defaults of the class, which keeps making one cheap.
    """

    layout: Any = None
    strides: Any = None
    storage = 0
    view_of: int | None = None
    grad_of: int | None = None
    name: str | None = None
    names: tuple[str, ...] = ()
    site: Any = None
    shape: Any = ()
    storage_key: int | None = None
    maker: OpDraft | None = None
    """Which op wrote the latest version, if a recorded one did."""

    def __init__(self, tensor: Any, number: int, kind: str, version: int) -> None:
        self.ref: Any = ref(tensor)
        self.number = number
        self.kind = kind
        self.version = version
        """The latest version whose writer is known (or the one it was first seen with)."""
        self.now = (number, version)
        """The tensor at that version. Every op that reads it shares this one tuple."""
        self.dtype = tensor.dtype
        self.device = tensor.device
        self.requires_grad = tensor.requires_grad
        try:
            self.storage_key = tensor.untyped_storage()._cdata
            self.shape = tensor.shape
            if not tensor.is_contiguous():
                self.strides = tensor.stride()
        except RuntimeError:  # sparse, nested, transformed: no storage, perhaps no shape
            self.storage_key = None
            _describe_unusual(self, tensor)

    @property
    def bytes(self) -> int:
        """What its elements take up, whether it owns them or not."""
        if self.storage_key is None:
            return 0
        return int(math.prod(self.shape)) * int(self.dtype.itemsize)


def _describe_unusual(entry: Entry, tensor: Any) -> None:
    entry.strides = None
    try:
        entry.layout = None if tensor.layout is torch.strided else tensor.layout
        entry.shape = tensor.shape
    except RuntimeError:
        entry.layout = "unknown"


class Tensors:
    """All tensors of one recording."""

    def __init__(self) -> None:
        self.all: list[Entry] = []
        self.names: dict[int, tuple[Any, str, tuple[str, ...]]] = {}
        """id -> (weak reference, kind, names) of parameters, buffers and optimizer state met before any op."""
        self.entries: dict[int, Entry] = {}
        self._storages: dict[int | None, Entry] = {}
        self._writers: dict[int, OpDraft] = {}
        self._counts: dict[int, int] = {}
        self._storage_count = 0
        self.unseen_writes = 0
        self.lives: list[Any] | None = None
        """When somebody follows memory: storages as they are met and freed, and ops as they end, in order."""

    def known(self, tensor: Any) -> Entry | None:
        entry = self.entries.get(id(tensor))
        if entry is not None and entry.ref() is tensor:
            return entry
        return None

    def version(self, tensor: Any) -> int:
        """`_version`, or our own count for inference tensors, which have none."""
        try:
            return tensor._version  # type: ignore[no-any-return]
        except RuntimeError:
            return self._counts.get(id(tensor), 0)

    def written(self, tensor: Any) -> None:
        """Count an in-place write of a tensor that does not count itself."""
        self._counts[id(tensor)] = self._counts.get(id(tensor), 0) + 1

    def read(self, tensor: Any, kind: str = "input") -> tuple[Entry, int]:
        """The entry and version of a tensor that an op reads; one never seen before came from outside."""
        entry = self.known(tensor)
        version = self.version(tensor)
        if entry is None:
            return self.outside(tensor, kind, version), version
        if version != entry.version:
            self._catch_up(entry, version)
        return entry, version

    def _catch_up(self, entry: Entry, version: int) -> None:
        # Written through a view or its base: the writer's outputs then include this tensor at its new version.
        writer = self._writers.get(entry.storage) or entry.maker
        if writer is None:
            self.unseen_writes += 1
        else:
            writer.outputs = [*writer.outputs, (entry.number, version)]
        entry.maker = writer
        entry.version = version
        entry.now = (entry.number, version)

    def outside(self, tensor: Any, kind: str, version: int) -> Entry:
        """Number a tensor that no recorded op has made."""
        named = self.names.get(id(tensor))
        names: tuple[str, ...] = ()
        if named is not None and named[0]() is tensor:
            kind, names = named[1], named[2]
        elif kind == "input" and (isinstance(tensor, torch.nn.Parameter) or getattr(tensor, "is_parameter", False)):
            kind = "parameter"
        entry = Entry(tensor, len(self.all), kind, version)
        self.all.append(entry)
        self.entries[id(tensor)] = entry
        owner = self._storages.get(entry.storage_key)
        if owner is not None and owner.ref() is not None:
            entry.storage = owner.storage
        else:
            self._new_storage(entry, tensor, made=False)
        if names:
            entry.name, entry.names = names[0], names[1:]
        return entry

    def create(self, tensor: Any, kind: str, inputs: list[Entry], op: OpDraft | None = None) -> Entry:
        """Number a tensor that `op` has just made; one that shares memory with an input is a view of it."""
        try:
            version = tensor._version
        except RuntimeError:
            version = self.version(tensor)
        entry = Entry(tensor, len(self.all), kind, version)
        self.all.append(entry)
        self.entries[id(tensor)] = entry
        if op is not None:
            entry.site = op.site
            entry.maker = op
        key = entry.storage_key
        if key is not None:
            for source in inputs:
                if source.storage_key == key:
                    entry.storage = source.storage
                    base = source.view_of
                    entry.view_of = source.number if base is None else base
                    if op is not None:
                        op.view = True
                    return entry
        self._new_storage(entry, tensor)
        if op is not None:
            self._writers[entry.storage] = op
        return entry

    def latest(self, numbers: list[int]) -> list[Ref]:
        """These tensors at the version last written."""
        return [self.all[number].now for number in numbers]

    def write(self, entry: Entry, version: int, op: OpDraft) -> Ref:
        """Note that `op` made this version of the tensor."""
        if version != entry.version:
            entry.version = version
            entry.now = (entry.number, version)
        entry.maker = op
        if op.inplace or entry.view_of is None:  # making a view writes nothing
            self._writers[entry.storage] = op
        return entry.now

    def _new_storage(self, entry: Entry, tensor: Any, made: bool = True) -> None:
        self._storage_count += 1
        entry.storage = self._storage_count
        key = entry.storage_key
        if key is None:
            return
        self._storages[key] = entry
        lives = self.lives
        if lives is not None:
            memory = tensor.untyped_storage()
            lives += (key, memory.nbytes(), made, entry.kind, ref(memory, lives.append))

    def forget(self) -> None:
        """Drop the weak references; only plain data stays."""
        for entry in self.all:
            entry.ref = entry.maker = None
        self.entries.clear()
        self._storages.clear()
        self.names.clear()
