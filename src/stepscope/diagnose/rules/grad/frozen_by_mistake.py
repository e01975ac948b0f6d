from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torch import nn

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.record.watch.models import Model

_LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Bilinear)
_FRESH = 4
"""How often a new layer's weights have been written to, at most: its initialisation, and one of the user's."""


@rule("grad.frozen-by-mistake", severity="warning")
def frozen_by_mistake(run: Evidence) -> Iterator[Proof]:
    """The output layer is frozen at its random start, and hardly anything is left to train.

    Why it matters: fine-tuning needs at least a head that learns. Here only normalisation layers or biases move, and
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
    for model in run.models.roots:
        module = model.module
        head = None if module is None else _last_layer(run, model)
        if module is None or head is None or any(p.requires_grad for p in head.parameters()):
            continue
        if not list(head.parameters()):  # they lie elsewhere: sharded, or made anew by a parametrization
            continue
        trained = [p for p in module.parameters() if p.requires_grad]
        if not trained or any(p.ndim > 1 for p in trained) or run.models.was_loaded(head):
            continue
        if not any(made.holds(trained[0]) and run.steps.count_of(made.number) >= 3 for made in run.optimizers.made):
            continue
        if any(p._version > _FRESH for p in head.parameters()):
            continue
        total = sum(p.numel() for p in module.parameters())
        share = sum(p.numel() for p in trained) / max(total, 1)
        path = next((name for name, part in module.named_modules() if part is head), "")
        yield Proof(
            where=_frozen_at(run) or run.models.made_at(head),
            message=f"{path or 'the last layer'} of {model.type} is frozen at its random start: only {share:.1%} of "
            "the parameters train",
            label=f"what still trains: {', '.join(_names(run, trained)[:3])}",
            evidence={"frozen_head": path, "trainable": _names(run, trained)[:20], "share": share},
            fix=f"keep the parameters of {path or 'the last layer'} trainable",
            related=[(run.models.made_at(head), "the layer is made here")],
        )


def _names(run: Evidence, parameters: list[Any]) -> list[str]:
    return [run.models.name_of(p) for p in parameters]


def _last_layer(run: Evidence, model: Model) -> Any:
    """The last layer with weights that ran; in the order of definition where that was not seen."""
    ran = [visit.module.live for visit in run.visits.latest if visit.root.module.live is model.module]
    layers = [m for m in ran if isinstance(m, _LAYERS)] or [m for m in model.module.modules() if isinstance(m, _LAYERS)]
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
