"""Weights that a backward reaches, remembered by version and a few values, to see later whether they have changed."""

from __future__ import annotations

from itertools import islice
from typing import Any
from weakref import ref

import torch

from stepscope.events import aside
from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw

__all__ = ["has_changed", "reached_by", "weights_of"]

_MOST_NODES, _MOST_WEIGHTS, _VALUES = 20_000, 4, 16
_INPUTS = 3
"""Where `autograd.grad` hands the engine what gradients are wanted of."""

_PLAIN = (torch.Tensor, torch.nn.Parameter)

Remembered = list[tuple[Any, int, Any]]


def reached_by(roots: Any, args: tuple[Any, ...]) -> tuple[Any, Remembered]:
    """The loss where `autograd.grad` was given the weights, and the nearest weights of this backward.

    Nothing of a backward that is traced, captured or transformed: its tensors have no values of their own, and what
    we would read of them would become part of the trace.
    """
    if aside.reason(under_modes=False) is not None or aside.transform() or aside.is_capturing():
        return None, []
    given = args[_INPUTS] if len(args) > _INPUTS else None
    root = roots[0] if isinstance(roots, (list, tuple)) else roots
    with quietly():
        weights = [one for one in (given or _leaves(root))[:_MOST_WEIGHTS] if type(one) in _PLAIN and one.is_leaf]
        is_loss = bool(given and weights) and type(root) in _PLAIN and root.numel() == 1
        loss = (raw.item(root) if root.is_cpu else raw.detach(root)) if is_loss else None
        return loss, _remembered(weights)


def weights_of(model: Any, before: Remembered) -> tuple[Remembered, bool]:
    """The first weights of a model, as they are now, and whether any of those from `before` is not what it was."""
    if aside.reason(under_modes=False) is not None or aside.transform() or aside.is_capturing():
        return [], False
    with quietly():
        changed = any(_has_changed(*one) for one in before)
        weights = [one for one in islice(model.parameters(), _MOST_WEIGHTS) if type(one) in _PLAIN]
        if not changed and len(weights) == len(before) and all(map(_is_that, weights, before)):
            return before, False
        return _remembered(weights), changed


def _remembered(weights: list[Any]) -> Remembered:
    return [(ref(one), one._version, _some_of(one)) for one in weights]


def has_changed(weights: Remembered) -> bool:
    """Whether any of them is not what it was."""
    with quietly():
        return any(_has_changed(*one) for one in weights)


def _is_that(weight: Any, remembered: tuple[Any, int, Any]) -> bool:
    return remembered[0]() is weight


def _leaves(root: Any) -> list[Any]:
    """Weights that a loss reaches, the nearest first."""
    start = getattr(root, "grad_fn", None)
    nodes, seen, found = [start] if start is not None else [], {start}, []
    for node in nodes:
        variable = getattr(node, "variable", None)
        if variable is not None and variable.requires_grad:
            found.append(variable)
        if len(found) >= _MOST_WEIGHTS or len(nodes) > _MOST_NODES:
            break
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                nodes.append(following)
    return found


def _some_of(tensor: Any) -> Any:
    """Its first values, as numbers: no tensor is kept. None where reading them would wait for a device."""
    if not tensor.is_cpu or not tensor.is_contiguous():
        return None
    return raw.tolist(raw.detach(tensor).view(-1)[:_VALUES])


def _has_changed(weight: Any, version: int, values: Any) -> bool:
    now = weight()
    if now is None:
        return False
    if now._version != version:
        return True
    return values is not None and _some_of(now) != values
