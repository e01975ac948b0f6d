"""Taking a mapping from a file apart: each value by its name and type, and a clear word about what is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from stepscope.errors import ConfigError

_MISSING: Any = object()
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?\s*[smhd]\s*)+")


class Fields:
    """What is left of a mapping while its values are taken; `done` complains about names nobody knows."""

    def __init__(self, raw: Any, where: str) -> None:
        if not isinstance(raw, Mapping):
            raise ConfigError(f"{where} is {_shown(raw)}; expected names with values, like `method: random`")
        self.where = where
        self._left = {str(name): value for name, value in raw.items()}
        self._known: list[str] = []

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(self, *names: str, default: Any = None) -> Any:
        """The value under the first of these names that is there; two of them are one too many."""
        self._known += names
        given = [name for name in names if name in self._left]
        if len(given) > 1:
            raise ConfigError(f"{self.where} has both {given[0]!r} and {given[1]!r}, which mean the same; keep one")
        return self._left.pop(given[0]) if given else default

    def text(self, *names: str, default: str | None = None) -> str | None:
        value = self.take(*names, default=default)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        raise self.wrong(names[0], value, "a text")

    def whole(self, *names: str, least: int = 0, default: int | None = None) -> int | None:
        value = self.take(*names, default=default)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.wrong(names[0], value, f"a whole number, {least} or more")
        return value

    def number(self, *names: str, default: float | None = None) -> float | None:
        value = self.take(*names, default=default)
        if value is None:
            return None
        made = as_number(value)
        if made is None:
            raise self.wrong(names[0], value, "a number")
        return float(made)

    def flag(self, *names: str, default: bool = False) -> bool:
        value = self.take(*names, default=default)
        if not isinstance(value, bool):
            raise self.wrong(names[0], value, "true or false")
        return value

    def seconds(self, *names: str) -> float | None:
        value = self.take(*names)
        if value is None:
            return None
        made = seconds_from(value)
        if made is None:
            raise self.wrong(names[0], value, "a time like 90s, 30m, 2h30m or a number of seconds")
        return made

    def one_of(self, name: str, choices: tuple[str, ...], default: str) -> str:
        value = self.take(name, default=default)
        if value not in choices:
            raise self.wrong(name, value, f"one of {', '.join(choices)}")
        return str(value)

    def words(self, *names: str) -> tuple[str, ...]:
        """A list of texts and numbers; a text alone is cut like a command line."""
        import shlex

        value = self.take(*names, default=())
        if isinstance(value, str):
            try:
                return tuple(shlex.split(value))
            except ValueError as fault:
                raise ConfigError(f"{self.where}: {names[0]} {value!r} cannot be cut into words: {fault}") from None
        if isinstance(value, list | tuple) and all(isinstance(one, str | int | float) for one in value):
            return tuple(str(one) for one in value)
        raise self.wrong(names[0], value, "a list of texts")

    def wrong(self, name: str, value: Any, expected: str) -> ConfigError:
        return ConfigError(f"{self.where}: {name} is {_shown(value)}; expected {expected}")

    def done(self) -> None:
        """Every name must have been understood."""
        for name in self._left:
            near = get_close_matches(name, self._known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it may have {', '.join(dict.fromkeys(self._known))}"
            raise ConfigError(f"{self.where} has {name!r}, which is not known here; {hint}")


def as_number(value: Any) -> int | float | None:
    """A finite number, also one that YAML took for a text (`1e-4`); None for everything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, int | float) and math.isfinite(value):
        return value
    return None


def seconds_from(value: Any) -> float | None:
    """Seconds from `2h30m`, `90s` or a number.

    >>> [seconds_from(one) for one in ("2h30m", "90s", 45, "soon", -1)]
    [9000.0, 90.0, 45.0, None, None]
    """
    number = as_number(value)
    if number is not None:
        return float(number) if number > 0 else None
    text = str(value).strip().lower()
    if not _DURATION.fullmatch(text):
        return None
    return sum(float(count) * _UNITS[unit] for count, unit in re.findall(r"(\d+(?:\.\d+)?)\s*([smhd])", text)) or None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
