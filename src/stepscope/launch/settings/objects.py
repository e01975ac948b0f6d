"""Objects that a script keeps its settings in, wherever it keeps them: globals, and variables of running functions."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType, ModuleType
from typing import Any

from stepscope.common.code_owner import is_own_file
from stepscope.events.patches import is_ours
from stepscope.launch.settings.constants import MOST, PLAIN
from stepscope.launch.settings.source import COMMAND_LINE, DEFAULT, ENVIRONMENT, SCRIPT, Words
from stepscope.track.config import as_mapping, flatten, plain

_CONFIG_NAMES = re.compile(
    r"(?i)^(config|cfg|args|arguments|hparams|hyperparameters|opt|options|params|settings|flags|hp|conf)$"
)
_CONFIG_CLASSES = re.compile(
    r"(?i)(config|cfg|args|arguments|hparams|hyperparameters|options|settings|params|cfgnode)$"
)
_FRAMES = 20
_DEEPEST = 3


def names_in_reach(frame: FrameType | None) -> Iterator[Mapping[str, Any]]:
    """The variables of the script: of its functions that are running, the innermost first, then its globals."""
    for one in _own_frames(frame):
        found = _variables(one)
        if found is None:
            continue
        yield found
        owner = found.get("self")
        if owner is not None and hasattr(owner, "__dict__"):
            yield {name: value for name, value in vars(owner).items() if _CONFIG_NAMES.match(name)}
    main = sys.modules.get("__main__")
    yield {} if main is None else vars(main)


def variables_of(function: Callable[..., Any], frame: FrameType | None) -> Mapping[str, Any]:
    """The variables of a function that is running; nothing if it is not."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return next((_variables(one) or {} for one in _own_frames(frame) if one.f_code is code), {})


def _variables(frame: FrameType) -> dict[str, Any] | None:
    # Functions that call `locals()` share that very dict with us (before Python 3.13): it is left alone.
    if "locals" in frame.f_code.co_names or frame.f_code.co_name == "<module>":
        return None
    names = frame.f_locals
    found = dict(names)
    if type(names) is dict:
        names.clear()  # a copy that the frame would keep, and with it every tensor in it
    return found


def inner_objects(reach: Sequence[Mapping[str, Any]]) -> list[object]:
    """Settings inside other settings (`config.trainer`): with those they are read under their full names."""
    found: list[object] = []
    for names in reach:
        for name, value in list(names.items()):
            if _CONFIG_NAMES.match(name) and type(value).__module__.partition(".")[0] != "omegaconf":
                found += _inside(value, 0)
    return found


def _inside(value: object, depth: int) -> Iterator[object]:
    fields = None if isinstance(value, type | ModuleType) or depth > _DEEPEST else as_mapping(value)
    for one in [] if fields is None else list(fields.values())[:MOST]:
        if not isinstance(one, (*PLAIN, list, tuple)) and as_mapping(one):
            yield one
            yield from _inside(one, depth + 1)


def instance_of(kind: type, reach: Sequence[Mapping[str, Any]]) -> object | None:
    """The object that a class was called to make: the first of that class, None where it is out of reach."""
    values = (value for names in reach for value in list(names.values()))
    return next((value for value in values if type(value) is kind), None)


def _own_frames(frame: FrameType | None) -> Iterator[FrameType]:
    left = _FRAMES
    while frame is not None and left:
        if not is_ours(frame) and is_own_file(frame.f_code.co_filename):
            left -= 1
            yield frame
        frame = frame.f_back


def config_objects(names: Mapping[str, Any], known: Sequence[object] = ()) -> tuple[dict[str, Any], dict[str, str]]:
    """Settings in objects under the usual names or of the usual classes, flat, with where each comes from.

    Objects that are `known` were read already.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    words = Words(sys.argv[1:])
    for name, value in list(names.items()):
        if name.startswith("_") or isinstance(value, ModuleType) or any(value is one for one in known):
            continue
        fields = _fields_of(name, value)
        if fields:
            found = dict(list(flatten(fields).items())[:MOST])
            values.update({key: each for key, each in found.items() if key not in values})
            for key, each in found.items():
                origins.setdefault(key, COMMAND_LINE if words.give(key) else _origin(value, key, each))
    return values, origins


def _fields_of(name: str, value: Any) -> Mapping[str, Any] | None:
    """What an object holds if it is one for settings, else None."""
    kind = type(value)
    named = bool(_CONFIG_NAMES.match(name))
    if isinstance(value, type):
        is_config = _is_config_class(value) and value.__module__ == "__main__" and not dataclasses.is_dataclass(value)
        own = {k: v for k, v in vars(value).items() if not k.startswith("_") and isinstance(v, PLAIN)}
        return own if is_config and not hasattr(value, "model_fields") else None
    if isinstance(value, Mapping):
        return _plain_items(value) if named or _is_config_class(kind) else None
    if isinstance(value, argparse.Namespace):
        return vars(value) if named else None
    if _is_config_class(kind) and (dataclasses.is_dataclass(value) or hasattr(kind, "model_fields") or named):
        return _fields(value)
    return None


def _plain_items(value: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Tensors, modules and functions under such a name are not settings (`params = dict(net.named_parameters())`)."""
    kept = {str(key): each for key, each in value.items() if _is_setting(each)}
    return kept if len(kept) * 2 > len(value) else {}


def _is_setting(value: Any) -> bool:
    if isinstance(value, (*PLAIN, os.PathLike, Mapping)):
        return True
    if isinstance(value, list | tuple):
        return len(value) <= MOST and all(_is_setting(one) for one in value)
    return dataclasses.is_dataclass(value)


def _fields(config: Any) -> Mapping[str, Any]:
    """What it holds. Of a class from a package: what it was made with, without what it works out for itself."""
    values = as_mapping(config)
    if values is None:
        return {}
    values = {str(key): each for key, each in values.items() if not callable(each)}
    if _is_own_class(type(config)):
        return values
    if dataclasses.is_dataclass(config):
        made_with = {field.name for field in dataclasses.fields(config) if field.init}
        values = {key: each for key, each in values.items() if key in made_with}
    return {key: each for key, each in values.items() if each is not None and not key.startswith("_")}


def _is_own_class(kind: type) -> bool:
    if kind.__module__ == "__main__":
        return True
    module = sys.modules.get(kind.__module__)
    return is_own_file(str(getattr(module, "__file__", None) or "<built in>"))


def _is_config_class(kind: type) -> bool:
    return bool(_CONFIG_CLASSES.search(kind.__name__)) and kind.__module__ not in ("argparse", "builtins")


def _origin(config: Any, name: str, value: Any) -> str:
    """A field that has the value its class gives it is a default; pydantic knows which were set."""
    top = name.partition("/")[0]
    known = getattr(type(config), "model_fields", None)
    if isinstance(known, Mapping) and top in known:
        if top not in config.model_fields_set:
            return DEFAULT
        prefix = str(dict(getattr(config, "model_config", {})).get("env_prefix", ""))
        variables = {variable.lower() for variable in os.environ}
        is_settings = any(base.__name__ == "BaseSettings" for base in type(config).__mro__)
        return ENVIRONMENT if is_settings and f"{prefix}{top}".lower() in variables else SCRIPT
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        return SCRIPT
    return DEFAULT if name in (usual := _usual(type(config))) and plain(usual[name]) == plain(value) else SCRIPT


def _usual(kind: Any) -> dict[str, Any]:
    """The defaults of a dataclass, flat."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        if field.default is not dataclasses.MISSING:
            values[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING and field.default_factory in (list, dict, set, tuple):
            values[field.name] = field.default_factory()
        elif isinstance(field.default_factory, type) and dataclasses.is_dataclass(field.default_factory):
            values.update({f"{field.name}/{key}": each for key, each in _usual(field.default_factory).items()})
    return flatten(values)
