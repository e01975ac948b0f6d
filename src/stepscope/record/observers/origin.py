"""Where tensors come from, as long as the script runs: what their ops were given is read when somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.nn.parameter import is_lazy

from stepscope.evidence.origins import Origin
from stepscope.record.arguments import plain_arguments
from stepscope.record.observers.names import device_name, dtype_name

if TYPE_CHECKING:
    from stepscope.record.arguments import Snapshot
    from stepscope.records.place import Place

_DEEPEST = 4000


class LiveOrigin(Origin):
    """The origin of a tensor that is there. Holds no tensor either."""

    __slots__ = ("snapshot",)

    def __init__(self, op: str, tensor: Any, inputs: tuple[Origin, ...], place: Place | None) -> None:
        super().__init__(op, inputs, place)
        self.snapshot: Snapshot | None = None
        """What its op was given, as it was given."""
        try:
            if not is_lazy(tensor):
                self.shape = tuple(tensor.shape)
        except RuntimeError:
            pass  # a nested tensor of the strided layout has no sizes
        self.dtype = dtype_name(tensor.dtype)
        self.device = device_name(tensor.device)
        self.requires_grad = tensor.requires_grad
        if self.depth > _DEEPEST:  # a chain through all steps (a running state) would never be freed
            self.inputs, self.depth = (), 0

    @property
    def arguments(self) -> dict[str, Any]:
        return plain_arguments(self.snapshot, list(range(len(self.inputs))))

    @arguments.setter
    def arguments(self, value: dict[str, Any]) -> None:
        """There are none until the op has run."""
