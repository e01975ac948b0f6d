"""The options of a test's marker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from stepscope.common.units import parse_bytes
from stepscope.errors import UsageError


@dataclass(frozen=True)
class Wishes:
    """The arguments of `@pytest.mark.stepscope(...)`, checked."""

    allow: tuple[str, ...] = ()
    """Rules, groups or patterns whose findings are allowed here."""
    steps: int = 5
    """Watched calls of `training_step`."""
    max_ms: float | None = None
    max_bytes: int | None = None
    baseline: bool = False
    tolerance: float = 0.25
    """Allowed slowdown relative to the baseline; machines are never quite idle."""
    repeats: int = 10
    """Unwatched calls that are timed per round."""

    @property
    def has_budget(self) -> bool:
        return self.max_ms is not None or self.max_bytes is not None or self.baseline


def wishes_of(item: pytest.Item) -> Wishes:
    """The innermost marker extends the outer ones: a class may set steps, a test what it allows."""
    given: dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers("stepscope"))):
        if marker.args:
            raise UsageError(f"{item.nodeid}: write the options of @pytest.mark.stepscope by name, such as max_ms=50")
        allow = _patterns(marker.kwargs.get("allow", ()), item.nodeid)
        given = {**given, **marker.kwargs, "allow": (*given.get("allow", ()), *allow)}
    memory = given.pop("max_memory", None)
    unknown = [name for name in given if name not in Wishes.__dataclass_fields__ or name == "max_bytes"]
    if unknown:
        raise UsageError(
            f"{item.nodeid}: @pytest.mark.stepscope has no option {unknown[0]!r}; it has allow, steps, max_ms, "
            "max_memory, baseline, tolerance and repeats"
        )
    wishes = Wishes(**given, max_bytes=None if memory is None else parse_bytes(memory, "max_memory"))
    _check(wishes, item.nodeid)
    return wishes


def _patterns(allow: Any, where: str) -> tuple[str, ...]:
    words = (allow,) if isinstance(allow, str) else tuple(allow) if isinstance(allow, Sequence) else (allow,)
    if not all(isinstance(word, str) for word in words):
        raise UsageError(f"{where}: allow is {allow!r}; expected rules, such as ['repro.no-seed']")
    return words


def _check(wishes: Wishes, where: str) -> None:
    for name, least in (("steps", 1), ("repeats", 3)):
        value = getattr(wishes, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise UsageError(f"{where}: {name} is {value!r}; expected a whole number of at least {least}")
    for name in ("max_ms", "tolerance"):
        value = getattr(wishes, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0):
            raise UsageError(f"{where}: {name} is {value!r}; expected a number above 0")
