"""What parsers of command lines have parsed: argparse and its kin, click, typer, fire, tyro, absl, jsonargparse."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from stepscope.common.code_owner import is_own_file
from stepscope.launch.settings.files import keys_of_file
from stepscope.launch.settings.source import COMMAND_LINE, DEFAULT, ENVIRONMENT, Source, Words, file_label

_CLICK = {"COMMANDLINE": COMMAND_LINE, "ENVIRONMENT": ENVIRONMENT, "PROMPT": "prompt", "DEFAULT_MAP": "config file"}


def of_argparse(made: Any, parser: argparse.ArgumentParser, args: Sequence[str] | None = None, *_: Any) -> Source:
    """The namespace of any parser that descends from argparse's; dataclasses in it are opened (simple-parsing)."""
    namespace = made[0]
    words = list(sys.argv[1:] if args is None else args)
    given = set(_given_dests(parser, words))
    defaults = {action.dest: action.default for one in _parsers(parser) for action in one._actions}
    names = Words(words)

    def read() -> Mapping[str, Any]:
        values = {name: value for name, value in vars(namespace).items() if not callable(value)}
        return _opened(values)

    def origin(name: str, value: Any) -> str:
        dotted = name.replace("/", ".")  # simple-parsing: the field of a dataclass
        if name in given or names.give(name) or any(dest == dotted or dest.endswith(f".{dotted}") for dest in given):
            return COMMAND_LINE
        is_positional = any(action.dest == name and not action.option_strings for action in parser._actions)
        return COMMAND_LINE if is_positional and value != defaults.get(name) else DEFAULT

    return Source(read, origin, namespace)


def _opened(values: dict[str, Any]) -> Mapping[str, Any]:
    """A namespace that holds one dataclass means that dataclass."""
    only = next(iter(values.values())) if len(values) == 1 else None
    fields = getattr(type(only), "__dataclass_fields__", None)
    return values if fields is None else {name: getattr(only, name) for name in fields if hasattr(only, name)}


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in dict.fromkeys(action.choices.values()):
                yield from _parsers(one)


def _given_dests(parser: argparse.ArgumentParser, words: Sequence[str]) -> Iterator[str]:
    """The destinations of the options among the words, also of those that are shortened (`--ep 3`, `-l0.1`)."""
    table = {text: action.dest for one in _parsers(parser) for text, action in one._option_string_actions.items()}
    for word in words:
        head = str(word).partition("=")[0]
        if word == "--":
            return
        if head in table:
            yield table[head]
        elif head.startswith("--"):
            close = {dest for text, dest in table.items() if text.startswith(head)}
            yield from close if len(close) == 1 else ()
        elif head.startswith("-"):
            yield from (table[f"-{letter}"] for letter in head[1:] if f"-{letter}" in table)


def of_click(context: Any) -> Source:
    """A command's parameters; click itself knows where each comes from."""

    def origin(name: str, value: Any) -> str:
        source = context.get_parameter_source(name.partition("/")[0])
        return _CLICK.get(getattr(source, "name", ""), DEFAULT)

    return Source(lambda: dict(context.params), origin, function=context.command.callback)


def of_call(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Source:
    """The arguments a command line gave to a function or class (fire, tyro)."""
    signature = inspect.signature(function)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    values: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            values.update(value)
        elif name != "self" and not (signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL and not value):
            values[name] = value
    words = Words(sys.argv[1:])

    def origin(name: str, value: Any) -> str:
        parameter = signature.parameters.get(name)
        if parameter is not None and parameter.default is not value and parameter.default != value:
            default = getattr(value, "__dataclass_fields__", None)
            return words.origin(name) if default is not None else COMMAND_LINE
        return words.origin(name)

    if isinstance(function, type):
        return Source(lambda: values, origin, makes=function)
    return Source(lambda: values, origin, function=function)


def of_tyro(made: Any, function: Any, *args: Any, **kwargs: Any) -> Source | None:
    """What `tyro.cli` is about to call: the function or class, bound to what was parsed."""
    prefix = kwargs.get("field_name_prefix", args[3] if len(args) > 3 else "")
    call = made[0]
    if prefix or not isinstance(call, partial):
        return None
    return of_call(call.func, call.args, call.keywords)


def of_absl(flags: Any, argv: Sequence[str]) -> Source:
    """The flags that the script's own modules define, not those of absl and of other packages."""
    own = [
        flag
        for module, found in flags.flags_by_module_dict().items()
        if _is_own_module(module)
        for flag in found
        if "." not in flag.name  # `config.lr`: a field of another flag
    ]
    words = Words(argv[1:])

    def origin(name: str, value: Any) -> str:
        if "/" in name:
            return words.origin(name)
        return COMMAND_LINE if flags[name].present else DEFAULT

    return Source(lambda: {flag.name: flag.value for flag in own}, origin)


def _is_own_module(name: str) -> bool:
    module = sys.modules.get(name)
    if module is None:  # the script itself, by its path
        return True
    return name == "__main__" or is_own_file(str(getattr(module, "__file__", None) or "<built in>"))


def of_jsonargparse(parsed: Any, parser: Any, args: Sequence[str] | None = None) -> Source:
    """Nested settings of jsonargparse and LightningCLI, of the chosen subcommand; without what Lightning adds."""
    words = Words(sys.argv[1:] if args is None else args)
    is_lightning = type(parser).__module__.partition(".")[0] in ("lightning", "pytorch_lightning")
    values, files = _of_subcommand(parsed)
    chosen = values.get("subcommand")
    in_files = {key: file_label(file) for file in files for key in keys_of_file(file, chosen)}

    def origin(name: str, value: Any) -> str:
        short = name.replace("/init_args/", "/").removesuffix("/class_path")  # `--net.width 16`, `--net Small`
        if words.give(name) or words.give(short) or name == "subcommand":
            return COMMAND_LINE
        if name in in_files:
            return in_files[name]
        variable = f"{getattr(parser, 'env_prefix', '') or ''!s}_{name}".replace("/", "__").upper()
        if getattr(parser, "default_env", False) and variable.lstrip("_") in os.environ:
            return ENVIRONMENT
        found = words.origin_above(name) or DEFAULT
        is_lightnings = (
            name.startswith("trainer/") or value is None or name in ("seed_everything", "return_predictions")
        )
        return "" if found == DEFAULT and is_lightning and is_lightnings else found

    return Source(lambda: _of_subcommand(parsed)[0], origin, parsed)


def _of_subcommand(parsed: Any) -> tuple[dict[str, Any], list[str]]:
    """The settings, those of the chosen subcommand without its name before them, and the config files."""
    values: dict[str, Any] = dict(parsed.as_dict())
    chosen = values.get("subcommand")
    if isinstance(chosen, str) and isinstance(values.get(chosen), dict):
        below = values.pop(chosen)
        values |= below
    return values, [str(path) for path in _config_files(values)]


def _config_files(values: dict[str, Any]) -> Iterator[Path]:
    """The config files that were given; they are taken out of the settings."""
    for name, value in list(values.items()):
        items = value if isinstance(value, list) else [value]
        is_files = bool(items) and all(hasattr(one, "relative") and hasattr(one, "absolute") for one in items)
        if is_files or name in ("config", "__default_config__"):
            del values[name]
            yield from (Path(str(one)) for one in items if one is not None)
