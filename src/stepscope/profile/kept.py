"""What several analyses of one profile need, made once and kept as long as the profile is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from stepscope.profile.profile import Profile

T = TypeVar("T")

_kept: WeakKeyDictionary[Profile, dict[tuple[str, int], Any]] = WeakKeyDictionary()


def kept(profile: Profile, rank: int, make: Callable[[Profile, int], T]) -> T:
    """What `make(profile, rank)` gives; made the first time. It must not hold the profile itself, only its trace."""
    mine = _kept.setdefault(profile, {})
    key = (f"{make.__module__}.{make.__qualname__}", rank)
    if key not in mine:
        mine[key] = make(profile, rank)
    found: T = mine[key]
    return found
