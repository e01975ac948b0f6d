"""An op's arguments: the tensors among them in order, and the rest as plain data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any

import torch

from stepscope.record.identity import is_tensor_type

_MOST_ITEMS = 64
_MOST_LETTERS = 200
SIMPLE = {int, float, bool, str, type(None), torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format}

_TENSORS = {torch.Tensor, torch.nn.Parameter}

Snapshot = tuple[Callable[..., Any], list[Any], dict[str, Any] | None]
"""The function, its positional arguments with a stand-in for each tensor, and the keywords."""
_A_TENSOR = object()


class _Mark:
    """Stands for the n-th input tensor inside a nested argument."""

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


def snapshot(function: Any, args: Iterable[Any], kwargs: dict[str, Any] | None, inputs: list[Any]) -> Snapshot | None:
    """Collect tensors into `inputs` and freeze the rest; None when there is nothing but tensors."""
    rest: list[Any] = []
    tensors = 0
    for value in args:
        kind = type(value)
        if kind in _TENSORS or (kind not in SIMPLE and is_tensor_type(kind)):
            inputs.append(value)
            rest.append(_A_TENSOR)
            tensors += 1
        else:
            rest.append(value if kind in SIMPLE else _freeze(value, inputs))
    words = None
    if kwargs:
        words = {}
        for name, value in kwargs.items():
            words[name] = _freeze(value, inputs)
    if tensors == len(rest) and not words:
        return None
    return function, rest, words


def _freeze(value: Any, inputs: list[Any]) -> Any:
    kind = type(value)
    if kind in SIMPLE:
        return value
    if is_tensor_type(kind):
        inputs.append(value)
        return _Mark(len(inputs) - 1)
    if isinstance(value, (list, tuple)):
        return [_freeze(item, inputs) for item in value]
    if isinstance(value, dict):
        return {str(key): _freeze(item, inputs) for key, item in value.items()}
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return {"slice": [_freeze(part, inputs) for part in parts]}
    if value is Ellipsis:
        return "..."
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return name if isinstance(name, str) else f"<{kind.__name__}>"


def plain_arguments(frozen: Snapshot | None, numbers: list[int]) -> dict[str, Any]:
    """The frozen arguments by name, JSON-ready; called once the step is over."""
    if frozen is None:
        return {}
    function, values, words = frozen
    rest = [(place, value) for place, value in enumerate(values) if value is not _A_TENSOR]
    names, rest = _positional_names(function, rest)
    plain = {names.get(place) or f"arg{place}": _plain(value, numbers) for place, value in rest}
    for name, value in (words or {}).items():
        if type(value) is not _Mark:  # a tensor by itself is among the inputs
            plain[name] = _plain(value, numbers)
    return plain


def frozen_flat(function: Any, values: list[Any], names: tuple[str, ...]) -> tuple[Snapshot | None, list[Any]]:
    """The snapshot of plain arguments, given as (tensor, ...) or (None, value) pairs; and the tensors.

    The last of them have names.
    """
    inputs: list[Any] = []
    frozen: list[Any] = []
    positional = len(values) // 2 - len(names)
    for place in range(0, len(values), 2):
        tensor = values[place]
        if tensor is None:
            frozen.append(values[place + 1])
        else:
            frozen.append(_A_TENSOR if place < 2 * positional else _Mark(len(inputs)))
            inputs.append(tensor)
    words = dict(zip(names, frozen[positional:], strict=True)) or None
    if len(inputs) == len(frozen) and not words:
        return None, inputs
    return (function, frozen[:positional], words), inputs


def rebuilt(frozen: Snapshot, tensors: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """The positional and named arguments again, with these in place of the input tensors."""
    _, values, words = frozen
    place = 0
    args: list[Any] = []
    for value in values:
        if value is _A_TENSOR:
            args.append(tensors[place])
        else:
            args.append(_filled(value, tensors))
        place += _tensors_within(value)
    return args, {name: _filled(value, tensors) for name, value in (words or {}).items()}


def _filled(value: Any, tensors: list[Any]) -> Any:
    if type(value) is _Mark:
        return tensors[value.position]
    return [_filled(item, tensors) for item in value] if type(value) is list else value


def _tensors_within(value: Any) -> int:
    """How many of the inputs a frozen argument represents."""
    if value is _A_TENSOR or type(value) is _Mark:
        return 1
    items = value if type(value) is list else value.values() if type(value) is dict else ()
    return sum(map(_tensors_within, items))


def _plain(value: Any, numbers: list[int]) -> Any:
    if value is None or isinstance(value, (bool, int)):
        return value if value is None or -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return value[:_MOST_LETTERS]
    if isinstance(value, _Mark):
        return {"tensor": numbers[value.position]}
    if isinstance(value, (list, tuple)):
        plain = [_plain(item, numbers) for item in value[:_MOST_ITEMS]]
        return plain if len(value) <= _MOST_ITEMS else [*plain, f"... {len(value) - _MOST_ITEMS} more"]
    if isinstance(value, dict):
        return {name: _plain(item, numbers) for name, item in list(value.items())[:_MOST_ITEMS]}
    return str(value).removeprefix("torch.")


_INDEXING = {"__getitem__": {1: "index"}, "__setitem__": {1: "index", 2: "value"}}


def _positional_names(function: Any, rest: list[tuple[int, Any]]) -> tuple[dict[int, str], list[tuple[int, Any]]]:
    """Names of positional arguments: from the Python signature, else from the operator's schema."""
    known = _INDEXING.get(getattr(function, "__name__", ""))
    if known is not None:
        return known, rest
    code = getattr(_undispatched(function), "__code__", None)
    if code is not None:
        return dict(enumerate(code.co_varnames[: code.co_argcount])), rest
    schema = getattr(function, "_schema", None)
    if schema is not None:
        return {place: argument.name for place, argument in enumerate(schema.arguments)}, rest
    key = (function, tuple([(place, type(value)) for place, value in rest]))
    known_names = _CHOSEN.get(key)
    if known_names is None:
        known_names = _CHOSEN[key] = _best_schema(function, rest)
    names, gathered = known_names
    return names, _gathered(rest) if gathered else rest


_CHOSEN: dict[Any, tuple[dict[int, str], bool]] = {}
"""Which schema fits is the same for values of the same types, and built-in functions stay."""


def _best_schema(function: Any, rest: list[tuple[int, Any]]) -> tuple[dict[int, str], bool]:
    """The names of the schema that fits best, and whether trailing numbers are taken together for it."""
    best: dict[int, str] = {}
    fitting = -1.0
    together = False
    for arguments in _schemas(_operator_name(function)):
        for gathered, values in ((False, rest), (True, _gathered(rest))):
            if all(place < len(arguments) for place, _ in values):
                score = sum(_fits(value, arguments[place]) for place, value in values) - len(values)
                if not best or score > fitting:
                    fitting, together = score, gathered
                    best = {place: name for place, (name, _) in enumerate(arguments)}
    return best, together


def _undispatched(function: Any) -> Any:
    """`max_pool2d` and its like stand for one of two functions and have no signature themselves."""
    code = getattr(function, "__code__", None)
    if code is None or "if_false" not in code.co_freevars:
        return function
    return function.__closure__[code.co_freevars.index("if_false")].cell_contents


def _gathered(rest: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """`view(2, 3)` is `view(size=[2, 3])`: trailing numbers taken together."""
    first = len(rest)
    while first and type(rest[first - 1][1]) is int:
        first -= 1
    if len(rest) - first < 2 or rest[first][0] > 1:  # such sizes come first, or right after the tensor
        return rest
    return [*rest[:first], (rest[first][0], [value for _, value in rest[first:]])]


def _operator_name(function: Any) -> str:
    qualified = getattr(function, "_qualified_op_name", None)
    if isinstance(qualified, str):
        return qualified
    name = getattr(function, "__name__", "")
    if name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return f"aten::{name}"


_SCHEMAS: dict[str, list[list[tuple[str, str]]]] = {}


def _schemas(name: str) -> list[list[tuple[str, str]]]:
    known = _SCHEMAS.get(name)
    if known is None:
        known = _SCHEMAS[name] = [[(a.name, str(a.type)) for a in schema.arguments] for schema in _raw_schemas(name)]
    return known


def _raw_schemas(name: str) -> list[Any]:
    return list(torch._C._jit_get_schemas_for_operator(name))


_SPECIAL = {
    torch.dtype: ("dtype",),
    torch.device: ("device",),
    torch.layout: ("layout",),
    torch.memory_format: ("memory_format",),
}
_SPECIAL_NAMES = {"dtype", "device", "layout", "memory_format"}


def _fits(value: Any, argument: tuple[str, str]) -> float:
    """How well a value fits an argument of this name and type; schemas write dtypes and layouts as numbers."""
    name, kind = argument
    if type(value) in _SPECIAL or name in _SPECIAL_NAMES:
        return 1.0 if name in _SPECIAL.get(type(value), ()) else -1.0
    if isinstance(value, bool):
        return 1.0 if "bool" in kind else 0.0
    if isinstance(value, (int, float)):
        wanted = ("int", "number", "Scalar") if isinstance(value, int) else ("float", "number", "Scalar")
        return (0.5 if "List" in kind else 1.0) if any(word in kind for word in wanted) else 0.0
    if isinstance(value, (list, tuple)):
        return 1.0 if "List" in kind else 0.0
    if isinstance(value, str):
        return 1.0 if "str" in kind or name == "device" else 0.0
    return 1.0 if value is None and kind.startswith("Optional") else 0.0


def tensors_in(value: Any, found: list[Any] | None = None, depth: int = 0) -> list[Any]:
    """All tensors inside nested tuples, lists, dicts and dataclasses, in order."""
    found = [] if found is None else found
    if is_tensor_type(type(value)):
        found.append(value)
    elif depth > 6 or value is None:
        pass
    elif isinstance(value, (list, tuple)):
        for item in value:
            tensors_in(item, found, depth + 1)
    elif isinstance(value, dict):
        for item in value.values():
            tensors_in(item, found, depth + 1)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            tensors_in(getattr(value, field.name, None), found, depth + 1)
    return found


def written_by_schema(function: Any, args: Any, kwargs: dict[str, Any]) -> set[int]:
    """The ids of the tensors an operator says it writes in place. For those that do not raise the versions."""
    schemas = [function._schema] if hasattr(function, "_schema") else _raw_schemas(_operator_name(function))
    written: set[int] = set()
    for schema in schemas:
        if len(schema.arguments) < len(args):
            continue
        values = dict(zip((argument.name for argument in schema.arguments), args, strict=False)) | kwargs
        for argument in schema.arguments:
            if argument.alias_info is not None and argument.alias_info.is_write:
                written.update(id(tensor) for tensor in tensors_in(values.get(argument.name)))
        break
    return written
