"""What one part of Stepscope has put in place, with how to take it away again."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from stepscope import fence
from stepscope.events import patches
from stepscope.events.points import POINTS

Heard = Callable[..., object]
_with_parent: weakref.WeakSet[Installed] = weakref.WeakSet()


class Installed:
    """Undo steps, run last to first; one that fails is reported and the others still run.

    installed = Installed()
    installed.wrap("torch:compile", lambda compile: lambda *a, **k: compile(*a, **k))
    installed.remove()

    Points are declared in `points.py`. With `stays_in_parent` a forked child starts without them.
    """

    def __init__(self, *, stays_in_parent: bool = False) -> None:
        self._undo: list[Callable[[], Any]] = []
        self._resting: list[tuple[patches.Patch, Callable[[], Any]]] = []
        if stays_in_parent:
            _with_parent.add(self)

    def add(self, undo: Callable[[], Any]) -> None:
        """Have this called by `remove`."""
        self._undo.append(undo)

    def wrap(self, point: str, layer: patches.Layer, owner: Any = None, *, outermost: bool = False) -> bool:
        """Put a layer around the function at a point; False where this version of the package has no such function.

        `owner` is the class or module itself where the point covers many, or its module is known by several names.
        An `outermost` layer answers before all others of ours, also those that come later (`--eager`).
        """
        place, name = _find(point, owner)
        if place is None:
            return False
        self.add(patches.install(place, name, layer, point, outermost=outermost))
        return True

    def before(self, point: str, who: str, heard: Heard, owner: Any = None) -> bool:
        """Call `heard(frame, *args, **kwargs)` before each call; its faults are reported as those of `who`."""

        def layer(original: Any) -> Any:
            @wraps(original)
            def hearing(*args: Any, **kwargs: Any) -> Any:
                try:
                    heard(sys._getframe(1), *args, **kwargs)
                except Exception as fault:
                    fence.report(who, fault)
                return original(*args, **kwargs)

            return hearing

        return self.wrap(point, layer, owner)

    def after(self, point: str, who: str, heard: Heard, owner: Any = None) -> bool:
        """Call `heard(frame, result, *args, **kwargs)` after each call that raised nothing."""

        def layer(original: Any) -> Any:
            @wraps(original)
            def hearing(*args: Any, **kwargs: Any) -> Any:
                result = original(*args, **kwargs)
                try:
                    heard(sys._getframe(1), result, *args, **kwargs)
                except Exception as fault:
                    fence.report(who, fault)
                return result

            return hearing

        return self.wrap(point, layer, owner)

    def replace(self, point: str, value: Any, owner: Any = None) -> bool:
        """Set the attribute at a point to this very object."""
        place, name = _find(point, owner)
        if place is None:
            return False
        self.add(patches.replace(place, name, value, point))
        return True

    def remove(self) -> None:
        while self._undo:
            undo = self._undo.pop()
            try:
                undo()
            except Exception as fault:
                fence.report("removing a patch", fault)

    def rest(self) -> None:
        """As `remove`, but `wake` can put these very patches on again: a recording takes a dozen off, and the next one
        has them back for a fraction of what installing them costs."""
        resting = []
        for undo in self._undo:
            patch = patches.patch_of(undo)
            if patch is None or not patch.can_rest:
                self.remove()
                return
            resting.append((patch, undo))
        for patch, _ in resting:
            patch.rest()
        self._resting = resting
        self._undo.clear()

    def wake(self) -> bool:
        """Put on what `rest` took off; False where others have patched since, and then nothing is on."""
        resting, self._resting = self._resting, []
        for patch, undo in resting:
            if not patch.wake():
                self.remove()
                return False
            self._undo.append(undo)
        return bool(resting)


def leave_child_alone() -> None:
    """In a forked child: take away what belongs to the parent."""
    for one in list(_with_parent):
        one.remove()


@cache
def _parts(point: str) -> tuple[str, tuple[str, ...], str]:
    """The module, the way to the owner in it, and the name of the attribute."""
    if point not in POINTS:
        raise LookupError(f"{point!r} is not in the table of points; add it to events/points.py, with the reason")
    module, _, path = point.partition(":")
    *way, name = path.split(".")
    return module, tuple(way), name


def _find(point: str, owner: Any) -> tuple[Any, str]:
    """Who has the attribute, and its name; (None, name) if it is not there."""
    module, way, name = _parts(point)
    if owner is None:
        owner = sys.modules.get(module)
        for part in way:
            owner = getattr(owner, part, None)
    return (owner if owner is not None and hasattr(owner, name) else None), name
