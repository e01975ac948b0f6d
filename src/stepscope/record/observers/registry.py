"""The observers of a running script, found by folder: a file with one dropped in here is registered."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from stepscope.common.folders import modules_in
from stepscope.record.observers.observer import Observer

_FIRST = (
    "optimizers", "steps", "models", "modes", "loaders", "devices", "retained_graphs", "global_settings",
    "indices", "compiling", "losses", "contractions", "sequences", "attention", "input_perturbation", "nonfinite",
    "manual_losses", "layers", "weight_init", "checkpoints", "precision_loss", "from_numpy", "batches", "targets",
    "loader_output", "model_inputs", "axes", "metrics", "uint8_overflow", "shapes_seen", "activations",
    "gradient_clips", "gradient_flow", "forwards", "weight_updates", "schedulers", "gradient_reach", "distributed",
    "collectives",
)  # fmt: skip
"""Who hears of an event first, where that matters: later ones ask earlier ones what they made of it."""


@cache
def observers() -> list[tuple[str, type[Observer]]]:
    """(name of the file, class), in the order in which they hear of events."""
    named = {module.__name__.rpartition(".")[2]: module for module in modules_in("stepscope.record.observers")}
    ranked = sorted(named, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))
    return [(name, one) for name in ranked for one in vars(named[name]).values() if _is_observer(one, named[name])]


def _is_observer(value: object, module: ModuleType) -> bool:
    kind = isinstance(value, type) and issubclass(value, Observer) and value.__module__ == module.__name__
    return kind and value is not Observer and value.everywhere  # type: ignore[attr-defined]
