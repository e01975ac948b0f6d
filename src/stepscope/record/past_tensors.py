"""Tensors and autograd nodes of the past: as much of each as was read while it lived.

A recording notes these, and is put together from them when nobody waits any more; so they answer the questions that the
recorder asks of tensors and nodes. Nothing is kept alive: a ghost knows its tensor by a weak reference. `tape.c` has
the same fields, and fills them, where it is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch

from stepscope import extension
from stepscope.record.autograd import know_custom
from stepscope.record.identity import know_as_tensor

compiled = extension.load("stepscope.record._tape", 5)
"""`tape.c`, where it is built."""

_Parameter = torch.nn.Parameter


class _Defaults:
    """What most tensors leave alone."""

    __slots__ = ()
    grad: Ghost | None = None
    grad_fn: Any = None
    looked: int | None = -1
    """Its version when its values were last looked at, what was seen, and whether that was bad."""
    last: Any = None
    bad = False
    layout: Any = None
    output_nr = 0
    strides: Any = None
    version: int | None = None


class _Ghost(_Defaults):
    """What is read of a tensor."""

    __slots__ = ("__dict__", "__weakref__", "_cdata", "_size", "device", "dtype", "kind", "ref", "requires_grad")

    def __init__(self, tensor: Any) -> None:
        self.ref: Any = ref(tensor)
        self.kind = type(tensor)
        self.dtype = tensor.dtype
        self.device = tensor.device
        self.requires_grad = tensor.requires_grad
        try:
            self._cdata: int | None = tensor.untyped_storage()._cdata
            self._size = tensor.shape
            if not tensor.is_contiguous():
                self.strides = tensor.stride()
        except RuntimeError:  # sparse, nested, transformed: no storage, perhaps no shape
            self._cdata = None
            self._describe_unusual(tensor)

    def _describe_unusual(self, tensor: Any) -> None:
        raise NotImplementedError


class _GhostNode:
    """What is read of a node."""

    __slots__ = ("behind", "early", "saved_bytes", "seen", "sequence", "variable")

    def __init__(self, sequence: int, seen: bool) -> None:
        self.sequence = sequence
        self.seen = seen
        """Whether a recorded op made it."""
        self.early = False
        self.saved_bytes = 0
        """What a custom function keeps; for other nodes their op knows."""
        self.variable: Ghost | None = None
        self.behind: Sequence[Any] = ()
        """Where its gradients go: a node and the place in it, for each."""


if not TYPE_CHECKING and compiled is not None:
    _Ghost, _GhostNode = compiled.Ghost, compiled.GhostNode


class Ghost(_Ghost):
    """A tensor: what stays is read once; its version and history are those of the event that is told."""

    __slots__ = ()

    def _describe_unusual(self, tensor: Any) -> None:
        self.layout = self._size = None
        try:
            self.layout = tensor.layout
            self._size = tensor.shape
        except RuntimeError:
            pass

    @property
    def shape(self) -> Any:
        if self._size is None:
            raise RuntimeError("this tensor has no shape")
        return self._size

    @property
    def _version(self) -> int:
        if self.version is None:
            raise RuntimeError("inference tensors do not track their version")
        return self.version

    @property
    def is_parameter(self) -> bool:
        return issubclass(self.kind, _Parameter)

    def is_inference(self) -> bool:
        return self.version is None

    def untyped_storage(self) -> Ghost:
        """Stands for its storage too, which is asked for its address only."""
        if self._cdata is None:
            raise RuntimeError("this tensor has no storage")
        return self

    def is_contiguous(self) -> bool:
        return self.strides is None

    def stride(self) -> Any:
        return self.strides


class GhostNode(_GhostNode):
    """A node of autograd's; each kind of node has a class of the same name."""

    __slots__ = ()

    @property
    def next_functions(self) -> list[tuple[GhostNode | None, int]]:
        return list(zip(self.behind[::2], self.behind[1::2], strict=True))

    def _sequence_nr(self) -> int:
        return self.sequence


KINDS: dict[type, type[GhostNode]] = {}


def ghost_kind(kind: type) -> type[GhostNode]:
    """The class that represents a kind of node."""
    known = KINDS.get(kind)
    if known is None:
        known = KINDS[kind] = type(kind.__name__, (GhostNode,), {"__slots__": ()})
        know_custom(known, kind)
    return known


know_as_tensor(Ghost)
