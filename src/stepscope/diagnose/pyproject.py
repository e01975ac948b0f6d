"""`[tool.stepscope]` of the nearest pyproject.toml that has one.

[tool.stepscope]
select = ["all"]                        # rules, groups or patterns; by default all
ignore = ["repro", "perf.*"]
strict = true                           # errors make the exit code 1
project = "vae"
dir = "runs"
[tool.stepscope.severity]
"opt.no-zero-grad" = "warning"          # error, warning, info or off
[tool.stepscope.per-file-ignores]
"scripts/*" = ["data"]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from stepscope.errors import ConfigError
from stepscope.files.opening import open_file, read_window

MAX_BYTES = 1 << 20
_LEVELS = ("error", "warning", "info", "off")


@dataclass(frozen=True)
class FileSettings:
    """What a pyproject.toml says."""

    path: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: dict[str, str] = field(default_factory=dict)
    per_file_ignores: dict[str, tuple[str, ...]] = field(default_factory=dict)
    strict: bool = False
    project: str | None = None
    dir: str | None = None
    """Absolute: in the file it is told from the file's own folder."""

    @property
    def folder(self) -> Path | None:
        return self.path.parent if self.path else None


def find_settings(folder: Path) -> FileSettings:
    """Those of the nearest folder upwards; a pyproject.toml that says nothing to us is passed by."""
    for here in (folder, *folder.parents):
        path = here / "pyproject.toml"
        try:
            found = read_settings(path) if path.is_file() else None
        except OSError:  # a parent folder that may not be looked into is not ours to complain about
            found = None
        if found is not None:
            return found
    return FileSettings()


def read_settings(path: Path) -> FileSettings | None:
    """The settings in one file; None where it has no section of ours."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    with open_file(path) as file:
        raw = read_window(file, 0, MAX_BYTES + 1)
    if b"stepscope" not in raw:
        return None
    if len(raw) > MAX_BYTES:
        raise ConfigError(f"{path} is larger than 1 MiB, which is more than settings need; is it the right file?")
    try:
        table = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}; fix it, or run the script from another folder") from None
    tool = table.get("tool")
    section = tool.get("stepscope") if isinstance(tool, dict) else None
    if section is None:
        return None
    where = f"{path}, [tool.stepscope]"
    if not isinstance(section, dict):
        raise ConfigError(f"{where} is {section!r}; expected a table")
    return FileSettings(path=path, **_values(section, path, where))


def _values(section: Mapping[str, Any], path: Path, where: str) -> dict[str, Any]:
    readers: dict[str, Callable[[Any, str], Any]] = {
        "select": _patterns,
        "ignore": _patterns,
        "severity": _severities,
        "per-file-ignores": _per_file,
        "strict": _flag,
        "project": _text,
        "dir": lambda value, key: str(path.parent / _text(value, key)),
    }
    found = {}
    for key, value in section.items():
        name = key.replace("_", "-")
        if name not in readers:
            raise ConfigError(f"{where} has no setting '{key}'; {_nearest(name, readers)}")
        found[name.replace("-", "_")] = readers[name](value, f"{where}: {key}")
    return found


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"it has {', '.join(known)}"


def _patterns(value: Any, key: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ConfigError(f'{key} is {value!r}; expected a list of rules, such as ["opt.no-zero-grad", "perf"]')
    return tuple(value)


def _severities(value: Any, key: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ConfigError(f'{key} is {value!r}; expected a table, such as "opt.no-zero-grad" = "warning"')
    for rule, level in value.items():
        if level not in _LEVELS:
            levels = ", ".join(_LEVELS)
            raise ConfigError(f"{key}: '{rule}' is {level!r}; expected one of {levels} (and the rule's id in quotes)")
    return dict(value)


def _per_file(value: Any, key: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ConfigError(f'{key} is {value!r}; expected a table, such as "scripts/*" = ["data"]')
    return {file: _patterns(rules, f"{key}, '{file}'") for file, rules in value.items()}


def _flag(value: Any, key: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{key} is {value!r}; expected true or false")
    return value


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{key} is {value!r}; expected a text that is not empty")
    return value
