"""Resolve a run reference: an id or its beginning, a name, `project/name`, `last` or `@2`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Protocol, TypeVar

from stepscope.errors import Ambiguous, NotFound

_SHORTEST_PREFIX = 4
_MOST_LISTED = 8


class Choosable(Protocol):
    """The attributes used to identify a run."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def project(self) -> str: ...
    @property
    def created(self) -> float: ...


R = TypeVar("R", bound=Choosable)


def choose(ref: str, runs: Sequence[R]) -> R:
    """The one run that `ref` names; if it is ambiguous, the error lists the candidates."""
    if not runs:
        raise NotFound(f"there is no run {ref!r}: the store is empty; record one with stepscope.init(...)")
    recent = _by_age(runs, ref)
    if recent is not None:
        return recent
    for fits in (
        [run for run in runs if run.id == ref],
        [run for run in runs if run.name == ref],
        [run for run in runs if f"{run.project}/{run.name}" == ref],
        [run for run in runs if len(ref) >= _SHORTEST_PREFIX and run.id.startswith(ref.upper())],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise Ambiguous(_which(ref, fits))
    raise NotFound(f"there is no run {ref!r}{_suggestion(ref, runs)}")


def age_of(ref: str) -> int | None:
    """`last` and `@1` are the newest run, `@2` the one before it."""
    if ref == "last":
        return 1
    return int(ref[1:]) if ref.startswith("@") and ref[1:].isdecimal() and ref[1:].isascii() else None


def _by_age(runs: Sequence[R], ref: str) -> R | None:
    number = age_of(ref)
    if number is None:
        return None
    newest = sorted(runs, key=lambda run: (run.created, run.id), reverse=True)
    if not 1 <= number <= len(newest):
        raise NotFound(f"there is no run {ref!r}; @1 is the newest, @{len(newest)} the oldest")
    return newest[number - 1]


def _which(ref: str, fits: Sequence[Choosable]) -> str:
    newest = sorted(fits, key=lambda run: run.created, reverse=True)
    lines = [
        f"  {run.id}  {run.project}/{run.name}  {datetime.fromtimestamp(run.created):%Y-%m-%d %H:%M}"
        for run in newest[:_MOST_LISTED]
    ]
    if len(newest) > _MOST_LISTED:
        lines.append(f"  ... and {len(newest) - _MOST_LISTED} more")
    return "\n".join([f"{ref!r} matches {len(fits)} runs; give the id of one, or a longer prefix of it:", *lines])


def _suggestion(ref: str, runs: Iterable[Choosable]) -> str:
    names = list(dict.fromkeys(run.name for run in runs))[:2000]
    contained = [name for name in names if ref.lower() in name.lower()]
    close = contained or get_close_matches(ref, names, n=3)
    if close:
        return f"; did you mean {' or '.join(repr(name) for name in close[:3])}?"
    return f"; `stepscope runs` lists all {len(names)}" if len(names) > 3 else f"; the store has {_and(names)}"


def _and(names: list[str]) -> str:
    return " and ".join(map(repr, names))
