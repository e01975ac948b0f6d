"""The settings of a script that tells nobody: parsed arguments, config objects, constants at its top, optimizers."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import re
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.loop import Loop, samples_in
from stepscope.track.assigned import assigned

__all__ = ["Hyperparameters", "constants_of", "optimizer_settings"]

_CONFIG_NAMES = re.compile(
    r"(?i)^(config|cfg|args|arguments|hparams|hyperparameters|opt|options|params|settings|flags|hp)$"
)
_CONFIG_CLASSES = re.compile(r"(?i)(config|args|arguments|hparams|hyperparameters|options|settings|params)$")
_PLAIN = (int, float, str, bool, type(None))
_MOST = 200
_OPTIMIZER_KEYS = ("lr", "momentum", "betas", "eps", "weight_decay", "nesterov", "alpha", "rho", "amsgrad")


class Hyperparameters:
    """Gathers settings where scripts make them; `record(values)` is told of what is new."""

    def __init__(self, record: Callable[[Mapping[str, Any]], None]) -> None:
        self._record = fence.fenced("recording hyper-parameters")(record)
        self._installed = Installed()
        self._from_parser = False
        self._optimizers: set[int] = set()
        self._batch_size: int | None = None

    def install(self, imports: Imports) -> None:
        # parse_args calls parse_known_args, and so do the intermixed forms: one door for all.
        point, kind = "argparse:ArgumentParser.parse_known_args", argparse.ArgumentParser
        self._installed.after(point, "reading parsed arguments", self._parsed, kind)
        imports.when("click", self._hook_click)
        imports.when("omegaconf", self._hook_omegaconf)

    def follow(self, loop: Loop) -> None:
        """Look at every optimizer when it first steps, and at the first batch."""

        def first_batch(iterator: Any, batch: Any) -> None:
            size = samples_in(batch)
            if size:
                loop.on_batch = [one for one in loop.on_batch if one is not first_batch]
                self.look_at_batch(size)

        loop.on_optimizer.append(self.look_at_optimizer)
        loop.on_batch.append(first_batch)

    def remove(self) -> None:
        self._installed.remove()

    def _parsed(self, frame: Any, made: Any, *args: Any, **kwargs: Any) -> None:
        values = {name: value for name, value in vars(made[0]).items() if not callable(value)}
        if values:
            self._from_parser = True
            self._record(values)

    def _hook_click(self, click: ModuleType) -> None:
        """A command's parameters, when it is invoked: `--lr 0.1` reaches the function as `lr`."""
        self._installed.before("click:Command.invoke", "reading a command's parameters", self._invoked, click.Command)

    def _invoked(self, frame: Any, command: Any, context: Any) -> None:
        if context.params and context.info_name != "stepscope":
            self._from_parser = True
            self._record(dict(context.params))

    def _hook_omegaconf(self, omegaconf: ModuleType) -> None:
        """Hydra hands the script its config through `set_struct` once it is composed."""
        kind = omegaconf.OmegaConf

        def composed(frame: Any, config: Any, *args: Any, **kwargs: Any) -> None:
            self._composed(kind, config)

        self._installed.before("omegaconf:OmegaConf.set_struct", "reading a composed config", composed, kind)

    def _composed(self, kind: Any, config: Any) -> None:
        values = kind.to_container(config, resolve=False)
        if isinstance(values, Mapping):
            self._from_parser = True
            self._record({name: value for name, value in values.items() if name != "hydra"})

    # -- at the first step, when everything is there --------------------------------------------------------------

    @fence.fenced("reading the script's settings")
    def look_at_script(self) -> None:
        """Config objects among the script's globals; its constants where there is nothing else."""
        main = sys.modules.get("__main__")
        if main is None:
            return
        found = config_objects(vars(main))
        if found:
            self._record(found)
        elif not self._from_parser:
            constants = constants_of(main)
            if constants:
                self._record(constants)

    @fence.fenced("reading an optimizer's settings")
    def look_at_optimizer(self, optimizer: Any) -> None:
        if id(optimizer) in self._optimizers:
            return
        self._optimizers.add(id(optimizer))
        if assigned() is not None:
            return  # a sweep's parameters say it; and what only runs that come far have would look as if it mattered
        number = len(self._optimizers)
        self._record({"optimizer" if number == 1 else f"optimizer{number}": optimizer_settings(optimizer)})

    def look_at_batch(self, size: int) -> None:
        if size and self._batch_size is None:
            self._batch_size = size
            if assigned() is None:
                self._record({"batch_size (seen)": size})


def optimizer_settings(optimizer: Any) -> dict[str, Any]:
    """Its class and what it was made with."""
    values: dict[str, Any] = {"name": type(optimizer).__name__}
    group = optimizer.param_groups[0] if optimizer.param_groups else {}
    for key in _OPTIMIZER_KEYS:
        value = group.get("initial_lr", group.get("lr")) if key == "lr" else optimizer.defaults.get(key)
        parts = value if isinstance(value, tuple) else (value,)
        if value is not None and all(isinstance(part, _PLAIN) for part in parts):
            values[key] = value
    return values


def config_objects(names: Mapping[str, Any]) -> dict[str, Any]:
    """What the script keeps its settings in: a dict, namespace or dataclass under one of the usual names."""
    found: dict[str, Any] = {}
    for name, value in list(names.items()):
        if name.startswith("_") or isinstance(value, ModuleType):
            continue
        if _CONFIG_NAMES.match(name) and isinstance(value, dict | argparse.Namespace):
            found.update(value if isinstance(value, dict) else vars(value))
        elif _is_config_class(type(value)) and (dataclasses.is_dataclass(value) or _CONFIG_NAMES.match(name)):
            found.update(_fields(value))
        elif isinstance(value, type) and _is_config_class(value) and value.__module__ == "__main__":
            found.update({k: v for k, v in vars(value).items() if not k.startswith("_") and isinstance(v, _PLAIN)})
    return {str(name): value for name, value in list(found.items())[:_MOST]}


def _fields(config: Any) -> dict[str, Any]:
    """What it holds. Of a class from a package: what it was made with, without what it works out for itself."""
    values = {key: each for key, each in vars(config).items() if not callable(each)}
    if type(config).__module__ == "__main__":
        return values
    if dataclasses.is_dataclass(config):
        made_with = {field.name for field in dataclasses.fields(config) if field.init}
        values = {key: each for key, each in values.items() if key in made_with}
    return {key: each for key, each in values.items() if each is not None and not key.startswith("_")}


def _is_config_class(kind: type) -> bool:
    return bool(_CONFIG_CLASSES.search(kind.__name__)) and kind.__module__ not in ("argparse", "builtins")


def constants_of(main: ModuleType) -> dict[str, Any]:
    """Simple values bound once at the top of the script: `LR = 1e-3`, `epochs = 5`."""
    try:
        with open(str(main.__file__), encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, AttributeError):
        return {}
    bound: dict[str, int] = {}
    literal: set[str] = set()
    for node in tree.body:
        for target in _names_bound(node):
            bound[target] = bound.get(target, 0) + 1
            if isinstance(node, ast.Assign | ast.AnnAssign) and _is_simple(node.value):
                literal.add(target)
    names = vars(main)
    kept = [n for n in bound if bound[n] == 1 and n in literal and not n.startswith("_") and n in names]
    return {name: names[name] for name in kept[:_MOST] if isinstance(names[name], _PLAIN)}


def _names_bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.AugAssign):
        return [node.target.id] * 2 if isinstance(node.target, ast.Name) else []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    found = []
    for target in targets:
        items = target.elts if isinstance(target, ast.Tuple) else [target]
        found += [item.id for item in items if isinstance(item, ast.Name)]
    return found


def _is_simple(value: ast.expr | None) -> bool:
    """Numbers, texts and arithmetic of numbers; no calls."""
    if value is None:
        return False
    allowed = ast.Constant | ast.UnaryOp | ast.BinOp | ast.operator | ast.unaryop | ast.Tuple | ast.expr_context
    return all(isinstance(node, allowed) for node in ast.walk(value))
