"""The autograd nodes an op leaves behind, known by sequence number: keeping a node would keep the graph alive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stepscope.record.step_builder import OpDraft, Ref

_counter = getattr(torch._C._autograd, "_get_sequence_nr", None)
_top_hooks = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)
_LEAF = "AccumulateGrad"
LEAF_NUMBER = 2**63
"""All leaves share one sequence number, the largest there is."""
_CUSTOM: dict[type, bool] = {}


def is_custom(kind: type) -> bool:
    """Whether a node comes from a Python `autograd.Function`."""
    known = _CUSTOM.get(kind)
    if known is None:
        known = _CUSTOM[kind] = issubclass(kind, torch.autograd.function.BackwardCFunction)
    return known


def know_custom(kind: type, as_kind: type) -> None:
    """Take nodes of this class for custom ones exactly if those of the other are."""
    _CUSTOM[kind] = is_custom(as_kind)


def is_packing() -> bool:
    """Whether tensors saved now go through hooks (checkpointing, offloading); also when this torch cannot tell."""
    return _top_hooks is None or _top_hooks(True) is not None


class Nodes:
    """Which forward op made which autograd node."""

    def __init__(self, counter: Callable[[], int] | None = None) -> None:
        self.counter: Callable[[], int] = counter or _counter or self._guess
        """The number the next node on this thread will get."""
        self._highest = -1
        self.first = self.counter()
        """Nodes with smaller numbers are older than the recording."""
        self._makers: dict[int, tuple[OpDraft, str]] = {}
        self._outputs: dict[int, dict[int, int]] = {}
        self.packed = False
        """Whether tensors were saved through hooks: then backward may run a forward again to unpack them."""

    def _guess(self) -> int:
        # Before torch 2.1 could tell: one more than the highest seen.
        return self._highest + 1

    def knows(self, node: Any) -> bool:
        return node._sequence_nr() in self._makers

    def claim(self, op: OpDraft, outputs: list[Any], refs: Sequence[Ref], since: int) -> list[Any]:
        """The nodes behind `outputs` made since `since`: they are this op's."""
        if not self.packed:
            self.packed = is_packing()
        found: list[Any] = []
        names: list[str] = []
        stack: list[Any] = []
        makers = self._makers
        place = 0
        for tensor in outputs:
            node = tensor.grad_fn
            if node is not None:
                stack.append(node)
                sequence = node._sequence_nr()
                if sequence in self._outputs:
                    self._outputs[sequence][tensor.output_nr] = refs[place][0]
                else:
                    self._outputs[sequence] = {tensor.output_nr: refs[place][0]}
            place += 1  # noqa: SIM113 enumerate costs a tuple per tensor here
        while stack:
            node = stack.pop()
            sequence = node._sequence_nr()
            if sequence < since or sequence in makers or sequence >= LEAF_NUMBER:
                continue
            name = type(node).__name__
            makers[sequence] = (op, name)
            if sequence > self._highest:
                self._highest = sequence
            found.append(node)
            names.append(name)
            for source, _ in node.next_functions:
                if source is not None:
                    stack.append(source)
        if names:
            op.backward = [*op.backward, *names]
        return found

    def maker_at(self, sequence: int, name: str) -> OpDraft | None:
        """The forward op of a node. The name is compared too: other threads count for themselves."""
        known = self._makers.get(sequence)
        return known[0] if known is not None and known[1] == name else None

    def outputs_at(self, sequence: int) -> dict[int, int]:
        """Which tensors are the outputs of a node's op: output position -> tensor number."""
        return self._outputs.get(sequence) or {}

    def sources(self, node: Any) -> tuple[list[int], list[Any]]:
        """What flows into a node that nobody claimed: numbers of known tensors, and the leaves themselves."""
        numbers: dict[int, None] = {}
        leaves: dict[int, Any] = {}
        stack = [node]
        met = {}
        while stack:
            node = stack.pop()
            if id(node) in met:
                continue
            met[id(node)] = node
            for source, place in node.next_functions:
                if source is None:
                    continue
                if type(source).__name__ == _LEAF:
                    leaves[id(source.variable)] = source.variable
                    continue
                number = self.outputs_at(source._sequence_nr()).get(place)
                if number is not None:
                    numbers[number] = None
                elif source._sequence_nr() >= self.first:
                    stack.append(source)
        return list(numbers), list(leaves.values())
