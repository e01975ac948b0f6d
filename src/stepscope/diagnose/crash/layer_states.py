"""The last hidden states of a recurrent layer, one for each layer and direction, taken for one per sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.diagnose.crash.turning_point import own_site
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.modules import Module
from stepscope.evidence.origins import Origin
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.crash.crash import Crash

_DEEPEST = 30


@dataclass(frozen=True)
class States:
    """`h` of `_, h = self.gru(x)`, and the line that goes on with it."""

    layer: Module
    shape: tuple[int, ...]
    used: Site

    @property
    def last(self) -> str:
        """What takes the state of the last layer."""
        both = self.layer.attributes.get("bidirectional")
        return "torch.cat([h[-2], h[-1]], dim=1)" if both else "h[-1]"


def hidden_states(crash: Crash) -> States | None:
    """Such states behind one of the failing operation's tensors, with their first axis still there."""
    tensors = [tensor for _, tensor in crash.operands]
    tensors += [crash.layer.input] if crash.layer is not None and crash.layer.input is not None else []
    rows = {tensor.shape[0] for tensor in tensors if tensor.ndim}
    for tensor in tensors:
        found = _behind(tensor)
        if found is not None and (len(rows) > 1 or any(one.ndim != tensor.ndim for one in tensors)):
            return found
    return None


def _behind(tensor: HeldTensor) -> States | None:
    origin: Origin | None = tensor.origin
    after: Origin | None = None
    for _ in range(_DEEPEST):
        if origin is None or len(origin.shape) != 3:
            return None
        made = None if origin.visit is None else origin.visit.module
        if made is not None and made.is_a("RNNBase") and origin.output > 0:
            states = made.attributes.get("num_layers", 1) * (2 if made.attributes.get("bidirectional") else 1)
            used = own_site(after)
            right = origin.shape[0] == states and origin.shape[-1] == made.attributes.get("hidden_size")
            return States(made, origin.shape, used) if right and used is not None else None
        after = origin
        origin = next((past for past in origin.inputs if past.kind not in ("parameter", "buffer")), None)
    return None
