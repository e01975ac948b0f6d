"""Load the model that a user names on the command line: `pkg.module:Net`, `path/to/file.py:build_model`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from stepscope.errors import NotFound, UsageError


def load_model(target: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Import, look up, and construct what `target` names; each error tells what to do."""
    place, colon, name = target.rpartition(":")
    if not colon or "/" in name or "\\" in name:
        place, name = target, ""
    module = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    if not name:
        raise UsageError(f"which model of {place}? Name it as {place}:NAME; {_offers(module)}")
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise NotFound(_missing(part, found, place))
        found = getattr(found, part)
    return _construct(found, name, args, kwargs)


def _import_module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(
            f"{name!r} is neither a module name nor a file; use pkg.module:Net, file.py:Net or a checkpoint's path"
        )
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as fault:
        if fault.name and (name == fault.name or name.startswith(f"{fault.name}.")):
            raise NotFound(
                f"there is no module {fault.name!r} in {here} or among the installed packages; check the name"
            ) from None
        raise UsageError(f"importing {name} failed: it needs {fault.name!r}, which is not installed") from None
    except Exception as fault:  # whatever the user's own code raises while it is imported
        raise UsageError(f"importing {name} failed{_where(fault)}: {type(fault).__name__}: {fault}") from fault


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise NotFound(f"there is no file {str(path)!r}; check the path")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"_inspected_{abs(hash(path))}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{str(path)!r} cannot be imported; give a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as fault:
        del sys.modules[name]
        raise UsageError(
            f"importing {path} failed{_where(fault)}: it needs {fault.name!r}, which is not installed"
        ) from None
    except Exception as fault:  # whatever the user's own code raises while it is imported
        del sys.modules[name]
        raise UsageError(f"importing {path} failed{_where(fault)}: {type(fault).__name__}: {fault}") from fault
    return module


def _construct(found: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    import torch

    if isinstance(found, torch.nn.Module):
        if args or kwargs:
            raise UsageError(f"{name} is already a model, so it takes no --args or --kwargs; remove them")
        return found
    if not callable(found):
        raise UsageError(
            f"{name} is not a model; its type is {type(found).__name__}; "
            "expected a torch.nn.Module, its class, or a function that makes one"
        )
    _check_arguments(found, name, args, kwargs)
    try:
        made = found(*args, **kwargs)
    except Exception as fault:  # whatever the user's own constructor raises
        raise UsageError(f"constructing {name} failed{_where(fault)}: {type(fault).__name__}: {fault}") from fault
    if not isinstance(made, torch.nn.Module):
        raise UsageError(f"{name} returned a {type(made).__name__}; expected a torch.nn.Module")
    return made


def _check_arguments(found: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> None:
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):  # implemented in C: the call itself will show
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as fault:
        needed = [
            p for p in signature.parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        ]  # fmt: skip
        wants = ", ".join(map(_describe, needed)) or "no arguments"
        raise UsageError(
            f"{name} cannot be constructed like this: {fault}. It needs {wants}; its signature is {name}{signature}. "
            "Give them with --kwargs '{\"name\": value}' or --args '[value]'"
        ) from None


def _describe(parameter: inspect.Parameter) -> str:
    note = parameter.annotation
    if note is parameter.empty:
        return parameter.name
    return f"{parameter.name} ({note if isinstance(note, str) else getattr(note, '__name__', note)})"


def _offers(module: ModuleType) -> str:
    """The models in a module."""
    import torch

    found = [
        name for name, value in vars(module).items()
        if not name.startswith("_")
        and (isinstance(value, torch.nn.Module) or (inspect.isclass(value) and issubclass(value, torch.nn.Module)))
        and (not inspect.isclass(value) or value.__module__ == module.__name__)
    ]  # fmt: skip
    return f"it has {', '.join(found)}" if found else "it defines no torch.nn.Module at its top level"


def _missing(part: str, found: Any, place: str) -> str:
    near = get_close_matches(part, dir(found), n=3)
    if near:
        return f"{place} has no {part!r}; did you mean {' or '.join(near)}?"
    return f"{place} has no {part!r}; {_offers(found)}" if isinstance(found, ModuleType) else f"{place} has no {part!r}"


def _where(fault: BaseException) -> str:
    """The user's line that raised."""
    frames = [f for f in traceback.extract_tb(fault.__traceback__) if not f.filename.startswith("<frozen")]
    own = [f for f in frames if "importlib" not in f.filename and f.filename != __file__]
    return f" at {own[-1].filename}:{own[-1].lineno}" if own else ""
