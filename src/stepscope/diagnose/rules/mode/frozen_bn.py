from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.modes import ModeCall
from stepscope.evidence.modules import Module

_ENOUGH = 3


@rule("mode.frozen-bn", severity="warning")
def frozen_bn(run: Evidence) -> Iterator[Proof]:
    """A frozen part was put into eval mode, and `train()` on the whole model takes it out again.

    Why it matters: its weights stay, but its batch norm normalises by the batch and moves its running statistics with
    every one, so the features that were to be kept change.

    What to do: call `eval()` on the frozen part again after each `train()`, or let the model's own `train` do so.

    How it is found: no parameter of the part is trained, the script has called `eval()` on it, a later `train()` on a
    model around it put its batch norm back into training mode, and batches went through it like that in three steps.
    Frozen parts that were never put into eval mode may be meant to follow the new data.

    Bad:
        model.backbone.eval()
        for epoch in range(10):
            model.train()
    Good:
        for epoch in range(10):
            model.train()
            model.backbone.eval()
    """
    told: set[Any] = set()
    for meant in run.modes.calls:
        part = meant.module if meant.kind == "train" and not meant.on else None
        undone = None if part is None else _undone(run, part)
        if part is None or undone is None or undone.place in told or not _is_frozen(part):
            continue
        whole = undone.module
        moving = [] if whole is None else _moving(run, whole, part)
        if whole is None or not moving:
            continue
        told.add(undone.place)
        name = next(path for path, module in whole.named_modules() if module is part)
        yield Proof(
            where=undone.place,
            message=f"{name} is frozen and was put into eval mode; this takes it out again, and its batch norm moves",
            label=f"{moving[0]} is in training mode from here on",
            evidence={"part": name, "layers": moving[:12]},
            fix=f"call eval() on {name} again after this line",
            related=[(meant.place, "it is put into eval mode here")],
        )


def _undone(run: Evidence, part: Module) -> ModeCall | None:
    """The `train()` on something around the part that was the last word on its mode, some steps ago."""
    last = run.modes.last(part)
    if last is None or not last.on or last.module is None or last.module is part:
        return None
    return last if run.steps.backward_count - last.backwards >= _ENOUGH else None


def _is_frozen(part: Module) -> bool:
    parameters = list(part.parameters())
    return bool(parameters) and not any(one.requires_grad for one in parameters)


def _moving(run: Evidence, whole: Module, part: Module) -> list[str]:
    """The batch norms of the part that batches went through in training mode."""
    inside = set(map(id, part.modules()))
    return [
        path
        for path, module in whole.named_modules()
        if id(module) in inside
        and module.is_a("_BatchNorm")
        and module.training
        and "running_mean" in module.buffers
        and module.attributes.get("momentum") != 0
        and any(one == path or one.endswith(f".{path}") for one in run.forwards.norm_batches)
    ]
