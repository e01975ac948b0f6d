"""`wandb.config`: the script's settings, nested as given, locked once they have a value."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stepscope.errors import BadData
from stepscope.files.opening import read_text
from stepscope.files.yaml_text import load_yaml
from stepscope.track.config import as_mapping
from stepscope.wandb.errors import ConfigError, UsageError

_LARGEST = 1 << 20
_OWN = ("_items", "_record", "_allow", "_fixed")


class Config:
    """A run's settings by attribute and by item: `wandb.config.lr`, `wandb.config["lr"]`.

    An existing value can only be replaced with `allow_val_change=True`, as in W&B. Values chosen by a sweep are
    fixed: others are ignored.
    """

    def __init__(
        self,
        items: Mapping[str, Any] | None = None,
        record: Callable[[dict[str, Any]], None] | None = None,
        *,
        allow_val_change: bool = False,
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        object.__setattr__(self, "_fixed", {name: friendly(value) for name, value in (fixed or {}).items()})
        object.__setattr__(self, "_items", _merged(items or {}, self._fixed))
        object.__setattr__(self, "_record", record)
        object.__setattr__(self, "_allow", allow_val_change)

    _items: dict[str, Any]
    _fixed: dict[str, Any]
    _record: Callable[[dict[str, Any]], None] | None
    _allow: bool

    def update(self, d: Any = (), allow_val_change: bool | None = None, **more: Any) -> None:
        """Add settings from a dict, a Namespace or anything with named fields."""
        self._set({**read_config(d), **more}, allow_val_change)

    def setdefaults(self, d: Any) -> None:
        """Add those that have no value yet."""
        self._set({name: value for name, value in read_config(d).items() if name not in self._items}, None)

    def _set(self, values: Mapping[str, Any], allow_val_change: bool | None) -> None:
        changed = {}
        for name, value in values.items():
            value = friendly(value)
            if name in self._fixed:
                continue
            known = name in self._items
            if known and self._items[name] == value:
                continue
            if known and not (self._allow if allow_val_change is None else allow_val_change):
                raise ConfigError(
                    f'Attempted to change value of key "{name}" from {self._items[name]} to {value}; '
                    "pass allow_val_change=True to config.update() if that is intended"
                )
            changed[name] = value
        self._items.update(changed)
        if changed and self._record is not None:
            self._record(changed)

    def get(self, name: str, default: Any = None) -> Any:
        return self._items.get(name, default)

    def keys(self) -> Any:
        return self._items.keys()

    def values(self) -> Any:
        return self._items.values()

    def items(self) -> Any:
        return self._items.items()

    def as_dict(self) -> dict[str, Any]:
        return dict(self._items)

    def persist(self) -> None:
        """Nothing to do: every change is written immediately."""

    def __getitem__(self, name: str) -> Any:
        return self._items[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._set({name: value}, None)

    def __getattr__(self, name: str) -> Any:
        if name in _OWN or name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._items[name]
        except KeyError:
            known = ", ".join(list(self._items)[:20]) or "nothing yet"
            raise AttributeError(f"wandb.config has no attribute {name!r}; it has {known}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delitem__(self, name: str) -> None:
        raise TypeError(
            f"config {name!r} cannot be removed, because a run keeps its initial settings; set another value instead"
        )

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __reduce__(self) -> Any:
        """Copies, also in worker processes, are independent."""
        return type(self), (dict(self._items),)

    def __repr__(self) -> str:
        return repr(self._items)


def _merged(given: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with a sweep's choices merged in, at any depth."""
    merged = dict(given)
    for name, value in chosen.items():
        old = merged.get(name)
        merged[name] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


def read_config(given: Any) -> dict[str, Any]:
    """Settings from the arguments of `config=` and `config.update`: a mapping, an object with fields, the path of a
    file.
    """
    if given is None or given == ():
        return {}
    if isinstance(given, list | tuple) and all(isinstance(each, tuple) and len(each) == 2 for each in given):
        given = dict(given)
    if isinstance(given, str | Path):
        return _from_file(Path(given))
    fields = as_mapping(given)
    if fields is None:
        raise UsageError(
            f"config is a {type(given).__name__}; expected a dict, an argparse Namespace, a dataclass, or the path of "
            "a YAML or JSON file"
        )
    return {str(name): value for name, value in fields.items()}


def _from_file(path: Path) -> dict[str, Any]:
    """A settings file; W&B's own `config.yaml` has each value under `value` beside a `desc`."""
    import msgspec

    try:
        text = read_text(path, _LARGEST)
        loaded = msgspec.json.decode(text) if path.suffix == ".json" else load_yaml(text, str(path))
    except OSError as fault:
        raise UsageError(f"config file '{path}' cannot be read: {fault.strerror or fault}; check the path") from None
    except (msgspec.DecodeError, BadData, ImportError) as fault:
        raise UsageError(f"config file '{path}' cannot be read ({fault}); pass a dict instead") from None
    if not isinstance(loaded, dict):
        raise UsageError(f"config file '{path}' contains a {type(loaded).__name__}; expected names and values")
    return {
        str(name): each["value"] if isinstance(each, dict) and "value" in each else each
        for name, each in loaded.items()
        if name not in ("wandb_version", "_wandb")
    }


def friendly(value: Any) -> Any:
    """A setting as W&B returns it: tuples as lists, enums by name, one-element arrays as numbers."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: friendly(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [friendly(each) for each in value]
    if isinstance(value, enum.Enum):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: friendly(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()
    return value


def nested_config(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in their original nesting, from the flat form that a run stores."""
    tree: dict[str, Any] = {}
    for name, value in flat.items():
        *above, last = name.split("/")
        inner: Any = tree
        for part in above:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                tree[name] = value
                break
        else:
            inner[last] = value
    return tree
