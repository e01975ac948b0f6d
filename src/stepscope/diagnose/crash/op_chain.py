"""The main line of a tensor: the ops it came through, one behind the other, with the shapes on the way.

The trail gives it with lines and layers. Where the trail was off, the autograd graph of the tensor still tells the ops
and, for views, the shape before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from stepscope.common.ops import ACTIVATIONS, CASTS, DROPOUTS, JOINS, NORMALIZATIONS
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.modules import Module
from stepscope.evidence.origins import Origin
from stepscope.records.step import Site

CONCAT = JOINS - {"stack"}
PLAIN = ACTIVATIONS | DROPOUTS | NORMALIZATIONS | CASTS | {"mul", "clamp"}
"""Ops that leave the sizes as they are."""
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
    layer: Module | None = None


def mainline(tensor: HeldTensor) -> list[Link]:
    """The nearest op first."""
    origin = tensor.origin
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
            layer=None if visit is None else visit.module,
        )
        if before is None:
            return
        origin = before


def _by_graph(tensor: HeldTensor) -> Iterator[Link]:
    shape: tuple[int, ...] | None = tensor.shape
    for step in tensor.graph:
        yield Link(op=_op_of(step.node), shape=shape, before=step.before)
        shape = step.before


def _op_of(name: str) -> str:
    bare = re.sub(r"Backward\d*$", "", name.rpartition("::")[2])
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare).lower()
    return _NAMES.get(words.replace("_", ""), words)


def producer(tensor: HeldTensor, root: Module) -> tuple[str, Module] | None:
    """The nearest layer with weights that this tensor came out of: its path and itself."""
    origin = tensor.origin
    if origin is not None and origin.op:
        for link in _by_trail(origin):
            if link.path and link.layer is not None and link.layer.own:
                return link.path, link.layer
        return None
    owners = {parameter: (path, part) for path, part in root.named_modules() for parameter in part.own.values()}
    return next((owners[parameter] for parameter in tensor.sources if parameter in owners), None)
