from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.models import Model
from stepscope.evidence.modules import Module, Parameter

_LAYERS = ("Linear", "Conv1d", "Conv2d", "Conv3d", "Bilinear")
_FRESH = 4
"""How often a new layer's weights have been written to, at most: its initialization, and one of the user's."""


@rule("grad.frozen-by-mistake", severity="warning")
def frozen_by_mistake(run: Evidence) -> Iterator[Proof]:
    """The output layer is frozen with its random initial weights, and hardly anything is left to train.

    Why it matters: fine-tuning needs at least a head that learns. Here only normalization layers or biases move, and
    the loss stays where it is.

    What to do: freeze the backbone only; look at which names the condition really matches.

    How it is found: the last layer of the model is frozen, was never loaded and never trained, and all parameters that
    do get gradients are vectors (scales and biases).

    Bad:
        for name, p in model.named_parameters():
            if "bn" not in name:
                p.requires_grad = False
    Good:
        for name, p in model.named_parameters():
            p.requires_grad = name.startswith("head")
    """
    if run.steps.step_count < 3:
        return
    for model in run.models.present:
        module = model.module
        head = _last_layer(run, model)
        if head is None or any(p.requires_grad for p in head.parameters()):
            continue
        if not list(head.parameters()):  # they lie elsewhere: sharded, or made anew by a parametrization
            continue
        trained = [p for p in module.parameters() if p.requires_grad]
        if not trained or any(len(p.shape) > 1 for p in trained) or head.loaded:
            continue
        if not any(made.holds(trained[0]) and run.steps.count_of(made.number) >= 3 for made in run.optimizers.made):
            continue
        if any(p.version > _FRESH for p in head.parameters()):
            continue
        total = sum(p.size for p in module.parameters())
        share = sum(p.size for p in trained) / max(total, 1)
        path = next((name for name, part in module.named_modules() if part is head), "")
        yield Proof(
            where=_frozen_at(run) or head.made,
            message=f"{path or 'the last layer'} of {model.type} is frozen at its random weights: only {share:.1%} of "
            "the parameters train",
            label=f"what still trains: {', '.join(_names(trained)[:3])}",
            evidence={"frozen_head": path, "trainable": _names(trained)[:20], "share": share},
            fix=f"keep the parameters of {path or 'the last layer'} trainable",
            related=[(head.made, "the layer is made here")],
        )


def _names(parameters: list[Parameter]) -> list[str]:
    return [p.title for p in parameters]


def _last_layer(run: Evidence, model: Model) -> Module | None:
    """The last layer with weights that ran; in the order of definition where that was not seen."""
    ran = [visit.module for visit in run.visits.latest if visit.root.module is model.module]
    layers = [m for m in ran if m.is_a(*_LAYERS)] or [m for m in model.module.modules() if m.is_a(*_LAYERS)]
    return layers[-1] if layers else None


def _frozen_at(run: Evidence) -> Any:
    """The statement that freezes."""
    found = None
    for file in run.source.files():
        for node in file.walk(ast.Assign, ast.Call):
            if isinstance(node, ast.Call):
                if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
                    found = file.site(node)
            elif any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets):
                found = file.site(node)
    return found
