"""What `tape.c` does where it is built, in Python: the part of the tape that runs around every op."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch

from stepscope.record.arguments import SIMPLE
from stepscope.record.autograd import LEAF_NUMBER, is_custom, is_packing
from stepscope.record.past_tensors import Ghost, GhostNode, ghost_kind
from stepscope.record.sites import USERS, place_of
from stepscope.record.torch_functions import READ_ONLY as _READ_ONLY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stepscope.events.names import Plan

BEGIN, END, FAIL, MODULE, LEAVE, ENGINE, ENGINE_END, NODE, NODE_END, STEP, STEP_END, CROSS, HISTORY = range(13)
"""What an event on the tape is; `tape.c` has the same."""
_Tensor = torch.Tensor
_PLAIN = {torch.Tensor, torch.nn.Parameter}
Begun = tuple[int, int, list[Any], Any]
"""Where in the tape it began, autograd's counter then, what it reads, and whether it may write to that."""


class PythonTape:
    """The fields are set by `Tape`, which knows what is uncommon too."""

    events: list[Any]
    known: dict[int, Ghost]
    nodes: dict[int, GhostNode]
    counter: Callable[[], int]
    first: int
    strangers: bool
    packed: bool
    is_placed: bool
    timed: bool
    lives: list[Any] | None
    left: int
    thread: int
    _leaves: dict[int, GhostNode]
    _expected: int
    _gone: Any
    _storages: dict[int, Any]

    if TYPE_CHECKING:

        def _begin_any(self, plan: Plan, function: Any, args: Any, kwargs: Any, where: Any) -> Begun: ...
        def _end_any(self, begun: Begun, result: Any, now: int, sequence: int) -> None: ...
        def _kept_by(self, nodes: list[Any], inputs: Sequence[Any]) -> int: ...
        def look_again(self, tensors: list[Any]) -> None: ...

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

    # Autograd

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


def version_of(tensor: Any) -> int | None:
    try:
        return tensor._version  # type: ignore[no-any-return]
    except RuntimeError:
        return None
