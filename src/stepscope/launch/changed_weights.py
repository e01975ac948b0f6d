"""Weights that a backward reaches, remembered by version and a few values, to see later whether they have changed."""

from __future__ import annotations

from typing import Any
from weakref import ref

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw

__all__ = ["has_changed", "reached_by"]

_MOST_NODES, _MOST_WEIGHTS, _VALUES = 20_000, 4, 16
_INPUTS = 3
"""Where `autograd.grad` hands the engine what gradients are wanted of."""

Remembered = list[tuple[Any, int, Any]]


def reached_by(roots: Any, args: Any) -> tuple[Any, Remembered]:
    """The loss where `autograd.grad` was given the weights, and the nearest weights of this backward."""
    given = args[_INPUTS] if len(args) > _INPUTS else None
    root = roots[0] if isinstance(roots, (list, tuple)) else roots
    weights = list(given) if given else _leaves(root)
    with quietly():
        loss = raw.detach(root) if given and root.numel() == 1 else None
        kept = [(ref(one), one._version, _some_of(one)) for one in weights[:_MOST_WEIGHTS] if one.is_leaf]
    return loss, kept


def has_changed(weights: Remembered) -> bool:
    """Whether any of them is not what it was."""
    with quietly():
        return any(_has_changed(*one) for one in weights)


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
    """A copy of its first values; None where reading them would wait for a device."""
    if not tensor.is_cpu or not tensor.is_contiguous():
        return None
    return raw.clone(raw.detach(tensor).view(-1)[:_VALUES])


def _has_changed(weight: Any, version: int, values: Any) -> bool:
    now = weight()
    if now is None:
        return False
    if now._version != version:
        return True
    return values is not None and raw.tolist(_some_of(now)) != raw.tolist(values)
