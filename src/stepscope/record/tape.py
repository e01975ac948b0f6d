"""The tape: what ops do, noted as they run, in one flat list; `replay.py` puts the step together from it later.

This is called around every op of a training, so it only looks up, reads and appends. Each event is a code, a few facts
and the tensors concerned, each as a ghost followed by its version (None for inference tensors, which have none). What
is common is in `tape.c`, and in `tape_python.py` for where that is not built; what is not common is here.
"""

from __future__ import annotations

from threading import get_ident
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import torch

from stepscope.record.arguments import SIMPLE, snapshot, tensors_in
from stepscope.record.autograd import is_custom, is_packing
from stepscope.record.identity import is_tensor_type
from stepscope.record.op_observer import tell
from stepscope.record.past_tensors import KINDS, Ghost, GhostNode, compiled, ghost_kind
from stepscope.record.saved import SavedObserver
from stepscope.record.sites import USERS, place_of
from stepscope.record.tape_python import BEGIN, CROSS, END, FAIL, HISTORY, Begun, PythonTape, version_of
from stepscope.record.torch_functions import READ_ONLY, reads_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.events.names import Plan
    from stepscope.record.recorder import Recorder

__all__ = ["Begun", "Tape", "compiled", "version_of"]

_Tensor = torch.Tensor
if TYPE_CHECKING or compiled is None:
    _Common = PythonTape
else:
    compiled.configure(
        Ghost, torch.Tensor, torch.nn.Parameter, USERS, place_of, READ_ONLY, perf_counter_ns, is_packing, is_custom,
        KINDS, ghost_kind, torch._C.DisableTorchFunction, tuple(SIMPLE),
    )  # fmt: skip
    _Common = compiled.Tape


class Tape(_Common):
    """Follows ops (an `events.Follower`) and keeps the list; modules and nodes add to it (`tape_others.py`)."""

    who = "recording an op"
    under_modes = True
    paused = 0

    def __init__(self, recorder: Recorder) -> None:
        self.events: list[Any] = []
        self.known: dict[int, Ghost] = {}
        self.nodes: dict[int, GhostNode] = {}
        self._leaves: dict[int, GhostNode] = {}
        self.counter = recorder.nodes.counter
        self.first = self._expected = self.counter()
        """Nodes of autograd's with smaller numbers are older than the recording."""
        self.strangers = False
        """Nodes were made by code that is not seen: what is known of a tensor's history may be out of date."""
        self.packed = False
        self.is_placed = False
        """What runs now is within an optimizer or a layer of torch's own, whose caller is known."""
        self.timed = recorder.timed
        self.lives = recorder.tensors.lives
        self._gone: Any = None if self.lives is None else self.lives.append
        self._storages: dict[int, Any] = {}
        self._claimed = recorder.watchers("claimed")
        self.saved = _counted_in(recorder)
        self.in_step = False
        """An optimizer steps, and no closure of the user's runs in it."""
        self.looks: list[Any] | None = None
        self.left = 0
        """When the autograd node before was over."""
        self.thread = get_ident()
        self.states: list[Any] = []
        """What optimizers keep: address of the parameter, name, ghost."""

    # Ops

    def _begin_any(self, plan: Plan, function: Any, args: Any, kwargs: Any, where: tuple[Any, Any, int]) -> Begun:
        """As `begin`, whatever the arguments are, and whatever has happened since the last op."""
        if where[2] != self._expected:
            self.strangers = True
        inputs: list[Any] = []
        frozen = snapshot(function, args, kwargs, inputs)
        at = self.note((BEGIN, plan, function, *where, 0, -1, frozen, len(inputs)), inputs)
        if self.timed:
            self.events[at + 6] = perf_counter_ns()
        return at, where[2], inputs, bool(kwargs) or not reads_only(function)

    def _end_any(self, begun: Begun, result: Any, now: int, sequence: int) -> None:
        """As `end`, whatever the result is, and with the nodes that autograd has made."""
        at, since, inputs, writes = begun
        kind = type(result)
        outputs = [result] if kind is _Tensor or is_tensor_type(kind) else tensors_in(result)
        made = None if sequence == since else self._claim([*outputs, *inputs] if writes else outputs, inputs, since)
        found: list[Any] = [END, at, now, sequence, made, len(outputs), len(inputs) if writes else 0]
        known = self.known
        for tensor in outputs:
            ghost = known.get(id(tensor))
            if ghost is None or ghost.ref() is not tensor:
                ghost = self.make(tensor)
            found += (ghost, version_of(tensor))
        if writes:
            found += map(version_of, inputs)
        self.events += found
        if self.lives is not None:
            self.lives.append(None)

    def fail(self, begun: Begun, error: BaseException) -> None:
        self.events += (FAIL, begun[0], f"{type(error).__name__}: {error}")

    def cross(self, name: str, tensor: Any, result: Any) -> None:
        """A tensor went into a `torch.func` transform, or came out of it."""
        self.note((CROSS, name, self.counter()), [tensor, result])

    # Tensors

    def name_state(self, optimizer: Any) -> None:
        """Remember which tensors are an optimizer's state."""
        known, states = self.known, self.states
        for parameter, state in optimizer.state.items():
            if isinstance(state, dict):
                for key, value in state.items():
                    ghost = known.get(id(value))
                    if ghost is not None and ghost.ref() is value:
                        states += (id(parameter), key, ghost)

    def let_go(self) -> None:
        """The recording is over: drop what is only needed while tensors live."""
        self._storages.clear()
        self.saved = ()
        self.lives = self._gone = None

    # Autograd

    def look_again(self, tensors: list[Any]) -> None:
        """Note the histories of tensors anew: a custom function may have written to them."""
        for tensor in tensors:
            ghost, node = self.ghost(tensor), tensor.grad_fn
            if node is not None:
                self.events += (HISTORY, ghost, self.node(node), tensor.output_nr)

    def _kept_by(self, nodes: list[Any], inputs: Sequence[Any]) -> int:
        kept = _Kept()
        tell(self._claimed, kept, nodes, inputs)
        return kept.saved_bytes


def _counted_in(recorder: Recorder) -> tuple[Any, ...] | None:
    """What a `SavedObserver` counts bytes in, where it alone asks which nodes an op has made; empty where nobody does,
    None where others do."""
    asking = [observer for observer in recorder.observers if observer.hears("claimed")]
    if not asking:
        return ()
    (*others, last) = asking
    return last.tables if not others and type(last) is SavedObserver else None


class _Kept:
    """Stands for the op when its saved bytes are counted."""

    saved_bytes = 0
