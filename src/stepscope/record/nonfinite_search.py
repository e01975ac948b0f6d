"""The autopsy: a loss is NaN or infinite, and nothing was recorded. Its autograd graph still is there.

Each node of the graph keeps tensors for its backward, and each of those knows the node that made it. So the values at
many places of the forward pass can be read off the graph, at no cost until they are needed: from the loss the way leads
back through values that are not finite. What the graph cannot say (the line, the gradients) a repeated step can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from stepscope.errors import UsageError
from stepscope.events.quiet import quietly
from stepscope.evidence.nonfinite_search import Verdict
from stepscope.record.recompute import recomputed
from stepscope.record.saved import saved_tensors, was_packed
from stepscope.record.statistics import stats_of
from stepscope.records.finite import is_bad
from stepscope.records.step import Stats

if TYPE_CHECKING:
    from stepscope.record.trace_values import Report

_LEAF = "torch::autograd::AccumulateGrad"


def autopsy(loss: Any, *, model: Any = None, output: Any = None) -> Verdict:
    """Say where a NaN or infinite loss comes from, by its autograd graph. Call it before `backward` frees the graph.

        verdict = autopsy(loss, model=model)

    `model` gives parameters their names; `output`, what the model returned, tells the model from the loss code.
    """
    if not isinstance(loss, torch.Tensor):
        raise UsageError(f"autopsy() was given a {type(loss).__name__}; give it the loss, a tensor")
    with quietly():
        names = {} if model is None else {id(p): name for name, p in model.named_parameters()}
        return _Graph(loss, names, output).verdict()


def repeat(step: Callable[[], Any], *, model: Any = None, nan: bool = True, inf: bool = True) -> Report:
    """Run a step again with every value traced: names op, module and line, forward or backward.

    `step` runs forward, loss and backward, but no optimizer. Gradients, buffers and random numbers are put back after.
    """
    from stepscope.record.rewind import rewound
    from stepscope.record.trace_values import trace_values

    with rewound(model), trace_values(nan=nan, inf=inf, model=model) as tracer:
        step()
    return tracer.check()


class _Graph:
    """The graph behind a loss: its nodes in the order they were made, and what is known of their outputs."""

    def __init__(self, loss: Any, names: dict[int, str], output: Any) -> None:
        self.loss = loss
        self.names = names
        self.nodes: dict[int, Any] = {}
        self.outputs: dict[int, list[Stats]] = {}
        self.kept: dict[int, list[tuple[str, Any, Stats]]] = {}
        self.parameters: dict[int, tuple[str, Stats]] = {}
        self.freed = False
        made = [t.grad_fn for t in _flat(output) if isinstance(t, torch.Tensor)]
        self.boundary = max((node._sequence_nr() for node in made if node is not None), default=None)
        self._walk()

    def _walk(self) -> None:
        stack = [self.loss.grad_fn]
        while stack:
            node = stack.pop()
            if node is None or id(node) in self.nodes:
                continue
            self.nodes[id(node)] = node
            stack.extend(source for source, _ in node.next_functions)
            if node.name() == _LEAF:
                self._note_parameter(node)
            else:
                self._note_saved(node)
        if self.loss.grad_fn is not None:
            found = stats_of(self.loss)
            if found is not None:
                self.outputs.setdefault(id(self.loss.grad_fn), []).append(found)

    def _note_parameter(self, node: Any) -> None:
        stats = stats_of(node.variable)
        if stats is not None:
            self.parameters[id(node)] = self.names.get(id(node.variable), "a parameter"), stats
            self.outputs[id(node)] = [stats]

    def _note_saved(self, node: Any) -> None:
        try:
            if was_packed(node):
                return
            found = list(saved_tensors(node))
        except RuntimeError:  # backward has freed them, or they were written to since
            self.freed = True
            return
        for name, tensor in found:
            stats = stats_of(tensor)
            if stats is None:
                continue
            maker = tensor.grad_fn
            if maker is not None:
                self.outputs.setdefault(id(maker), []).append(stats)
            if maker is not node:
                self.kept.setdefault(id(node), []).append((name, tensor, stats))
        if not any(tensor.grad_fn is node for _, tensor in found):
            result = recomputed(node, dict(found))
            again = None if result is None else stats_of(result)
            if again is not None:
                self.outputs.setdefault(id(node), []).append(again)

    def _bad(self, node: Any) -> Stats | None:
        return next((stats for stats in self.outputs.get(id(node), ()) if is_bad(stats)), None)

    def _known(self, node: Any) -> bool:
        return id(node) in self.outputs

    def verdict(self) -> Verdict:
        found = stats_of(self.loss)
        if not is_bad(found):
            return Verdict(kind=None, stats=found)
        if self.loss.grad_fn is None:
            return Verdict(kind=None, stats=found, exact=False)
        node = self._birthplace(self.loss.grad_fn)
        if self.freed and node is self.loss.grad_fn and not self.kept:
            return Verdict(kind=None, stats=found, exact=False)
        if node.name() == _LEAF:
            name, stats = self.parameters[id(node)]
            return Verdict(kind="parameter", names=(name,), stats=stats)
        data = self._bad_data(node)
        if data is not None:
            return Verdict(kind="input", node=data[0], stats=data[1], sequence=node._sequence_nr())
        return self._born_at(node)

    def _birthplace(self, start: Any) -> Any:
        """Go back from bad value to bad value; through what is not known only where something bad lies behind it."""
        node, met = start, {id(start)}
        while True:
            behind = self._bad_behind(node, met)
            if behind is None:
                return node
            met.add(id(behind))
            node = behind

    def _bad_behind(self, node: Any, met: set[int]) -> Any:
        """The nearest bad node before this one; NaN before infinities, which may be a mask that did no harm."""
        stack, seen, found = [source for source, _ in node.next_functions], set(), []
        while stack:
            source = stack.pop()
            if source is None or id(source) in seen or id(source) in met:
                continue
            seen.add(id(source))
            if self._bad(source) is not None:
                found.append(source)
            elif not self._known(source):
                stack.extend(further for further, _ in source.next_functions)
        if not found:
            return None
        return max(found, key=lambda n: (self._bad(n).nan > 0, n.name() == _LEAF, n._sequence_nr()))  # type: ignore[union-attr]

    def _bad_data(self, node: Any) -> tuple[str, Stats] | None:
        """A tensor from outside that the op read and that was bad already; a mask of zeros and -inf does not count."""
        for place in (node, *self._unknown_before(node)):
            for _, tensor, stats in self.kept.get(id(place), ()):
                mask = not stats.nan and not stats.min and not stats.max
                if tensor.grad_fn is None and not tensor.requires_grad and is_bad(stats) and not mask:
                    return place.name(), stats
        return None

    def _unknown_before(self, node: Any) -> list[Any]:
        """The ops before this one of whose results nobody kept anything: it may have been any of them."""
        stack, found = [source for source, _ in node.next_functions], {}
        while stack:
            source = stack.pop()
            if source is not None and not self._known(source) and id(source) not in found:
                found[id(source)] = source
                stack.extend(further for further, _ in source.next_functions)
        return sorted(found.values(), key=lambda n: -n._sequence_nr())

    def _born_at(self, node: Any) -> Verdict:
        others = [n for n in self._unknown_before(node) if n.name() != _LEAF and not _only_moves(n.name())]
        inputs = tuple((name, stats) for name, _, stats in self.kept.get(id(node), ()))
        leaves = [self.parameters[id(source)][0] for source, _ in node.next_functions if id(source) in self.parameters]
        later = self.boundary is not None and node._sequence_nr() > self.boundary
        return Verdict(
            kind="loss" if later else "forward",
            node=node.name(),
            names=tuple(leaves),
            stats=self._bad(node),
            inputs=inputs,
            exact=not others and not self.freed,
            candidates=tuple(n.name() for n in others),
            sequence=node._sequence_nr(),
        )


def _only_moves(name: str) -> bool:
    moves = (
        "View",
        "Reshape",
        "TBackward",
        "Transpose",
        "Permute",
        "Expand",
        "Squeeze",
        "Unsqueeze",
        "Slice",
        "Select",
    )
    return name.startswith((*moves, "UnsafeView", "Clone", "Copy", "ToCopy", "Alias", "Cat", "Split", "Unbind"))


def _flat(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    if isinstance(value, dict):
        return [part for item in value.values() for part in _flat(item)]
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in _flat(item)]
    return (value,)
