"""The settings of a script that logs nothing: parsed arguments, config files and objects, constants, optimizers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.events.imports import Imports
from stepscope.launch.batch_samples import samples_in
from stepscope.launch.loop import Loop
from stepscope.launch.settings.constants import PLAIN, as_settings, constants_of, origin_of_constant, variables_read
from stepscope.launch.settings.objects import config_objects, inner_objects, instance_of, names_in_reach, variables_of
from stepscope.launch.settings.observe import Parsed
from stepscope.launch.settings.source import DEFAULT, SCRIPT, Source
from stepscope.track.config import as_mapping
from stepscope.track.sweep_assignment import assigned

if TYPE_CHECKING:
    from torch.optim import Optimizer

Record = Callable[[Mapping[str, Any], bool, Mapping[str, str]], None]
"""Given values, whether they overrule what was recorded before, and where each comes from."""

_MOST = 200
_OPTIMIZER_KEYS = ("lr", "momentum", "betas", "eps", "weight_decay", "nesterov", "alpha", "rho", "amsgrad")


class Hyperparameters:
    """Gathers settings where scripts make them. `record` gets them; `another(number, group)` each job of a sweep."""

    def __init__(self, record: Record, another: Callable[[int, str], None] = lambda number, group: None) -> None:
        self._record = fence.fenced("recording hyper-parameters")(record)
        self._another = another
        self._parsed = Parsed(self._take, self._begin_job)
        self._sources: list[Source] = []
        self._optimizers = 0
        self._batch_size: int | None = None
        self._must_look = self._has_looked = False
        self._loop: Loop | None = None

    def install(self, imports: Imports) -> None:
        self._parsed.install(imports)

    def follow(self, loop: Loop) -> None:
        """Look at every optimizer when it first steps, and at the first batch."""

        def first_batch(iterator: Any, batch: Any) -> None:
            size = samples_in(batch)
            if size:
                loop.on_batch = [one for one in loop.on_batch if one is not first_batch]
                self.look_at_batch(size)

        self._loop = loop
        loop.on_optimizer.append(self.look_at_optimizer)
        loop.on_batch.append(first_batch)

    def remove(self) -> None:
        self._parsed.remove()
        self._sources.clear()

    def _take(self, source: Source) -> None:
        values, origins = source.first()
        if not values:
            return
        self._sources = [one for one in self._sources if one.holder is None or one.holder is not source.holder]
        self._sources.append(source)
        found = {name: self._parsed.origin(name, said) if said == DEFAULT else said for name, said in origins.items()}
        self._record(dict(list(values.items())[:_MOST]), True, found)

    def _begin_job(self, number: int, group: str) -> None:
        self._sources.clear()
        self._optimizers = 0
        self._must_look = number > 0
        if self._loop is not None:
            self._loop.forget_optimizers()
        fence.call("opening the run of the next job", self._another, number, group)

    # -- at the first step, when everything is there --------------------------------------------------------------

    @fence.fenced("reading the script's settings")
    def look_at_script(self) -> None:
        """What the script has changed since it was parsed; its config objects; its constants; variables it reads."""
        self._must_look, self._has_looked = False, True
        reach = list(names_in_reach(sys._getframe(1)))
        for source in self._sources:
            self._hold_what_was_made(source, reach)
            changed = source.changed()
            if source.function is not None:
                changed |= source.changed_in(variables_of(source.function, sys._getframe(1)))
            if changed:
                self._record(changed, True, dict.fromkeys(changed, SCRIPT))
        is_bare = not self._sources
        known = [*inner_objects(reach), *(one.holder for one in self._sources)]
        for names in reach:
            values, origins = config_objects(names, known)
            if values:
                is_bare = False
                for source in self._sources:
                    used = source.overruled_by(values)
                    self._record(used, True, dict.fromkeys(used, SCRIPT))
                said = {name: self._parsed.files.get(name, where) for name, where in origins.items()}
                self._record(values, False, said)
        self._look_at_text(is_bare)

    def _hold_what_was_made(self, source: Source, reach: list[Mapping[str, Any]]) -> None:
        """`args = tyro.cli(Args)`: from now on the object is read, which the script continues to fill in."""
        made = None if source.makes is None or source.holder is not None else instance_of(source.makes, reach)
        if made is not None:
            source.holder, source.read = made, lambda: as_mapping(made) or {}

    def look_at_the_end(self) -> None:
        """A script without a step that was recognized: its constants and objects are settings all the same."""
        if not self._has_looked:
            self.look_at_script()

    def _look_at_text(self, is_bare: bool) -> None:
        """Constants in capitals are settings anywhere; others where a script has nothing else."""
        main = sys.modules.get("__main__")
        constants = {} if main is None else constants_of(main)
        kept = {name: value for name, value in constants.items() if is_bare or name.isupper()}
        self._record(kept, False, {name: origin_of_constant(name, value) for name, value in kept.items()})
        values, origins = as_settings(variables_read())
        self._record(values, False, origins)

    @fence.fenced("reading an optimizer's settings")
    def look_at_optimizer(self, optimizer: Optimizer) -> None:
        self._optimizers += 1
        if self._must_look:
            self.look_at_script()
        if assigned() is not None:
            return  # a sweep's parameters say it; and what only runs that come far have would look as if it mattered
        folder = "optimizer" if self._optimizers == 1 else f"optimizer{self._optimizers}"
        values = {f"{folder}/{name}": value for name, value in optimizer_settings(optimizer).items()}
        self._record(values, False, dict.fromkeys(values, "optimizer"))

    def look_at_batch(self, size: int) -> None:
        if size and self._batch_size is None:
            self._batch_size = size
            if assigned() is None:
                self._record({"batch_size (seen)": size}, False, {"batch_size (seen)": "data loader"})


def optimizer_settings(optimizer: Optimizer) -> dict[str, Any]:
    """Its class and what it was made with."""
    values: dict[str, Any] = {"name": type(optimizer).__name__}
    group = optimizer.param_groups[0] if optimizer.param_groups else {}
    for key in _OPTIMIZER_KEYS:
        value = group.get("initial_lr", group.get("lr")) if key == "lr" else optimizer.defaults.get(key)
        parts = value if isinstance(value, tuple) else (value,)
        if value is not None and all(isinstance(part, PLAIN) for part in parts):
            values[key] = value
    return values
