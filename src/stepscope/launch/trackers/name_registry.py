"""Where everything that is heard goes: under the user's own names, each value once.

A name belongs to whoever logs it first. The same name from somewhere else gets that place's name before it: a second
SummaryWriter its folder's, another W&B run its own, another tool the tool's. The same value at the same step, sent to
two tools, is kept once. Names that begin like our own series (`train/`, `eval/` ...) get the tool's name before them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from pathlib import PurePath
from typing import Any, NamedTuple, Protocol

from stepscope import fence
from stepscope.events.patches import Layer
from stepscope.records import Event
from stepscope.track.names import as_name

OURS = ("train/", "train2/", "eval/", "test/", "speed/", "time/", "memory/", "system/")
_MOST_NAMES = 100_000


class Origin(NamedTuple):
    """Who sends: the tool, and which of its writers or runs, by what tells it for sure and by what people call it."""

    tool: str
    key: str = ""
    place: str = ""
    """A folder or a name: the prefix of a name that two of them use."""


class Target(Protocol):
    """The run, as far as trackers change it."""

    def log(self, values: Mapping[str, Any], step: int | None) -> None: ...

    def settings(self, values: Mapping[str, Any], overrule: bool) -> None: ...

    def summary(self, values: Mapping[str, Any]) -> None: ...

    def event(self, event: Event) -> None: ...

    @property
    def step(self) -> int: ...

    @property
    def is_told_by_trainer(self) -> bool:
        """Whether a trainer is handing its values to loggers, which it has told us of itself."""
        ...


class Hub:
    """One for a launched script. `hear` is the fence: nothing that goes wrong behind it reaches the script."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._owners: dict[str, Origin] = {}
        self._last: dict[str, tuple[int | None, Any]] = {}
        self._inside = threading.local()

    def beside(self, tool: str, heard: Callable[..., None]) -> Layer:
        """A layer that calls `heard` with the arguments of each call. What the call itself calls is not heard again."""
        inside, where = self._inside, f"recording what goes to {tool}"

        def layer(method: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(method)
            def both(*args: Any, **kwargs: Any) -> Any:
                if getattr(inside, "yes", False):
                    return method(*args, **kwargs)
                inside.yes = True
                try:
                    result = method(*args, **kwargs)
                finally:
                    inside.yes = False
                _safely(where, heard, args, kwargs)
                return result

            return both

        return layer

    def log(self, origin: Origin, values: Mapping[str, Any], step: Any) -> None:
        """Keep values under the names they get here."""
        if self.target.is_told_by_trainer:  # and the names are the trainer's: nothing here may claim them
            return
        at = None if step is None else int(step)
        kept = {}
        for name, value in values.items():
            known = as_name(name)
            owner = self._owners.get(known)
            if owner is None:
                if len(self._owners) < _MOST_NAMES:
                    self._owners[known] = origin
            elif owner != origin and owner.tool != origin.tool and self._is_known(known, at, value):
                continue
            if isinstance(value, (int, float)) and (owner is None or owner == origin):
                self._last[known] = (at, value)
            kept[self.named(origin, known)] = value
        if kept:
            self.target.log(kept, at)

    def known(self, trainer: str, values: Mapping[str, Any], step: int) -> dict[str, Any]:
        """What a trainer logs itself, by the names it gets: a tracker that gets the same values adds nothing to it."""
        origin, named = Origin(trainer.lower()), {}
        for name, value in values.items():
            is_own = self._owners.setdefault(name, origin) == origin
            if is_own and isinstance(value, (int, float)):
                self._last[name] = (step, value)
            named[name if is_own else f"{origin.tool}/{name}"] = value
        return named

    def is_told(self, origin: Origin, name: str) -> bool:
        """Whether somebody else logs this already: `final eval_loss` is `eval/loss`."""
        words = _words_in(name)
        others = (known for known, owner in self._owners.items() if owner != origin)
        return any(words[-len(known) :] == known for known in map(_words_in, others) if known)

    def named(self, origin: Origin, name: str) -> str:
        """What a name of the user's is called in our run."""
        owner = self._owners.get(name, origin)
        if owner != origin:
            before = apart(owner.place, origin.place) if owner.tool == origin.tool else ""
            name = f"{before or origin.tool}/{name}"
        return f"{origin.tool}/{name}" if name.startswith(OURS) else name

    def _is_known(self, name: str, step: int | None, value: Any) -> bool:
        """Has another tool just been sent this very value? Only numbers are compared: a tensor may lie on a device."""
        return isinstance(value, (int, float)) and self._last.get(name) == (step, value)


def apart(first: str, other: str) -> str:
    """What tells another folder (or name) from the first: the part of it that is not common to both.

    >>> apart("runs/a/train", "runs/a/val"), apart("runs/a", "runs/b/x"), apart("", "fold 2"), apart("runs/a", "runs")
    ('val', 'b/x', 'fold 2', 'runs')
    """
    one, two = PurePath(first).parts, PurePath(other).parts
    same = 0
    while same < min(len(one), len(two)) and one[same] == two[same]:
        same += 1
    return "/".join(two[same:] or two[-1:])


@lru_cache(maxsize=4096)
def _words_in(name: str) -> list[str]:
    return re.findall(r"[a-z0-9@]+", name.lower())


def _safely(where: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    try:
        function(*args, **kwargs)
    except Exception as fault:
        fence.report(where, fault)
