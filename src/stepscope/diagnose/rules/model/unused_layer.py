from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.attributes import assigned_at
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.modules import Module


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
        if not any(p.has_grad for p in root.parameters()):
            continue
        calls: dict[int, int] = {}
        for visit in visits:
            calls[id(visit.module)] = calls.get(id(visit.module), 0) + 1
        for part in root.modules():
            for name, layer in part.children.items():
                if not layer.called and _is_idle(layer) and calls.get(id(part)):
                    yield _proof(run, part, name, layer, _called_twice(part, layer, calls))


def _is_idle(layer: Module) -> bool:
    """A single layer with trainable parameters, none of which has a gradient."""
    parameters = list(layer.parameters())
    idle = bool(parameters) and all(p.requires_grad and not p.has_grad for p in parameters)
    return idle and not layer.children


def _called_twice(part: Module, layer: Module, calls: dict[int, int]) -> str | None:
    """The name of a layer beside it, of the same kind and size, that was called more often than the part itself."""
    shapes = [p.shape for p in layer.parameters()]
    for name, other in part.children.items():
        if other is not layer and other.kinds == layer.kinds:
            same = [p.shape for p in other.parameters()] == shapes
            if same and calls.get(id(other), 0) > calls.get(id(part), 0):
                return name
    return None


def _proof(run: Evidence, part: Module, name: str, layer: Module, twin: str | None) -> Proof:
    instead = f"; self.{twin}, of the same size, is called twice" if twin is not None else ""
    return Proof(
        where=assigned_at(run, part, name) or layer.made,
        message=f"self.{name} of {part.type} is built but never called{instead}",
        label="no call, no gradient",
        evidence={"layer": name, "type": layer.type, "called_twice": twin},
        fix=f"call self.{name} in forward" + (f" where self.{twin} is called again" if twin else ", or remove it"),
        severity="warning" if twin is not None else None,
    )
