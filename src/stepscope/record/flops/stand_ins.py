"""What formulas are given once the step is over: the shapes of the tensors in place of the tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepscope.record.arguments import Snapshot, rebuilt

if TYPE_CHECKING:
    from stepscope.record.identity import Entry
    from stepscope.record.step_builder import OpDraft


class StandIn:
    """A tensor without values: as much of its interface as formulas use."""

    __slots__ = ("dtype", "requires_grad", "shape")

    def __init__(self, shape: Sequence[int], dtype: Any, requires_grad: bool) -> None:
        self.shape, self.dtype, self.requires_grad = shape, dtype, requires_grad

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return math.prod(self.shape)

    def is_floating_point(self) -> bool:
        return bool(self.dtype.is_floating_point)

    def is_complex(self) -> bool:
        return bool(self.dtype.is_complex)

    def chunk(self, count: int) -> list[StandIn]:
        """Parts along the first dimension."""
        each = -(-self.shape[0] // count)
        sizes = [min(each, self.shape[0] - start) for start in range(0, self.shape[0], each)]
        return [StandIn((size, *self.shape[1:]), self.dtype, self.requires_grad) for size in sizes]


def arguments_of(draft: OpDraft, entries: list[Entry]) -> tuple[list[Any], dict[str, Any], list[StandIn]]:
    """The positional and named arguments of an op and its outputs."""
    inputs = [_of(entries[number]) for number, _ in draft.inputs]
    frozen: Snapshot | None = draft.args
    args, kwargs = (list[Any](inputs), {}) if frozen is None else rebuilt(frozen, inputs)
    return args, kwargs, [_of(entries[number]) for number, _ in draft.outputs]


def _of(entry: Entry) -> StandIn:
    return StandIn(entry.shape, entry.dtype, entry.requires_grad)
