"""Where a printed row stands on the x-axis: at the training step of the moment.

Several rows of one step stand at that step, in the order they were printed. What is printed before anything trains
has no such step: there the script's own counter (`global_step=32`) is the axis of a series, and stays it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from stepscope.launch.printed.read_line import Line


class Axis:
    """`step()` is the number of the training step that is being made or was made last, None before the first.

    >>> now = [None]
    >>> axis = Axis(lambda: now[0], lambda: now[0] is not None)
    >>> axis.of(["return"], Line(step=32)), axis.of(["return"], Line(step=76))
    (32, 76)
    >>> now[0] = 7
    >>> axis.of(["return"], Line(step=112)), axis.of(["loss"], Line(step=112)), axis.of(["loss"], Line())
    (112, 7, 7)
    """

    def __init__(self, step: Callable[[], int | None], has_begun: Callable[[], bool]) -> None:
        self._step, self._has_begun = step, has_begun
        self._own: set[str] = set()
        """Series whose axis is the counter that the script prints."""
        self.last: dict[str, int] = {}
        """The last place of each series."""

    def of(self, names: Iterable[str], line: Line) -> int:
        """The place of a row with these names."""
        names = list(names)
        last = max((self.last[name] for name in names if name in self.last), default=None)
        now = self._step()
        if now is None and not self._has_begun() and line.step is not None and last is None:
            self._own.update(names)
        place = self._of_counter(names, line, last)
        if place is None:
            place = now if now is not None else self._of_row(line, last)
            self._own.difference_update(names)
        place = place if last is None else max(place, last)
        self.last.update(dict.fromkeys(names, place))
        return place

    def _of_counter(self, names: list[str], line: Line, last: int | None) -> int | None:
        """What the script counts itself, as long as that goes up."""
        is_own = line.step is not None and not self._own.isdisjoint(names)
        return line.step if is_own and (last is None or (line.step or 0) >= last) else None

    def _of_row(self, line: Line, last: int | None) -> int:
        """Nothing has trained so far: the epoch it says, else one row after the other."""
        said = line.step if line.step is not None else int(line.epoch or 0)
        return said if last is None else max(said, last + 1)
