"""Who is who among tensors: a number for each tensor object, versions for in-place writes, storages for views.

Nothing is kept alive: a tensor is known by its address and a weak reference, so an address that is used again is not
taken for the tensor that had it before. Two tensors share a storage number only when they were seen sharing memory
while both lived, for the same reason.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from stepscope.record.drafts import OpDraft, Ref

__all__ = ["Entry", "TensorDraft", "Tensors", "is_tensor_type"]

_TENSOR_TYPES: dict[type, bool] = {}


def is_tensor_type(kind: type) -> bool:
    """Whether objects of this class are tensors, cached: `isinstance` would go through a slow metaclass."""
    known = _TENSOR_TYPES.get(kind)
    if known is None:
        known = _TENSOR_TYPES[kind] = issubclass(kind, torch.Tensor)
    return known


class TensorDraft:
    """What is written down about a tensor when it is first seen."""

    __slots__ = (
        "bytes",
        "device",
        "dtype",
        "grad_of",
        "kind",
        "layout",
        "name",
        "names",
        "number",
        "requires_grad",
        "shape",
        "site",
        "storage",
        "strides",
        "view_of",
    )

    def __init__(self, number: int, kind: str) -> None:
        self.number = number
        self.kind = kind
        self.shape: Any = ()
        self.dtype: Any = None
        self.device: Any = None
        self.layout: Any = None
        self.requires_grad = False
        self.strides: Any = None
        self.bytes = 0
        self.storage = 0
        self.view_of: int | None = None
        self.grad_of: int | None = None
        self.name: str | None = None
        self.names: tuple[str, ...] = ()
        self.site: Any = None


class Entry:
    """A living tensor and its number."""

    __slots__ = ("draft", "number", "ref", "storage_key", "version")

    def __init__(self, ref: Any, draft: TensorDraft, version: int, storage_key: int | None) -> None:
        self.ref = ref
        self.draft = draft
        self.number = draft.number
        self.version = version
        """The latest version whose writer is known (or the one it was first seen with)."""
        self.storage_key = storage_key


class Tensors:
    """All tensors of one recording."""

    def __init__(self) -> None:
        self.drafts: list[TensorDraft] = []
        self.made: dict[Ref, OpDraft] = {}
        """Which op wrote a tensor at a version."""
        self.names: dict[int, tuple[Any, str, tuple[str, ...]]] = {}
        """id -> (weak reference, kind, names) of parameters, buffers and optimizer state met before any op."""
        self._entries: dict[int, Entry] = {}
        self._storages: dict[int, Entry] = {}
        self._writers: dict[int, OpDraft] = {}
        self._counts: dict[int, int] = {}
        self._storage_count = 0
        self.unseen_writes = 0

    def known(self, tensor: Any) -> Entry | None:
        entry = self._entries.get(id(tensor))
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
        writer = self._writers.get(entry.draft.storage) or self.made.get((entry.number, entry.version))
        if writer is None:
            self.unseen_writes += 1
        else:
            writer.outputs.append((entry.number, version))
            self.made[(entry.number, version)] = writer
        entry.version = version

    def outside(self, tensor: Any, kind: str, version: int) -> Entry:
        """Number a tensor that no recorded op has made."""
        named = self.names.get(id(tensor))
        names: tuple[str, ...] = ()
        if named is not None and named[0]() is tensor:
            kind, names = named[1], named[2]
        elif kind == "input" and isinstance(tensor, torch.nn.Parameter):
            kind = "parameter"
        key = storage_key(tensor)
        entry = self._add(tensor, kind, version, key)
        owner = self._storages.get(key) if key is not None else None
        if owner is not None and owner is not entry and owner.ref() is not None:
            entry.draft.storage = owner.draft.storage
        else:
            self._new_storage(entry)
        if names:
            entry.draft.name, entry.draft.names = names[0], names[1:]
        return entry

    def create(self, tensor: Any, kind: str, inputs: list[Entry], version: int) -> Entry:
        """Number a tensor that an op has just made; one that shares memory with an input is a view of it."""
        key = storage_key(tensor)
        entry = self._add(tensor, kind, version, key)
        if key is not None:
            for source in inputs:
                if source.storage_key == key:
                    entry.draft.storage = source.draft.storage
                    base = source.draft.view_of
                    entry.draft.view_of = source.number if base is None else base
                    return entry
        self._new_storage(entry)
        return entry

    def latest(self, numbers: list[int]) -> list[Ref]:
        """These tensors at the version last written."""
        newest = dict.fromkeys(numbers, 0)
        for number, version in self.made:
            if number in newest:
                newest[number] = max(newest[number], version)
        return list(newest.items())

    def write(self, entry: Entry, version: int, op: OpDraft) -> None:
        """Note that `op` made this version of the tensor."""
        entry.version = version
        self.made[(entry.number, version)] = op
        if op.inplace or entry.draft.view_of is None:  # making a view writes nothing
            self._writers[entry.draft.storage] = op

    def _new_storage(self, entry: Entry) -> None:
        self._storage_count += 1
        entry.draft.storage = self._storage_count
        if entry.storage_key is not None:
            self._storages[entry.storage_key] = entry

    def _add(self, tensor: Any, kind: str, version: int, key: int | None) -> Entry:
        draft = TensorDraft(len(self.drafts), kind)
        describe(tensor, draft)
        entry = Entry(weakref.ref(tensor), draft, version, key)
        self.drafts.append(draft)
        self._entries[id(tensor)] = entry
        return entry

    def forget(self) -> None:
        """Drop the weak references; only plain data stays."""
        self._entries.clear()
        self._storages.clear()
        self.names.clear()


def storage_key(tensor: Any) -> int | None:
    """The storage's address while it lives; None for tensors without one (sparse, transformed)."""
    try:
        return tensor.untyped_storage()._cdata  # type: ignore[no-any-return]
    except RuntimeError:
        return None


def describe(tensor: Any, draft: TensorDraft) -> None:
    """Copy what a tensor says of itself, without running any op."""
    draft.dtype = tensor.dtype
    draft.device = tensor.device
    draft.requires_grad = tensor.requires_grad
    try:
        draft.shape = tensor.shape
        layout = tensor.layout
        if layout is torch.strided:
            draft.bytes = tensor.nbytes
            if not tensor.is_contiguous():
                draft.strides = tensor.stride()
        else:
            draft.layout = layout
    except RuntimeError:  # nested and transformed tensors, uninitialised parameters: no shape to tell
        draft.layout = "unknown"
