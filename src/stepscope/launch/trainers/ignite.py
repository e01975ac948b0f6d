"""Ignite's boundaries: which engine trains, which evaluates, where epochs end, and the metrics engines compute.

An engine runs any function over any data. One that runs inside another's handlers evaluates; of the others the name of
the function tells (`train_step`, `evaluate`), and where it does not, nothing is assumed and the loop is followed as
any other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.loader_roles import Role, role_in_words
from stepscope.launch.trainers.boundaries import Boundaries, Stage
from stepscope.launch.trainers.wrap_method import after, around

NAME = "Ignite"
_STAGES: dict[Role, Stage] = {"train": "training", "val": "validation", "test": "test"}


def follow(imports: Imports, installed: Installed, boundaries: Boundaries) -> None:
    """Wait for its engine."""
    imports.when("ignite.engine.engine", lambda module: _Follower(boundaries).hook(installed))


class _Follower:
    def __init__(self, boundaries: Boundaries) -> None:
        self._boundaries = boundaries
        self._running: list[Any] = []
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()

    def hook(self, installed: Installed) -> None:
        around(installed, "ignite.engine.engine:Engine.run", self._run)
        after(installed, "ignite.engine.engine:Engine._fire_event", self._fired)

    def _run(self, engine: Any, *args: Any, **kwargs: Any) -> Callable[[], None]:
        stage: Stage | None = "validation" if self._running else _by_name(engine)
        leave = None if stage is None else self._boundaries.enter(stage, NAME)
        self._boundaries.trainer = NAME
        self._running.append(engine)

        def over() -> None:
            del self._running[self._running.index(engine) :]
            if leave is not None:
                leave()

        return over

    def _fired(self, result: Any, engine: Any, event: Any, *args: Any, **kwargs: Any) -> None:
        """Metrics are computed by handlers of these events, so they are there after them."""
        name = getattr(event, "name", "")
        if name == "EPOCH_COMPLETED" and self._running[:1] == [engine]:
            self._boundaries.epoch_is_over()
            self._log(engine)
        elif name == "COMPLETED" and engine in self._running[1:]:
            self._log(engine)

    def _log(self, engine: Any) -> None:
        if "stepscope.integrations.ignite" in sys.modules:  # the script logs to us, under names of its own
            return
        prefix = self._names.get(engine)
        if prefix is None:
            prefix = self._names[engine] = self._name(engine)
        numbers = {f"{prefix}/{key}": value for key, value in engine.state.metrics.items() if _is_number(value)}
        if numbers:
            self._boundaries.logged(numbers)

    def _name(self, engine: Any) -> str:
        """As the script calls it, where it is a global name of it; else by what it does."""
        main = sys.modules.get("__main__")
        for name, value in list(vars(main).items()) if main is not None else ():
            if value is engine and not name.startswith("_"):
                return name
        kind = "trainer" if self._running[:1] == [engine] else "evaluator"
        taken = sum(1 for name in self._names.values() if name.rstrip("0123456789") == kind)
        return kind if not taken else f"{kind}{taken + 1}"


def _by_name(engine: Any) -> Stage | None:
    function = getattr(engine, "_process_function", None)
    role = role_in_words(str(getattr(function, "__qualname__", "")).replace("<locals>", ""))
    return None if role is None else _STAGES[role]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or (hasattr(value, "item") and getattr(value, "shape", None) in ((), (1,)))
