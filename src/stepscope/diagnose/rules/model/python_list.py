from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.attributes import assigned_at
from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.modules import Module, Parameter


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
    held = {id(p) for made in run.optimizers.made for p in made.parameters}
    seen: set[tuple[int, str]] = set()
    for model in run.models.present:
        root = model.module
        own = {id(p) for p in root.parameters()}
        if not any(id_ in held for id_ in own) and own:
            continue  # nothing of this model is trained
        if max((len(run.steps.of_optimizer(made.number)) for made in run.optimizers.made), default=0) < 3:
            continue
        for part in root.modules():
            for name, parameters in _by_attribute(part).items():
                lost = [p for p in parameters if id(p) not in own and id(p) not in held and p.has_grad]
                if lost and (id(part), name) not in seen:
                    seen.add((id(part), name))
                    yield _proof(run, part, name, lost)


def _by_attribute(part: Module) -> dict[str, list[Parameter]]:
    """The trainable parameters in each plain container of a module; those of pretrained or evaluated parts apart."""
    found: dict[str, list[Parameter]] = {}
    for name, hidden in part.hidden.items():
        for item in hidden.parts:
            if isinstance(item, Parameter):
                found.setdefault(name, []).append(item)
            elif item.training or not part.training:
                found.setdefault(name, []).extend(p for p in item.parameters() if p.requires_grad)
    return found


def _proof(run: Evidence, part: Module, name: str, lost: list[Parameter]) -> Proof:
    kind, parts = part.hidden[name].kind, part.hidden[name].parts
    plain = all(isinstance(item, Parameter) for item in parts)
    better = "nn.ParameterList" if plain else "nn.ModuleDict" if kind.lower().endswith("dict") else "nn.ModuleList"
    first = parts[0]
    count = sum(p.size for p in lost)
    return Proof(
        where=assigned_at(run, part, name) or (first.made if isinstance(first, Module) else None),
        message=f"self.{name} of {part.type} is a plain {kind}: its {count:,} parameters get gradients, but "
        "model.parameters() does not have them and no optimizer updates them",
        label=f"a {kind} of layers; torch does not look into it",
        evidence={"attribute": name, "container": kind, "parameters": len(lost), "values": count},
        edit=layers.wrapped_value(assigned_at(run, part, name), name, better),
        fix=f"self.{name} = {better}(...)",
    )
