"""Does a sample's output stay the same when the batch is reordered?"""

from __future__ import annotations

from typing import Any

import torch

from stepscope.evidence.experiments import Outcome
from stepscope.experiments.eval_determinism import differing
from stepscope.experiments.experiment import Trial, experiment
from stepscope.experiments.not_checked import NotChecked
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.tape import Constant, Node, Tapes, filled


@experiment("batch-order")
def batch_order(trial: Trial) -> Outcome:
    """In evaluation mode, with the samples in reverse order, the outputs must be reversed too."""
    node = trial.tape.model_call
    if node is None:
        raise NotChecked("no model with parameters was called on the way to the loss")
    size = _batch_size(trial, node)
    copies = trial.copied()
    model = copies.module_of(node).eval()
    with torch.no_grad():
        first, again = (_answers(model, copies.arguments(node)) for _ in range(2))
        if differing(first, again):
            raise NotChecked("the model is random in evaluation mode")
        turned = _answers(model, _turned(copies.arguments(node), size))
    pairs = [
        (a, b.flip(0))
        for a, b in zip(first, turned, strict=True)
        if a.dim() and a.shape[0] == size and size not in a.shape[1:] and a.is_floating_point()
    ]
    if not pairs:
        raise NotChecked("no output has one row for each sample")
    worst = 0.0
    for one, other in pairs:
        scale = float(one.abs().max()) or 1.0
        worst = max(worst, differing([one], [other]) / scale)
    if worst > 1e-3:
        return Outcome.suspicious(
            f"answers change by up to {worst:.1%} when the batch is put in another order", gap=worst, samples=size
        )
    return Outcome.passed(f"{size} samples in reverse order gave the same outputs")


def _batch_size(trial: Trial, node: Node) -> int:
    """The loader's batch size; else the first dimension that the input shares with something in the loss."""
    observer = next(one for one in trial.watcher.observers if isinstance(one, Tapes))
    shapes = _constants([node])
    firsts = {shape[0] for shape in shapes if shape}
    others = {shape[0] for shape in _constants([each for each in trial.tape.nodes if each is not node]) if shape}
    size = observer.samples if observer.samples in firsts else next(iter(sorted(firsts & others)), None)
    if size is None:
        raise NotChecked("the batch dimension is not known")
    if size < 3 or (len(shapes) > 1 and any(size in shape[1:] for shape in shapes)):
        raise NotChecked("the batch dimension cannot be distinguished from the others")
    return size


def _constants(nodes: list[Node]) -> list[tuple[int, ...]]:
    shapes: list[tuple[int, ...]] = []
    for node in nodes:
        filled(
            (node.args, node.kwargs),
            lambda part: shapes.append(tuple(part.tensor.shape)) if isinstance(part, Constant) else None,
        )
    return shapes


def _answers(model: Any, arguments: tuple[Any, Any]) -> list[Any]:
    args, kwargs = arguments
    return tensors_in(model(*args, **kwargs))


def _turned(value: Any, size: int) -> Any:
    if isinstance(value, torch.Tensor):
        return value.flip(0) if value.dim() and value.shape[0] == size else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_turned(item, size) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(_turned(item, size) for item in value)
    if isinstance(value, dict):
        return {key: _turned(item, size) for key, item in value.items()}
    return value
