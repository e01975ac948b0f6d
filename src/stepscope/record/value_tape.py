"""A tape that also looks at values: the smallest and largest of each version of a tensor, once.

Both are NaN when there is a NaN and infinite when there is an Inf. A sum is faster still, but overflows on large finite
values and tells nothing about a healthy tensor; the smallest value of what `sqrt` read tells why its gradient is
infinite. Where something is wrong on a CPU all is counted at once. Inside an optimizer's step only what it starts from
and what comes of it is looked at: between them lies nothing but arithmetic on those.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events import aside
from stepscope.events.quiet import quietly
from stepscope.record.statistics import is_transformed, measure, resolve
from stepscope.record.tape import Begun, Tape, compiled, version_of
from stepscope.records.step import Stats

if TYPE_CHECKING:
    from stepscope.record.past_tensors import Ghost, GhostNode
    from stepscope.record.recorder import Recorder

Looked = Stats | tuple[int, Any] | tuple[int, float, float] | None
"""Statistics; the number of elements with smallest and largest value; or both in one tensor on a device, to be read at
the end."""
_PLAIN = {torch.Tensor, torch.nn.Parameter}
_dispatch_modes = torch._C._len_torch_dispatch_stack
_grad_mode = torch._C._set_grad_enabled
if compiled is not None:
    compiled.configure_looks(
        torch.strided, _dispatch_modes, aside.level, torch.aminmax, torch.is_grad_enabled, _grad_mode
    )
_UNWRITTEN = ("empty", "new_empty", "resize")


class ValueTape(Tape):
    """`looks` holds a ghost, its version and what was seen of it, for each look."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self.looks: list[Any] = []

    def begin(self, plan: Any, function: Any, args: Any, kwargs: Any, frame: Any) -> Begun:
        begun = super().begin(plan, function, args, kwargs, frame)
        known, in_step = self.known, self.in_step
        for tensor in begun[2]:
            ghost = known[id(tensor)]
            if ghost.looked == -1 or (not in_step and ghost.looked != version_of(tensor)):
                self._see(ghost, tensor)
        return begun

    def end(self, begun: Begun, result: Any) -> None:
        written = len(self.events)
        super().end(begun, result)
        events = self.events
        count = events[written + 5]
        name = events[begun[0] + 1][1]
        skips = self.in_step or name.startswith(_UNWRITTEN)
        for ghost in events[written + 7 : written + 7 + 2 * count : 2]:
            tensor = ghost.ref()
            if ghost.looked == -1 and (skips or self._is_view(ghost, begun[2])):
                ghost.looked = version_of(tensor)
            elif not skips and ghost.looked != version_of(tensor):
                self._see(ghost, tensor)
        if begun[3] and not skips:
            for tensor in begun[2]:
                ghost = self.known[id(tensor)]
                if ghost.looked != version_of(tensor):
                    self._see(ghost, tensor)

    if not TYPE_CHECKING and compiled is not None:
        begin, end = compiled.Tape.begin_seeing, compiled.Tape.end_seeing

    def _is_view(self, ghost: Ghost, inputs: list[Any]) -> bool:
        """Whether it shows values that were looked at, and found well, as those of an input."""
        key, known = ghost._cdata, self.known
        return any(known[id(one)]._cdata == key and not known[id(one)].bad for one in inputs) and key is not None

    # Gradients

    def see_incoming(self, gradients: Sequence[Any]) -> None:
        """A node is about to run, or has run, with these."""
        known = self.known
        for gradient in gradients:
            if gradient is not None:
                ghost = known[id(gradient)]
                if ghost.looked != gradient._version:
                    self._see(ghost, gradient)

    def see_node(self, node: GhostNode, produced: Sequence[Any], gradients: Sequence[Any]) -> None:
        """A node has run."""
        self.see_incoming(gradients)
        self.see_produced(node, produced, gradients)

    def see_produced(self, node: GhostNode, produced: Sequence[Any], gradients: Sequence[Any]) -> None:
        """A node has made these out of those."""
        known = self.known
        if node.variable is not None:
            self._see_sum(node.variable, gradients)
            return
        healthy = not any(gradient is not None and known[id(gradient)].bad for gradient in gradients)
        for gradient in produced:
            if gradient is None:
                continue
            ghost = known[id(gradient)]
            if healthy and ghost.looked == -1 and gradient._is_view():  # transpose, expand: nothing new
                ghost.looked = gradient._version
            elif ghost.looked != gradient._version:
                self._see(ghost, gradient)

    def _see_sum(self, variable: Ghost, gradients: Sequence[Any]) -> None:
        """What a leaf holds is what came in, unless something was there before."""
        tensor = variable.ref()
        gradient = None if tensor is None else tensor.grad
        incoming = next((self.known[id(one)] for one in gradients if one is not None), None)
        if gradient is None or incoming is None:
            return
        ghost = self.known[id(gradient)]
        if ghost._cdata == incoming._cdata and ghost is not incoming:
            ghost.looked, ghost.bad, ghost.last = gradient._version, incoming.bad, incoming.last
            self.looks += (ghost, gradient._version, incoming.last)
        elif ghost.looked != gradient._version:
            self._see(ghost, gradient)

    # Optimizers

    def see_step(self, optimizer: Any) -> None:
        """It has stepped: look at the parameters, and where one went bad at all it was made of."""
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                ghost = self.known.get(id(parameter))
                if ghost is None or ghost.ref() is not parameter or ghost.looked == parameter._version:
                    continue
                self._see(ghost, parameter)
                if ghost.bad:
                    state = optimizer.state.get(parameter)
                    self._see_all([parameter.grad, *(state.values() if isinstance(state, dict) else ())])

    def _see_all(self, tensors: Sequence[Any]) -> None:
        for tensor in tensors:
            ghost = self.known.get(id(tensor))
            if ghost is not None and ghost.ref() is tensor and ghost.looked != version_of(tensor):
                self._see(ghost, tensor)

    # Looking

    def _see(self, ghost: Ghost, tensor: Any) -> None:
        version = ghost.looked = version_of(tensor)
        looked = ghost.last = look(tensor)
        ghost.bad = is_suspect(looked)
        self.looks += (ghost, version, looked)

    def let_go(self) -> None:
        """Read what is still on a device."""
        super().let_go()
        waiting = {id(item): item for item in self.looks[2::3] if type(item) is tuple and len(item) == 2}
        read: dict[int, Looked] = {}
        with quietly():
            for device in {item[1].device for item in waiting.values()}:
                here = {key: item for key, item in waiting.items() if item[1].device == device}
                rows = torch.stack([item[1] for item in here.values()]).tolist()
                read.update((key, (item[0], *row)) for (key, item), row in zip(here.items(), rows, strict=True))
        self.looks = [read.get(id(item), item) if item is not None else None for item in self.looks]

    def is_healthy(self) -> bool:
        """Whether nothing that was looked at had a NaN or an Inf; asked when the recording is over."""
        return not any(map(_is_bad, self.looks[2::3]))


def _is_bad(looked: Looked) -> bool:
    if type(looked) is tuple and len(looked) == 3:
        return not isfinite(looked[2] - looked[1])
    return is_suspect(looked)


def look(tensor: Any) -> Looked:
    """The smallest and largest value; more where something is wrong. None for what has no such values."""
    if type(tensor) not in _PLAIN or _dispatch_modes() or aside.transform():
        return _look_closely(tensor)
    if not tensor.dtype.is_floating_point or not tensor.is_cpu or tensor.layout is not torch.strided:
        return _look_closely(tensor)
    try:
        if tensor.requires_grad:
            before = torch.is_grad_enabled()
            _grad_mode(False)
            try:
                low, high = torch.aminmax(tensor)
            finally:
                _grad_mode(before)
        else:
            low, high = torch.aminmax(tensor)
    except (RuntimeError, IndexError):  # empty, or a type without an order, such as float8
        return _look_closely(tensor)
    least, most = low.item(), high.item()
    if isfinite(most - least):
        return tensor.numel(), least, most
    return _settle(measure(tensor))


def _look_closely(tensor: Any) -> Looked:
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    if type(tensor) not in _PLAIN or tensor.layout is not torch.strided or not tensor.is_floating_point():
        return _settle(measure(tensor))
    if tensor.numel() == 0:
        return Stats(numel=0)
    if is_transformed(tensor) or tensor.is_meta or (tensor.is_cuda and torch.cuda.is_current_stream_capturing()):
        return None
    with quietly():
        values = tensor.detach()
        if values.is_cpu:
            return _settle(measure(values)) if values.element_size() > 1 else None
        edges = torch.stack(torch.aminmax(values))
        return values.numel(), edges.float() if values.device.type == "mps" else edges.double()


def is_suspect(looked: Looked) -> bool:
    """Bad, or not known yet."""
    if isinstance(looked, Stats):
        return bool(looked.nan or looked.pos_inf or looked.neg_inf)
    return looked is not None and len(looked) == 2


def _settle(measured: Any) -> Stats | None:
    return resolve([measured])[0]
