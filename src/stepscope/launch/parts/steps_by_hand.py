"""Steps without an optimizer: gradients were made, then the weights they belong to changed.

Seen from one backward to the next: `p -= lr * p.grad` under `no_grad` and `torch._foreach_*` count a version up,
`p.data.add_` is seen by a few of the values (on a CPU only: elsewhere comparing would mean waiting).
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from stepscope import events, fence
from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.part import Ended, Part
from stepscope.launch.session_context import Around

__all__ = ["StepsByHand"]

_BEFORE_THE_PULSE = 10
_MOST_NODES, _MOST_WEIGHTS, _VALUES = 20_000, 4, 16
_INPUTS = 3
"""Where `autograd.grad` hands the engine what gradients are wanted of."""


class StepsByHand(Part):
    """Until the first step of an optimizer, after which there is nothing to look for."""

    ending = "looking for steps without an optimizer"

    def __init__(self, around: Around, logbook: Logbook) -> None:
        self._around, self._logbook = around, logbook
        self._subscription: events.Subscription | None = None
        self._weights: list[tuple[Any, int, Any]] = []
        self._loss: Any = None

    def torch_came(self, torch: Any) -> None:
        self._subscription = events.subscribe(
            self.ending, order=_BEFORE_THE_PULSE, backward_begins=self._backward_begins
        )

    def end(self, ended: Ended) -> None:
        if self._subscription is not None:
            fence.call(self.ending, self._look)
            self._stop()

    def _stop(self) -> None:
        if self._subscription is not None:
            self._subscription.remove()
        self._subscription, self._weights, self._loss = None, [], None

    def _backward_begins(self, roots: Any, args: Any, kwargs: Any, frame: Any) -> None:
        loop = self._around.loop
        if not loop.is_on:
            return
        if loop.optimizers or loop.trainers_number is not None:
            self._stop()
            return
        self._look()
        given = args[_INPUTS] if len(args) > _INPUTS else None
        root = roots[0] if isinstance(roots, (list, tuple)) else roots
        weights = list(given) if given else _leaves(root)
        with quietly():
            self._loss = raw.detach(root) if given and root.numel() == 1 else None
            self._weights = [(ref(one), one._version, _some_of(one)) for one in weights[:_MOST_WEIGHTS] if one.is_leaf]

    def _look(self) -> None:
        """Have the weights of the last backward changed since?"""
        weights, self._weights = self._weights, []
        with quietly():
            changed = any(_has_changed(*one) for one in weights)
        if changed:
            self._logbook.step_by_hand(self._around.loop.step_by_hand(), self._loss)


def _leaves(root: Any) -> list[Any]:
    """Weights that a loss reaches, the nearest first."""
    start = getattr(root, "grad_fn", None)
    nodes, seen, found = [start] if start is not None else [], {start}, []
    for node in nodes:
        variable = getattr(node, "variable", None)
        if variable is not None and variable.requires_grad:
            found.append(variable)
        if len(found) >= _MOST_WEIGHTS or len(nodes) > _MOST_NODES:
            break
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                nodes.append(following)
    return found


def _some_of(tensor: Any) -> Any:
    """A copy of its first values; None where reading them would wait for a device."""
    if not tensor.is_cpu or not tensor.is_contiguous():
        return None
    return raw.clone(raw.detach(tensor).view(-1)[:_VALUES])


def _has_changed(weight: Any, version: int, values: Any) -> bool:
    now = weight()
    if now is None:
        return False
    if now._version != version:
        return True
    return values is not None and raw.tolist(_some_of(now)) != raw.tolist(values)
