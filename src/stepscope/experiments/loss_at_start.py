"""Is the first loss what chance would give?"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stepscope.evidence.experiments import Outcome
from stepscope.experiments.experiment import Trial, experiment
from stepscope.experiments.not_checked import NotChecked
from stepscope.record.observers.tape import Constant, Node, Tape

_MODULES = {
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "BCELoss": "binary_cross_entropy",
    "MSELoss": "mse_loss",
}
_OPS = frozenset(_MODULES.values())
_TOO_HIGH, _FAR_TOO_HIGH = 2.0, 10.0


class Start(NamedTuple):
    """The first loss, and that of a model that knows nothing."""

    kind: str
    value: float
    chance: float
    said: str
    """How chance is computed: "ln 10"."""
    node: Node

    @property
    def is_high(self) -> bool:
        """Far above chance, or not even a number."""
        limit = _TOO_HIGH * self.chance + 1.0 if self.kind != "mse_loss" else _FAR_TOO_HIGH * self.chance
        return not self.value <= limit


@experiment("loss-at-start")
def loss_at_start(trial: Trial) -> Outcome:
    """For a known loss function, at the first step: against ln K, or against the scale of the targets."""
    tape = trial.tape
    if tape.step:
        raise NotChecked("the first step could not be followed")
    start = start_of(tape)
    if start is None:
        raise NotChecked("the value of this loss at chance is unknown")
    facts = {"loss": start.value, "chance": start.chance, "kind": start.kind}
    said = f"{start.kind} starts at {start.value:.3g}; chance is {start.said}"
    return Outcome.suspicious(said, **facts) if start.is_high else Outcome.passed(said, **facts)


def start_of(tape: Tape) -> Start | None:
    """The last known loss on the path that has a value."""
    for node in reversed(tape.nodes):
        kind = node.name if node.function is not None else _MODULES.get(node.name)
        if kind in _OPS and node.value is not None and _reduction(node) in ("mean", "sum"):
            found = _against_chance(kind, node)
            if found is not None:
                return found
    return None


def _option(node: Node, name: str, default: Any = None) -> Any:
    if node.function is None:
        return getattr(node.module(), name, default)
    return node.kwargs.get(name, default)


def _reduction(node: Node) -> str:
    return str(_option(node, "reduction", "mean"))


def _against_chance(kind: str, node: Node) -> Start | None:
    inputs = [part for part in (*node.args, *node.kwargs.values()) if not isinstance(part, str | bool | int | float)]
    target = next((part.tensor for part in inputs[1:2] if isinstance(part, Constant)), None)
    if target is None or not node.shapes or not target.numel() or node.value is None:
        return None
    value = node.value / (target.numel() if _reduction(node) == "sum" else 1)
    if kind in ("cross_entropy", "nll_loss"):
        shape = node.shapes[0]
        classes = shape[1] if len(shape) > 1 else shape[0]
        if _reduction(node) == "sum" and target.is_floating_point():
            value *= classes
        return Start(kind, value, math.log(classes), f"ln {classes} = {math.log(classes):.3g}", node)
    if kind.startswith("binary"):
        if _option(node, "pos_weight") is not None or _option(node, "weight") is not None:
            return None
        return Start(kind, value, math.log(2), f"ln 2 = {math.log(2):.3g}", node)
    spread = float(target.detach().double().square().mean())
    return Start(kind, value, spread, f"{spread:.3g} for an answer of 0", node) if spread > 0 else None
