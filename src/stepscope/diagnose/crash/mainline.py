"""The main line of a tensor: the ops it came through, one behind the other, with the shapes on the way.

The trail gives it with lines and layers. Where the trail was off, the autograd graph of the tensor still tells the ops
and, for views, the shape before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from stepscope.diagnose.crash.crash import Crash
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin

__all__ = ["CONCAT", "CONVOLUTIONS", "PLAIN", "VIEWS", "Link", "mainline", "producer"]

CONCAT = frozenset({"cat", "concat", "concatenate", "hstack", "dstack", "column_stack"})
VIEWS = frozenset({"view", "reshape", "flatten", "unsafe_view", "reshape_alias", "squeeze", "view_as", "reshape_as"})
PLAIN = frozenset(
    {
        *("relu", "relu_", "leaky_relu", "gelu", "silu", "elu", "tanh", "sigmoid", "softplus", "hardtanh", "threshold"),
        *("dropout", "native_dropout", "dropout2d", "feature_dropout", "batch_norm", "native_batch_norm", "layer_norm"),
        *("native_layer_norm", "clone", "contiguous", "to", "float", "to_copy", "detach", "mul", "clamp", "alias"),
    }
)
CONVOLUTIONS = frozenset({"conv1d", "conv2d", "conv3d", "convolution", "conv_transpose2d", "conv_transpose1d"})
_NAMES = {"addmm": "linear", "mm": "linear", "unsafeview": "view", "reshapealias": "reshape", "tocopy": "to"}
_LONGEST = 60


@dataclass(frozen=True)
class Link:
    """One op of the main line."""

    op: str
    shape: tuple[int, ...] | None
    """Of what it made; None where the graph does not tell."""
    before: tuple[int, ...] | None
    """Of what it read."""
    site: Site | None = None
    path: str | None = None
    """The layer it ran in."""
    layer: Any = None


def mainline(crash: Crash, tensor: Any) -> list[Link]:
    """The nearest op first."""
    origin = crash.origin(tensor)
    if origin is not None and origin.op:
        return list(_by_trail(origin))
    return list(_by_graph(tensor))


def _by_trail(origin: Origin) -> Iterator[Link]:
    for _ in range(_LONGEST):
        if not origin.op:
            return
        inputs = [past for past in origin.inputs if past.kind not in ("parameter", "buffer")]
        before = inputs[0] if inputs else None
        visit = origin.visit
        yield Link(
            op=origin.op,
            shape=origin.shape,
            before=None if before is None else before.shape,
            site=None if origin.place is None else origin.place.site,
            path=None if visit is None else visit.path,
            layer=None if visit is None else visit.module.live,
        )
        if before is None:
            return
        origin = before


def _by_graph(tensor: torch.Tensor) -> Iterator[Link]:
    node: Any = tensor.grad_fn
    shape: tuple[int, ...] | None = tuple(tensor.shape)
    for _ in range(_LONGEST):
        if node is None or node.name() == "torch::autograd::AccumulateGrad":
            return
        sizes = getattr(node, "_saved_self_sym_sizes", None)
        before = tuple(int(n) for n in sizes) if isinstance(sizes, (tuple, list)) else None
        yield Link(op=_op_of(node.name()), shape=shape, before=before)
        shape = before
        node = _onwards(node)


def _op_of(name: str) -> str:
    bare = re.sub(r"Backward\d*$", "", name.rpartition("::")[2])
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare).lower()
    return _NAMES.get(words.replace("_", ""), words)


def _onwards(node: Any) -> Any:
    """The next node back that is no parameter; a transposed weight leads to nothing else."""
    for source, _ in node.next_functions:
        if source is None or source.name().endswith("AccumulateGrad"):
            continue
        if _op_of(source.name()) in ("t", "transpose") and all(
            further is None or further.name().endswith("AccumulateGrad") for further, _ in source.next_functions
        ):
            continue
        return source
    return None


def producer(crash: Crash, tensor: Any, root: nn.Module) -> tuple[str, nn.Module] | None:
    """The nearest layer with weights that this tensor came out of: its path and itself."""
    origin = crash.origin(tensor)
    if origin is not None and origin.op:
        for link in _by_trail(origin):
            if link.path and isinstance(link.layer, nn.Module) and any(True for _ in link.layer.parameters(False)):
                return link.path, link.layer
        return None
    owners = {id(p): path for path, part in root.named_modules() for p in part.parameters(recurse=False)}
    queue: list[Any] = [tensor.grad_fn]
    seen: set[int] = set()
    for node in queue:
        if node is None or id(node) in seen or len(seen) > 200:
            continue
        seen.add(id(node))
        path = owners.get(id(getattr(node, "variable", None)))
        if path is not None:
            return path, root.get_submodule(path)
        queue.extend(source for source, _ in node.next_functions)
    return None
