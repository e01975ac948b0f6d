"""One axis of a tensor, traced back through transposes, reshapes and elementwise ops to the op that worked along it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stepscope.common.ops import BINARY, CASTS, DROPOUTS

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin

_SAME = CASTS | DROPOUTS | frozenset({
    "log", "exp", "clamp", "clamp_min", "clamp_max", "clip", "sqrt", "nan_to_num", "neg", "relu", "add_", "masked_fill",
    "masked_fill_",
})  # fmt: skip
_SWAPS = frozenset({"t", "T", "mT", "adjoint"})


def axes_told(origin: Origin) -> tuple[int, ...] | None:
    """The axes an op worked along, counted from 0 in its input; None if not given."""
    given = origin.arguments
    found = given.get("dim", given.get("axis", given.get("dims")))
    rank = len(origin.inputs[0].shape) if origin.inputs else len(origin.shape)
    if found is None or isinstance(found, (bool, str)) or not rank:
        return None
    several = found if isinstance(found, (list, tuple)) else [found]
    return tuple(int(axis) % rank for axis in several if isinstance(axis, int))


def followed(origin: Origin, axis: int, until: Callable[[Origin], bool], most: int = 12) -> tuple[Origin, int] | None:
    """Walk back from a tensor to the first for which `until` holds; returns the axis as counted there."""
    for _ in range(most):
        if until(origin):
            return origin, axis
        if not origin.inputs:
            return None
        earlier = _before(origin, axis)
        if earlier is None:
            return None
        origin, axis = earlier
    return None


def _before(origin: Origin, axis: int) -> tuple[Origin, int] | None:
    op, inputs = origin.op, origin.inputs
    first = inputs[0]
    if op in _SAME and len(first.shape) == len(origin.shape):
        return first, axis
    if op in BINARY:
        rest = [part for part in inputs if part.shape]
        return (rest[0], axis) if len(rest) == 1 and len(rest[0].shape) == len(origin.shape) else None
    if op in _SWAPS or op in ("transpose", "transpose_", "swapaxes", "swapdims"):
        return _transposed(origin, axis)
    if op == "permute":
        order = _numbers(origin.arguments.get("dims"))
        return (first, order[axis] % len(first.shape)) if len(order) == len(first.shape) else None
    if op in ("unsqueeze", "squeeze"):
        return _squeezed(origin, axis)
    if op in ("view", "reshape", "flatten", "expand", "unflatten"):
        return _reshaped(first, origin.shape, axis)
    return None


def _transposed(origin: Origin, axis: int) -> tuple[Origin, int] | None:
    first, rank = origin.inputs[0], len(origin.shape)
    if rank < 2:
        return first, axis
    pair = (rank - 2, rank - 1)
    if origin.op not in _SWAPS:
        given = origin.arguments
        one, other = given.get("dim0", given.get("axis0")), given.get("dim1", given.get("axis1"))
        if not isinstance(one, int) or not isinstance(other, int):
            return None
        pair = (one % rank, other % rank)
    return first, pair[1] if axis == pair[0] else pair[0] if axis == pair[1] else axis


def _squeezed(origin: Origin, axis: int) -> tuple[Origin, int] | None:
    first, told = origin.inputs[0], origin.arguments.get("dim")
    if not isinstance(told, int):
        return None
    if origin.op == "unsqueeze":
        told %= len(origin.shape)
        return None if axis == told else (first, axis - 1 if axis > told else axis)
    told %= len(first.shape)
    if len(first.shape) == len(origin.shape):
        return first, axis
    return first, axis + 1 if axis >= told else axis


def _reshaped(first: Origin, shape: tuple[int, ...], axis: int) -> tuple[Origin, int] | None:
    """The axis keeps its position if all sizes after it, or all up to it, are unchanged."""
    before, behind = first.shape, len(shape) - axis
    if behind <= len(before) and before[len(before) - behind :] == shape[axis:]:
        return first, len(before) - behind
    return (first, axis) if axis < len(before) and before[: axis + 1] == shape[: axis + 1] else None


def _numbers(value: Any) -> list[int]:
    return [one for one in value if isinstance(one, int)] if isinstance(value, (list, tuple)) else []
