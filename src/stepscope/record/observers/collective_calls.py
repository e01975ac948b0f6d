"""What a collective call asks of all ranks: its name with the arguments that must agree, and the shape that must."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["described", "shape_to_compare"]

_ROOTS = {
    "broadcast": ("src", 1), "reduce": ("dst", 1), "gather": ("dst", 2), "scatter": ("src", 2),
    "gather_object": ("dst", 2), "broadcast_object_list": ("src", 1), "scatter_object_list": ("src", 2),
}  # fmt: skip
"""The argument that names one rank, by keyword and by position; all ranks must name the same."""
_OPS = {"all_reduce": 1, "reduce": 2, "reduce_scatter": 2, "reduce_scatter_tensor": 2}
"""Where the reduction is among the arguments."""
_SAME_SHAPE = ("all_reduce", "broadcast", "reduce", "all_gather_into_tensor", "reduce_scatter_tensor")
"""Those whose first tensor must have the same shape on all ranks."""


def described(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The call as it must be on every rank.

    >>> described("broadcast", (None,), {"src": 1}), described("broadcast", (None, 0), {}), described("barrier", (), {})
    ('broadcast(src=1)', 'broadcast(src=0)', 'barrier')
    """
    said = []
    if name in _ROOTS:
        word, position = _ROOTS[name]
        said.append(f"{word}={_argument(args, kwargs, word, position, kwargs.get(f'group_{word}', 0))}")
    if name in _OPS:
        reduction = str(_argument(args, kwargs, "op", _OPS[name], "SUM")).rpartition(".")[2].partition(":")[0]
        said += [] if reduction == "SUM" else [f"op={reduction}"]
    return f"{name}({', '.join(said)})" if said else name


def _argument(args: Sequence[Any], kwargs: Mapping[str, Any], word: str, position: int, without: Any) -> Any:
    given = kwargs.get(word, args[position] if len(args) > position else None)
    return without if given is None else given


def shape_to_compare(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], tensors: Sequence[Any]
) -> tuple[int, ...]:
    """The shape that must be the same on all ranks; () where each rank may have its own."""
    if name in _SAME_SHAPE:
        return tuple(tensors[0].shape) if tensors else ()
    if name == "all_gather":
        own = _argument(args, kwargs, "tensor", 1, None)
        outputs = _argument(args, kwargs, "tensor_list", 0, ())
        shapes = {tuple(one.shape) for one in (*outputs, own)}
        return shapes.pop() if len(shapes) == 1 else ()  # different sizes that all ranks know of are allowed
    return ()
