"""The tape: what ops do, noted as they run, in one flat list; `replay.py` puts the step together from it later.

This is called around every op of a training, so it only looks up, reads and appends. Each event is a code, a few facts
and the tensors concerned, each as a ghost followed by its version (None for inference tensors, which have none).
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch

from stepscope.record.arguments import SIMPLE, snapshot, tensors_in
from stepscope.record.autograd import LEAF_NUMBER, is_custom, is_packing
from stepscope.record.functions import READ_ONLY as _READ_ONLY, reads_only
from stepscope.record.ghosts import Ghost, GhostNode, ghost_kind
from stepscope.record.identity import is_tensor_type
from stepscope.record.observer import tell
from stepscope.record.sites import USERS, place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.events.names import Plan
    from stepscope.record.recorder import Recorder

__all__ = ["Begun", "Tape", "version_of"]

BEGIN, END, FAIL, MODULE, LEAVE, ENGINE, ENGINE_END, NODE, NODE_END, STEP, STEP_END, CROSS, HISTORY = range(13)
_Tensor = torch.Tensor
_PLAIN = {torch.Tensor, torch.nn.Parameter}
Begun = tuple[int, int, list[Any], Any]
"""Where in the tape it began, autograd's counter then, what it reads, and whether it may write to that."""


class Tape:
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
        self.in_step = False
        """An optimizer steps, and no closure of the user's runs in it."""
        self.looks: list[Any] | None = None
        self.states: list[Any] = []
        """What optimizers keep: address of the parameter, name, ghost."""

    # Ops

    def begin(self, plan: Plan, function: Any, args: Any, kwargs: Any, frame: Any) -> Begun:
        sequence = self.counter()
        code = frame.f_code
        if not USERS.get(code.co_filename):
            place = None if self.is_placed else place_of(frame)
            code, line = place or (None, 0)
        else:
            line = frame.f_lasti
        if self.strangers or sequence != self._expected:
            return self._begin_any(plan, function, args, kwargs, (code, line, sequence))
        events, known = self.events, self.known
        at = len(events)
        inputs: list[Any] = []
        try:
            events += (BEGIN, plan, function, code, line, sequence, 0, len(args), tuple(kwargs) if kwargs else ())
            for value in (*args, *kwargs.values()) if kwargs else args:
                kind = type(value)
                if kind in _PLAIN:
                    inputs.append(value)
                    ghost = known.get(id(value))
                    if ghost is None or ghost.ref() is not value:
                        ghost = self.meet(value)
                    try:
                        events += (ghost, value._version)
                    except RuntimeError:
                        events += (ghost, None)
                elif kind in SIMPLE:
                    events += (None, value)
                else:
                    del events[at:]
                    return self._begin_any(plan, function, args, kwargs, (code, line, sequence))
        except BaseException:
            del events[at:]
            raise
        if self.timed:
            events[at + 6] = perf_counter_ns()
        return at, sequence, inputs, kwargs or not _READ_ONLY.get(function)

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

    def end(self, begun: Begun, result: Any) -> None:
        now = perf_counter_ns()
        at, since, inputs, writes = begun
        self._expected = sequence = self.counter()
        if type(result) is not _Tensor or sequence != since:
            self._end_any(begun, result, now, sequence)
            return
        ghost = self.known.get(id(result))
        if ghost is None or ghost.ref() is not result:
            ghost = self.make(result)
        try:
            if not writes:
                self.events += (END, at, now, sequence, None, 1, 0, ghost, result._version)
            else:
                after = [tensor._version for tensor in inputs]
                self.events += (END, at, now, sequence, None, 1, len(inputs), ghost, result._version, *after)
        except RuntimeError:  # inference tensors have no version
            self._end_any(begun, result, now, sequence)
            return
        if self.lives is not None:
            self.lives.append(None)

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

    def meet(self, tensor: Any) -> Ghost:
        """A tensor from outside is seen for the first time."""
        ghost = self.make(tensor, made=False)
        node = tensor.grad_fn
        if node is not None:
            ghost.grad_fn, ghost.output_nr = self.node(node), tensor.output_nr
        return ghost

    def make(self, tensor: Any, made: bool = True) -> Ghost:
        """A tensor is there that was not before."""
        ghost = self.known[id(tensor)] = Ghost(tensor)
        lives, key = self.lives, ghost._cdata
        if lives is not None and key is not None:
            before = self._storages.get(key)
            if before is None or before() is None:
                memory = tensor.untyped_storage()
                watch = self._storages[key] = ref(memory, self._gone)
                kind = "parameter" if not made and ghost.is_parameter else ""
                lives += (key, memory.nbytes(), made, kind, watch)
        return ghost

    def ghost(self, tensor: Any) -> Ghost:
        ghost = self.known.get(id(tensor))
        return ghost if ghost is not None and ghost.ref() is tensor else self.meet(tensor)

    def note(self, head: tuple[Any, ...], tensors: list[Any]) -> int:
        """Add an event with tensors that somebody reads; gives where it is."""
        if self.strangers:
            self.look_again(tensors)
        found: list[Any] = [*head]
        for tensor in tensors:
            found += (self.ghost(tensor), version_of(tensor))
        at = len(self.events)
        self.events += found
        return at

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
        self.lives = self._gone = None

    # Autograd

    def look_again(self, tensors: list[Any]) -> None:
        """Note the histories of tensors anew: a custom function may have written to them."""
        for tensor in tensors:
            ghost, node = self.ghost(tensor), tensor.grad_fn
            if node is not None:
                self.events += (HISTORY, ghost, self.node(node), tensor.output_nr)

    def _claim(self, tensors: list[Any], inputs: list[Any], since: int) -> tuple[Any, ...]:
        """The nodes an op has made: (tensor, node, place) for each that has one, saved bytes, whether packed."""
        self.packed = self.packed or is_packing()
        found: list[Any] = []
        fresh: list[Any] = []
        for tensor in tensors:
            node = tensor.grad_fn
            if node is not None:
                ghost = self.known.get(id(tensor))
                if ghost is None or ghost.ref() is not tensor:
                    ghost = self.make(tensor)
                found += (ghost, self.node(node, since, fresh), tensor.output_nr)
        return found, self._kept_by(fresh, inputs) if fresh else 0, self.packed

    def _kept_by(self, nodes: list[Any], inputs: Sequence[Any]) -> int:
        kept = _Kept()
        tell(self._claimed, kept, nodes, inputs)
        return kept.saved_bytes

    def node(self, node: Any, since: int = LEAF_NUMBER, fresh: list[Any] | None = None) -> GhostNode:
        """The ghost of a node and of what is behind it, as far as it is younger than the recording."""
        nodes, first = self.nodes, self.first
        number = node._sequence_nr()
        known = self._leaf(node) if number >= LEAF_NUMBER else nodes.get(number)
        if known is not None:
            return known
        top = nodes[number] = ghost_kind(type(node))(number, number >= since)
        stack = [(node, top)]
        while stack:
            real, ghost = stack.pop()
            if ghost.seen and fresh is not None:
                fresh.append(real)
            elif ghost.sequence >= first and is_custom(type(real)):
                ghost.saved_bytes = self._kept_by([real], ())
            behind: list[Any] = []
            for source, place in real.next_functions if ghost.sequence >= first else ():
                found = None
                if source is not None:
                    number = source._sequence_nr()
                    found = self._leaf(source) if number >= LEAF_NUMBER else nodes.get(number)
                    if found is None:
                        found = nodes[number] = ghost_kind(type(source))(number, number >= since)
                        stack.append((source, found))
                behind += (found, place)
            ghost.behind = behind
        return top

    def _leaf(self, node: Any) -> GhostNode:
        """A node without a number of its own: it adds to a leaf, or (rarely) only raises an error."""
        if not hasattr(node, "variable"):
            return ghost_kind(type(node))(LEAF_NUMBER, False)
        variable = self.ghost(node.variable)
        known = self._leaves.get(id(variable))
        if known is None:
            known = self._leaves[id(variable)] = ghost_kind(type(node))(LEAF_NUMBER, False)
            known.variable = variable
        return known


class _Kept:
    """Stands for the op when its saved bytes are counted."""

    saved_bytes = 0


def version_of(tensor: Any) -> int | None:
    try:
        return tensor._version  # type: ignore[no-any-return]
    except RuntimeError:
        return None
