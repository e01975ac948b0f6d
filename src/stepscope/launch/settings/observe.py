"""Listens to the libraries that parse settings: hooked when they are imported, all of them end in `take(Source)`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.settings.callers import is_asked_by_script
from stepscope.launch.settings.files import keys_of_file, of_hydra, of_loaded, of_omegaconf, of_yacs, settings_file
from stepscope.launch.settings.parsers import of_absl, of_argparse, of_call, of_click, of_jsonargparse, of_tyro
from stepscope.launch.settings.source import COMMAND_LINE, Source, file_label
from stepscope.track.config import flatten

_ARGPARSE = frozenset(
    ["argparse", "simple_parsing", "transformers", "pyrallis", "draccus", "tap", "configargparse", "datargs"]
)
_JSONARGPARSE = frozenset(["jsonargparse", "lightning", "pytorch_lightning"])
_FILES = frozenset(["yaml", "json", "tomllib", "tomli", "omegaconf"])
_WHO = "reading the script's settings"


class Parsed:
    """The settings that libraries parse for the script: each goes to `take`, the start of a Hydra job to `job`."""

    def __init__(self, take: Callable[[Source], None], job: Callable[[int, str], None]) -> None:
        self._take, self._job = take, job
        self._installed = Installed()
        self._depth = 0
        self._merged: dict[int, tuple[Any, dict[str, str], list[str]]] = {}
        self.files: dict[str, str] = {}
        """The file that each setting was last loaded from."""

    def install(self, imports: Imports) -> None:
        # parse_args calls parse_known_args, and so do the intermixed forms: one door for all.
        self._outermost("argparse:ArgumentParser.parse_known_args", self._argparse, argparse.ArgumentParser)
        for name, hook in (
            ("click", self._hook_click),
            ("typer._click.core", self._hook_typer),
            ("simple_parsing.parsing", self._hook_simple_parsing),
            ("jsonargparse", self._hook_jsonargparse),
            ("fire.core", self._hook_fire),
            ("tyro._calling", self._hook_tyro),
            ("absl.flags._flagvalues", self._hook_absl),
            ("hydra._internal.callbacks", self._hook_hydra),
            ("omegaconf", self._hook_omegaconf),
            ("yacs.config", self._hook_yacs),
            ("yaml", self._hook_yaml),
            ("json", self._hook_json),
            ("tomllib", self._hook_toml),
        ):
            imports.when(name, hook)

    def remove(self) -> None:
        self._installed.remove()
        self._merged.clear()

    def _outermost(self, point: str, heard: Callable[..., Any], owner: Any) -> None:
        """Have `heard(frame, result, *args, **kwargs)` called after a call, but not after those made inside it."""

        def layer(original: Callable[..., Any]) -> Callable[..., Any]:
            def hearing(*args: Any, **kwargs: Any) -> Any:
                self._depth += 1
                try:
                    result = original(*args, **kwargs)
                finally:
                    self._depth -= 1
                if not self._depth:
                    frame = sys._getframe(1)
                    fence.call(_WHO, lambda: heard(frame, result, *args, **kwargs))
                return result

            return hearing

        if owner is not None:
            self._installed.wrap(point, layer, owner)

    # -- command lines --------------------------------------------------------------------------------------------

    def _argparse(self, frame: Any, made: Any, parser: Any, args: Any = None, *rest: Any, **kwargs: Any) -> None:
        if is_asked_by_script(frame, _ARGPARSE):
            self._take(of_argparse(made, parser, args))

    def _hook_simple_parsing(self, module: ModuleType) -> None:
        owner = vars(module)["ArgumentParser"]
        self._outermost("simple_parsing.parsing:ArgumentParser.parse_known_args", self._argparse, owner)

    def _hook_jsonargparse(self, module: ModuleType) -> None:
        self._outermost("jsonargparse:ArgumentParser.parse_args", self._jsonargparse, vars(module)["ArgumentParser"])

    def _jsonargparse(self, frame: Any, made: Any, parser: Any, args: Any = None, *rest: Any, **kwargs: Any) -> None:
        if is_asked_by_script(frame, _JSONARGPARSE):
            self._take(of_jsonargparse(made, parser, args))

    def _hook_click(self, click: ModuleType) -> None:
        """A command's parameters, when it is invoked: `--lr 0.1` reaches the function as `lr`."""
        self._installed.before("click:Command.invoke", _WHO, self._invoked, vars(click)["Command"])

    def _hook_typer(self, module: ModuleType) -> None:
        """Newer versions of typer have a click of their own inside."""
        self._installed.before("typer._click.core:Command.invoke", _WHO, self._invoked, vars(module)["Command"])

    def _invoked(self, frame: Any, command: Any, context: Any) -> None:
        if context.params and context.info_name != "stepscope":
            self._take(of_click(context))

    def _hook_fire(self, module: ModuleType) -> None:
        def layer(make: Callable[..., Any]) -> Callable[..., Any]:
            def making(function: Any, *rest: Any) -> Any:
                parse = make(function, *rest)

                def parsing(args: Any) -> Any:
                    parsed = parse(args)
                    fence.call(_WHO, lambda: self._take(of_call(function, *parsed[0])))
                    return parsed

                return parsing

            return making

        self._installed.wrap("fire.core:_MakeParseFn", layer, module)

    def _hook_tyro(self, module: ModuleType) -> None:
        def heard(frame: Any, made: Any, *args: Any, **kwargs: Any) -> None:
            source = of_tyro(made, *args, **kwargs)
            if source is not None:
                self._take(source)

        self._outermost("tyro._calling:callable_with_args", heard, module)

    def _hook_absl(self, module: ModuleType) -> None:
        def heard(frame: Any, made: Any, flags: Any, argv: Any, *rest: Any, **kwargs: Any) -> None:
            if flags.flags_by_module_dict():
                self._take(of_absl(flags, argv))

        self._outermost("absl.flags._flagvalues:FlagValues.__call__", heard, vars(module)["FlagValues"])

    # -- composed configs -----------------------------------------------------------------------------------------

    def _hook_hydra(self, module: ModuleType) -> None:
        """A job begins: its config is composed, with the overrides, and the script's function is about to be called."""

        def heard(frame: Any, callbacks: Any, config: Any, *rest: Any, **kwargs: Any) -> None:
            select = sys.modules["omegaconf"].OmegaConf.select
            number = select(config, "hydra.job.num", throw_on_missing=False)
            if isinstance(number, int):
                self._job(number, str(select(config, "hydra.sweep.dir")))
            self._take(of_hydra(config, frame))

        owner = vars(module)["Callbacks"]
        self._installed.before("hydra._internal.callbacks:Callbacks.on_job_start", _WHO, heard, owner)

    def _hook_omegaconf(self, module: ModuleType) -> None:
        owner = vars(module)["OmegaConf"]

        def heard(frame: Any, made: Any, *args: Any, **kwargs: Any) -> None:
            if is_asked_by_script(frame, _FILES) and isinstance(made, Mapping | vars(module)["DictConfig"]):
                file = (
                    args[0] if args and isinstance(args[0], str) else getattr(args[0], "name", None) if args else None
                )
                self._composed(made, str(file) if file else None)

        for name in ("load", "merge", "unsafe_merge"):
            self._outermost(f"omegaconf:OmegaConf.{name}", heard, owner)

    def _composed(self, config: Any, file: str | None) -> None:
        if file is not None:
            self._remember(config, file)
        self._take(of_omegaconf(config, file, self.files, sys.argv[1:]))

    def _hook_yacs(self, module: ModuleType) -> None:
        owner = vars(module)["CfgNode"]

        def merged_file(frame: Any, made: Any, config: Any, path: Any, *rest: Any) -> None:
            found = {key: file_label(path) for key in keys_of_file(str(path))}
            self._merge(config, found, [])

        def merged_list(frame: Any, made: Any, config: Any, words: Any) -> None:
            self._merge(config, {}, [str(word) for word in words[::2]])

        self._outermost("yacs.config:CfgNode.merge_from_file", merged_file, owner)
        self._outermost("yacs.config:CfgNode.merge_from_list", merged_list, owner)

    def _merge(self, config: Any, files: dict[str, str], words: list[str]) -> None:
        _, known, given = self._merged.setdefault(id(config), (config, {}, []))
        known.update(files)
        given.extend(words)
        self._take(of_yacs(config, known, given))

    # -- files that the script loads by itself --------------------------------------------------------------------

    def _hook_yaml(self, module: ModuleType) -> None:
        def heard(frame: Any, made: Any, stream: Any = None, *rest: Any, **kwargs: Any) -> None:
            self._loaded(frame, made, settings_file(stream, "yaml"))

        self._outermost("yaml:load", heard, module)

    def _hook_json(self, module: ModuleType) -> None:
        self._outermost("json:load", self._json, module)

    def _hook_toml(self, module: ModuleType) -> None:
        self._outermost("tomllib:load", self._json, module)

    def _json(self, frame: Any, made: Any, stream: Any = None, *rest: Any, **kwargs: Any) -> None:
        self._loaded(frame, made, settings_file(stream, "json"))

    def _loaded(self, frame: Any, made: Any, file: str | None) -> None:
        if file is not None and isinstance(made, dict) and is_asked_by_script(frame, _FILES):
            self._remember(made, file)
            self._take(of_loaded(made, file))

    def _remember(self, values: Any, file: str) -> None:
        self.files.update({key: file_label(file) for key in flatten(values)})

    def origin(self, name: str, said: str) -> str:
        """Defaults that were loaded before (`parser.set_defaults(**yaml.safe_load(file))`) come from the file."""
        return said if said == COMMAND_LINE else self.files.get(name, said)
