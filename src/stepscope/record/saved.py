"""Bytes kept for backward, op by op, read from the autograd nodes right after each op.

Reading beats `saved_tensors_hooks`: a pack hook would switch off autograd's own check for in-place changes, so a buggy
script would behave differently while recorded. Each storage counts once, at the op that kept it first; parameters do
not count, they are there anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch
from torch.nn import Parameter

from stepscope.events.quiet import quietly
from stepscope.record.autograd import is_custom
from stepscope.record.identity import is_tensor_type
from stepscope.record.op_observer import Observer
from stepscope.record.past_tensors import compiled

if TYPE_CHECKING:
    from stepscope.record.step_builder import Drafts, OpDraft

_top_hooks = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)
_dispatch_modes = torch._C._len_torch_dispatch_stack
_names: dict[type, tuple[str, ...]] = {}


def hooks_are_on() -> bool:
    """Whether someone packs saved tensors now (checkpointing, offloading): unpacking would run their code."""
    return _top_hooks is None or _top_hooks(True) is not None


def saved_tensors(node: Any) -> Iterator[tuple[str, Any]]:
    """The tensors an autograd node keeps, with the names it gives them (`self`, `result`, `weight` ...).

    Raises RuntimeError once backward has freed them. Must not be called on nodes made under saved-tensor hooks.
    """
    kind = type(node)
    if is_custom(kind):
        yield from _of_custom(node)
        return
    names = _names.get(kind)
    if names is None:
        names = _names[kind] = tuple(name for name in dir(kind) if name.startswith("_saved_"))
    for name in names:
        value = getattr(node, name)
        if is_tensor_type(type(value)):
            yield name[7:], value
        elif isinstance(value, (list, tuple)):
            yield from ((name[7:], item) for item in value if is_tensor_type(type(item)))
        elif value is not None:  # a number; it will be one for every node of this kind
            _names[kind] = tuple(kept for kept in _names[kind] if kept != name)


def was_packed(node: Any) -> bool:
    """Whether a node's tensors were packed by hooks when it was made; also when this torch cannot tell."""
    kind = type(node)
    if is_custom(kind):
        raw = node._raw_saved_tensors
    else:
        found = (getattr(node, name) for name in dir(kind) if name.startswith("_raw_saved_"))
        raw = [item for value in found for item in (value if isinstance(value, (list, tuple)) else (value,))]
    return any(getattr(item, "unpack_hook", raw) is not None for item in raw)


def _of_custom(node: Any) -> Iterator[tuple[str, Any]]:
    """What a custom Function saved, and what it put on `ctx` behind autograd's back."""
    for value in node.saved_tensors:
        if is_tensor_type(type(value)):
            yield "saved", value
    for name, value in vars(node).items():
        if is_tensor_type(type(value)):
            yield name, value


class SavedObserver(Observer):
    """Fills `saved_bytes`."""

    def __init__(self) -> None:
        # The Python object of a storage lives as long as its memory: while it does, its address is its name.
        self._seen: dict[int, ref[Any]] = {}
        self._drafts: Drafts | None = None

    @property
    def tables(self) -> tuple[dict[int, ref[Any]], dict[type, tuple[str, ...]]]:
        """The storages met so far, and what each kind of node calls its tensors: enough to count in C."""
        return self._seen, _names

    def start(self, drafts: Drafts) -> None:
        self._drafts = drafts
        if _top_hooks is None:
            drafts.not_seen("bytes saved for backward", "this needs a newer torch")

    def claimed(self, draft: OpDraft, nodes: Sequence[Any], inputs: Sequence[Any]) -> None:
        if hooks_are_on() or (is_custom(type(nodes[0])) and was_packed(nodes[0])):
            if _top_hooks is not None and self._drafts is not None:
                self._drafts.not_seen("tensors saved for backward through hooks (checkpointing, offloading)")
            return
        if _dispatch_modes():  # unpacking detaches, which a mode of the script would see
            with quietly():
                self._count(draft, nodes, inputs)
        else:
            self._count(draft, nodes, inputs)

    def _count(self, draft: OpDraft, nodes: Sequence[Any], inputs: Sequence[Any]) -> None:
        if compiled is not None and type(nodes) is list:
            counted = compiled.count_saved(*self.tables, nodes, inputs)
            if counted is not None:
                draft.saved_bytes += counted
                return
        for tensor in inputs:
            if type(tensor) is Parameter:
                self._first_time(tensor)
        total = draft.saved_bytes
        for node in nodes:
            for _, tensor in saved_tensors(node):
                total += self._first_time(tensor)
        draft.saved_bytes = total

    def _first_time(self, tensor: Any) -> int:
        """The bytes of a storage not met before, else 0."""
        try:
            storage = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):  # sparse, nested, transformed: no storage of its own
            return int(tensor.element_size() * tensor._nnz()) if tensor.is_sparse else 0
        key = storage._cdata
        before = self._seen.get(key)
        if before is not None and before() is not None:
            return 0
        self._seen[key] = ref(storage)
        return int(storage.nbytes())

    def finish(self, drafts: Drafts) -> None:
        self._seen.clear()
        self._drafts = None
