"""The observers of a running script, found by folder: a file with one dropped in here is registered."""

from __future__ import annotations

import importlib
import pkgutil
import threading

from stepscope.record.watch.witness import Witness

__all__ = ["observers"]

_FIRST = (
    "optimizers", "steps", "models", "modes", "loaders", "devices", "keeping", "habits",
    "indices", "compiling", "losses", "contractions", "sequences", "attention", "trials", "finite",
    "differences", "layers", "starts", "checkpoints", "numbers", "borrowed", "batches", "targets",
    "deliveries", "entrances", "axes", "metrics", "wraps", "shapes_seen", "activations", "clips",
    "flow", "forwards", "movements", "schedulers", "reaches", "distributed", "collectives",
)  # fmt: skip
"""Who hears of an event first, where that matters: later ones ask earlier ones what they made of it."""
_found: list[tuple[str, type[Witness]]] = []
_finding = threading.Lock()


def observers() -> list[tuple[str, type[Witness]]]:
    """(name of the file, class), in the order in which they hear of events."""
    with _finding:
        if not _found:
            import stepscope.record.watch as folder

            names = [one.name for one in pkgutil.iter_modules(folder.__path__)]
            ranked = sorted(names, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))
            for name in ranked:
                module = importlib.import_module(f"{folder.__name__}.{name}")
                _found.extend((name, one) for one in vars(module).values() if _is_observer(one, module.__name__))
        return list(_found)


def _is_observer(value: object, module: str) -> bool:
    kind = isinstance(value, type) and issubclass(value, Witness) and value.__module__ == module
    return kind and value is not Witness and value.everywhere  # type: ignore[attr-defined]
