"""One place settings were read from, and the words of a command line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepscope.track.config import flatten, plain

COMMAND_LINE, DEFAULT, ENVIRONMENT, SCRIPT = "command line", "default", "environment", "script"
_NUMBER = re.compile(r"-[\d.]")


@dataclass
class Source:
    """Settings that can be read again: scripts change them after they were parsed."""

    read: Callable[[], Mapping[str, Any]]
    origin_of: Callable[[str, Any], str]
    """Where a setting comes from, by its flat name (`model/lr`) and value; "" leaves the setting out."""
    holder: object = None
    """The object that is read, where the script has it too."""
    makes: type | None = None
    """The class that is called with the settings: its instance is what the script uses, and may change."""
    function: Callable[..., Any] | None = None
    """The function that is called with the settings: while it runs, its variables are what the script uses."""
    is_raw: bool = False
    """A file's contents: what the script makes of them overrules them."""
    seen: dict[str, Any] = field(default_factory=dict)

    def first(self) -> tuple[dict[str, Any], dict[str, str]]:
        """The settings as they were parsed, and where each comes from."""
        found = flatten(self.read())
        origins = {name: self.origin_of(name, value) for name, value in found.items()}
        values = {name: value for name, value in found.items() if origins[name]}
        self.seen = {name: plain(value) for name, value in values.items()}
        return values, {name: origins[name] for name in values}

    def changed(self) -> dict[str, Any]:
        """What the script has changed or added since."""
        now = flatten(self.read())
        return {
            name: value
            for name, value in now.items()
            if not callable(value) and (name in self.seen or not self.seen) and plain(value) != self.seen.get(name)
        }

    def changed_in(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Settings that the function has put a number or text into (`hidden = min(hidden, 20)`)."""
        return {
            name: variables[name]
            for name, given in self.seen.items()
            if _kind(value := variables.get(name)) is not None
            and (given is None or _kind(value) is _kind(given))
            and value != given
        }

    def overruled_by(self, used: Mapping[str, Any]) -> dict[str, Any]:
        """What another object, made of these settings, has other values for: those are the ones the script uses."""
        if not self.is_raw or len(self.seen.keys() & used.keys()) * 2 < len(self.seen):
            return {}
        return {name: used[name] for name in self.seen.keys() & used.keys() if plain(used[name]) != self.seen[name]}


def _kind(value: Any) -> type | None:
    """`float` for every number. None for what is not a plain value: a tensor under the name of a setting."""
    kind = type(value)
    return float if kind is int else kind if kind in (bool, float, str) else None


class Words:
    """The names given on a command line: `--lr 0.1`, `--model.lr=0.1`, `lr=0.1`, `--no-wide`.

    >>> words = Words(["--model.lr=0.1", "--no-wide", "depth=3", "-5"])
    >>> [words.give(name) for name in ("model/lr", "wide", "depth", "lr")]
    [True, True, True, False]
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._values: dict[str, str] = {}
        last = ""
        for word in words:
            head, equals, value = word.partition("=")
            is_flag = word.startswith("-") and not _NUMBER.match(word)
            if is_flag or (equals and not word.startswith("=")):
                last = _normal(head.lstrip("-+~"))
                self._values[last] = value
            elif last and not self._values[last]:
                self._values[last] = word

    def give(self, name: str) -> bool:
        """Whether this very setting was given, also as `--no-name`."""
        folder, _, own = _normal(name).rpartition("/")
        before = f"{folder}/" if folder else ""
        return any(f"{before}{prefix}{own}" in self._values for prefix in ("", "no_", "no"))

    def origin_above(self, name: str) -> str:
        """Where a setting comes from if its folder was given (`--config train.yaml` gives `config/lr`), else ""."""
        parts = _normal(name).split("/")
        for count in range(len(parts) - 1, 0, -1):
            value = self._values.get("/".join(parts[:count]))
            if value is not None:
                return file_label(value) if os.path.isfile(value) else COMMAND_LINE
        return ""

    def origin(self, name: str) -> str:
        """`command line`, the file that was given, or `default`."""
        return COMMAND_LINE if self.give(name) else self.origin_above(name) or DEFAULT


def _normal(name: str) -> str:
    return name.replace("-", "_").replace(".", "/")


def file_label(path: str | os.PathLike[str]) -> str:
    """A file as a person would name it: relative to the working folder where it lies below it.

    >>> file_label("conf/train.yaml")
    'conf/train.yaml'
    """
    text = os.path.abspath(os.fsdecode(os.fspath(path)))
    try:
        relative = os.path.relpath(text)
    except (OSError, ValueError):  # the working folder is gone; another drive
        return text
    return text if relative.startswith("..") else relative
