"""The hyperparameters of a run: any object a script stores them in, flattened, made safe and JSON-ready."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from enum import Enum
from typing import Any

from stepscope.track.names import as_name
from stepscope.track.secrets import mask_value

MAX_DEPTH = 16
MAX_TEXT = 10_000
MAX_ITEMS = 1_000
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d*)?([eE][-+]?\d+)?")
Record = Callable[[dict[str, Any], dict[str, str]], None]
"""Called with what has changed, and where settings come from."""
_WORDS = {"True": True, "False": False, "None": None}


def as_mapping(value: Any) -> Mapping[Any, Any] | None:
    """The named fields of an object (dict, Namespace, dataclass, OmegaConf, pydantic, attrs ...), or None."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, type) or callable(value):
        return None
    own = _by_its_own_method(value)
    if own is not None:
        return own
    slots = getattr(value, "__struct_fields__", None) or getattr(value, "__dataclass_fields__", None)
    if slots is not None:
        return {name: getattr(value, name) for name in slots if hasattr(value, name)}
    fields = getattr(value, "__dict__", None)
    if isinstance(fields, dict) and type(value).__module__ not in ("builtins", "enum", "pathlib", "torch", "numpy"):
        return {name: each for name, each in fields.items() if not name.startswith("_") and not callable(each)}
    return None


def flatten(values: Any, prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """Nested settings as one flat dict, its keys joined with `/`.

    >>> flatten({"opt": {"lr": 0.1, "betas": (0.9, 0.99)}, "seed": 1})
    {'opt/lr': 0.1, 'opt/betas': (0.9, 0.99), 'seed': 1}
    """
    fields = as_mapping(values) or {}
    flat: dict[str, Any] = {}
    for key, value in fields.items():
        name = prefix + as_name(key)
        inner = as_mapping(value) if depth < MAX_DEPTH and not _is_leaf(value) else None
        if inner:
            flat.update(flatten(inner, name + "/", depth + 1))
        else:
            flat[name] = value
    return flat


def _is_leaf(value: Any) -> bool:
    return value is None or isinstance(value, str | bytes | int | float | list | tuple | set | frozenset)


def _by_its_own_method(value: Any) -> Mapping[Any, Any] | None:
    for method in ("model_dump", "to_dict", "flag_values_dict", "_asdict"):
        fields = getattr(value, method, None)
        made = fields() if callable(fields) else None
        if isinstance(made, Mapping):
            return made
    return None


def plain(value: Any, depth: int = 0) -> Any:
    """A value that JSON can represent; anything else becomes its text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return plain(value.value, depth + 1) if isinstance(value.value, str | int | float) else value.name
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, str):
        return as_name(value)[:MAX_TEXT]
    if depth > MAX_DEPTH:
        return "..."
    if isinstance(value, Mapping):
        return {as_name(key): plain(each, depth + 1) for key, each in list(value.items())[:MAX_ITEMS]}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if isinstance(value, list | tuple):
        return [plain(each, depth + 1) for each in list(value)[:MAX_ITEMS]]
    return _plain_object(value, depth)


def _plain_object(value: Any, depth: int) -> Any:
    if getattr(value, "ndim", None) is not None and hasattr(value, "tolist"):  # numpy, torch
        size = getattr(value, "size", None)
        count = size if isinstance(size, int) else value.numel()
        return plain(value.tolist(), depth + 1) if count <= MAX_ITEMS else f"{type(value).__name__} of {count} values"
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return f"{value.__module__}.{value.__qualname__}"
    return as_name(str(value))[:MAX_TEXT]


def from_text(text: str) -> Any:
    """Parse a setting stored as text into the number or word it was.

    >>> [from_text(text) for text in ("0.1", "3", "1e-3", "True", "adam", "007")]
    [0.1, 3, 0.001, True, 'adam', '007']
    """
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > 300 or not _NUMBER.fullmatch(text):
        return text
    value = float(text) if any(letter in text for letter in ".eE") else int(text)
    return value if math.isfinite(value) else text


def masked(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flat settings ready to be written: JSON-ready and without secrets."""
    return {name: _mask(name.rpartition("/")[2], plain(value)) for name, value in values.items()}


def _mask(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_mask(name, each) for each in value]
    if isinstance(value, dict):
        return {key: _mask(key, each) for key, each in value.items()}
    return mask_value(name, value)


class Config(MutableMapping[str, Any]):
    """A run's settings, readable by the script: `run.config["opt/lr"]`, `run.config.lr`.

    A change is recorded at once. Secrets stay readable here and are masked where they are written.
    """

    def __init__(self, values: Any = None, record: Record | None = None) -> None:
        object.__setattr__(self, "_values", flatten(values))
        object.__setattr__(self, "_record", record)

    _values: dict[str, Any]
    _record: Record | None

    def update(self, other: Any = (), /, **more: Any) -> None:
        """Add or change settings; nested ones are joined with `/`.

        >>> config = Config({"lr": 0.1})
        >>> config.update({"lr": 0.01, "model": {"width": 64}})
        >>> dict(config)
        {'lr': 0.01, 'model/width': 64}
        """
        pairs = dict(other) if isinstance(other, list | tuple) else other
        changed = {**flatten(pairs), **flatten(more)}
        changed = {name: value for name, value in changed.items() if not self._has(name, value)}
        self._values.update(changed)
        if changed and self._record is not None:
            self._record(changed, {})

    def take(self, values: Mapping[str, Any], origins: Mapping[str, str]) -> None:
        """Settings observed during the run, flat, with the source of each."""
        changed = {name: value for name, value in values.items() if not self._has(name, value)}
        self._values.update(changed)
        said = {name: origin for name, origin in origins.items() if name in values}
        if (changed or said) and self._record is not None:
            self._record(changed, said)

    def _has(self, name: str, value: Any) -> bool:
        return name in self._values and plain(self._values[name]) == plain(value)

    def __getitem__(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        inner = {key[len(name) + 1 :]: each for key, each in self._values.items() if key.startswith(name + "/")}
        if not inner:
            raise KeyError(name)
        return Config(inner, self._record_under(name + "/"))

    def _record_under(self, prefix: str) -> Record:
        def record(changed: dict[str, Any], origins: dict[str, str]) -> None:
            self.update({prefix + name: value for name, value in changed.items()})

        return record

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        raise TypeError(
            f"config {name!r} cannot be removed, because a run keeps its initial settings; set another value instead"
        )

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"config has no {name!r}; it has {', '.join(list(self._values)[:20])}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Config({masked(self._values)!r})"
