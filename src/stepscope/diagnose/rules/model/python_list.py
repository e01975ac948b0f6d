from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from stepscope.diagnose.attributes import assigned_at, hidden_parts
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("model.python-list", severity="error", needs="steps, crash")
def python_list(run: Evidence) -> Iterator[Proof]:
    """Layers are kept in a plain list or dict, where torch does not see them: they are never trained.

    Why it matters: `model.parameters()`, `model.to(device)` and `state_dict()` leave them out. They stay at their
    random start while the rest trains around them.

    What to do: use `nn.ModuleList`, `nn.ModuleDict` or `nn.ParameterList`.

    How it is found: a module of the model has layers with parameters in a list, tuple or dict; they get gradients, are
    not among the model's parameters, and no optimizer has them.

    Bad:
        self.layers = [nn.Linear(8, 8) for _ in range(4)]
    Good:
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(4)])
    """
    held = {id(ref()) for made in run.optimizers.made for ref in made.parameters}
    seen: set[tuple[int, str]] = set()
    for model in run.models.roots:
        root = model.module
        if root is None:
            continue
        own = {id(p) for p in root.parameters()}
        if not any(id_ in held for id_ in own) and own:
            continue  # nothing of this model is trained
        if max((len(run.steps.of_optimizer(made.number)) for made in run.optimizers.made), default=0) < 3:
            continue
        for part in root.modules():
            for name, parameters in _by_attribute(part).items():
                lost = [p for p in parameters if id(p) not in own and id(p) not in held and p.grad is not None]
                if lost and (id(part), name) not in seen:
                    seen.add((id(part), name))
                    yield _proof(run, part, name, parameters, lost)


def _by_attribute(part: Any) -> dict[str, list[Any]]:
    """The trainable parameters in each plain container of a module; those of pretrained or evaluated parts apart."""
    found: dict[str, list[Any]] = {}
    for name, item in hidden_parts(part):
        if isinstance(item, torch.nn.Parameter):
            found.setdefault(name, []).append(item)
        elif item.training or not part.training:
            found.setdefault(name, []).extend(p for p in item.parameters() if p.requires_grad)
    return found


def _proof(run: Evidence, part: Any, name: str, parameters: list[Any], lost: list[Any]) -> Proof:
    value = vars(part)[name]
    kind = type(value).__name__
    plain = all(isinstance(item, torch.nn.Parameter) for _, item in hidden_parts(part) if _ == name)
    better = "nn.ParameterList" if plain else "nn.ModuleDict" if isinstance(value, dict) else "nn.ModuleList"
    first = next((item for attribute, item in hidden_parts(part) if attribute == name), None)
    where = assigned_at(run, part, name)
    if where is None and isinstance(first, torch.nn.Module):
        where = run.models.made_at(first)
    count = sum(p.numel() for p in lost)
    return Proof(
        where=where,
        message=f"self.{name} of {type(part).__name__} is a plain {kind}: its {count:,} parameters get gradients, but "
        "model.parameters() does not have them and no optimizer updates them",
        label=f"a {kind} of layers; torch does not look into it",
        evidence={"attribute": name, "container": kind, "parameters": len(lost), "values": count},
        fix=f"self.{name} = {better}(...)",
    )
