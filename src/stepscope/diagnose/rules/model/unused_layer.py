from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.attributes import assigned_at
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("model.unused-layer", severity="info", needs="steps, end", follows=("grad.detached-needed",))
def unused_layer(run: Evidence) -> Iterator[Proof]:
    """A layer is built but never called.

    Why it matters: its parameters never learn. Often another layer was called in its place, by copy and paste.

    What to do: call it in `forward`, or take it out.

    How it is found: in the calls of the model that were followed, the layer was not called, and its parameters have no
    gradient while others have. A warning when a layer of the same kind and size beside it was called twice, otherwise
    info: a layer may be meant for another phase.

    Bad:
        x = self.conv2(self.conv2(self.conv1(x)))
    Good:
        x = self.conv3(self.conv2(self.conv1(x)))
    """
    if max((len(run.steps.of_optimizer(made.number)) for made in run.optimizers.made), default=0) < 3:
        return
    for root, visits in list(run.layers.calls.items()):
        if all(p.grad is None for p in root.parameters()):
            continue
        calls: dict[int, int] = {}
        for visit in visits:
            calls[id(visit.module.live)] = calls.get(id(visit.module.live), 0) + 1
        for part in root.modules():
            for name, layer in part._modules.items():
                if layer is not None and layer not in run.layers.ever and _is_idle(layer) and calls.get(id(part)):
                    yield _proof(run, part, name, layer, _called_twice(part, layer, calls))


def _is_idle(layer: Any) -> bool:
    """A single layer with trainable parameters, none of which has a gradient."""
    parameters = list(layer.parameters())
    return (
        not list(layer.children()) and bool(parameters) and all(p.requires_grad and p.grad is None for p in parameters)
    )


def _called_twice(part: Any, layer: Any, calls: dict[int, int]) -> str | None:
    """The name of a layer beside it, of the same kind and size, that was called more often than the part itself."""
    shapes = [tuple(p.shape) for p in layer.parameters()]
    for name, other in part._modules.items():
        if other is not None and other is not layer and type(other) is type(layer):
            same = [tuple(p.shape) for p in other.parameters()] == shapes
            if same and calls.get(id(other), 0) > calls.get(id(part), 0):
                return str(name)
    return None


def _proof(run: Evidence, part: Any, name: str, layer: Any, twin: str | None) -> Proof:
    instead = f"; self.{twin}, of the same size, is called twice" if twin is not None else ""
    return Proof(
        where=assigned_at(run, part, name) or run.models.made_at(layer),
        message=f"self.{name} of {type(part).__name__} is built but never called{instead}",
        label="no call, no gradient",
        evidence={"layer": name, "type": type(layer).__name__, "called_twice": twin},
        fix=f"call self.{name} in forward" + (f" where self.{twin} is called again" if twin else ", or take it out"),
        severity="warning" if twin is not None else None,
    )
