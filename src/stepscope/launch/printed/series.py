"""What the script prints, line by line, as rows of the run: its numbers, the epoch, at the step of the moment."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from stepscope.launch.printed.axis import Axis
from stepscope.launch.printed.box_rows import BoxRows
from stepscope.launch.printed.clean_line import without_log_prefix
from stepscope.launch.printed.counters import CounterFreeNames
from stepscope.launch.printed.read_line import Line, has_role, is_metric, read_line, unique_name
from stepscope.launch.printed.sections import Sections
from stepscope.launch.source_names import printed_names

Log = Callable[[Mapping[str, float], int], None]
Place = tuple[str, int] | None
MOST_NAMES = 200
_COLUMNS = re.compile(r"\s{2,}|\s*\|\s*|\t+|\s*,\s*")
_WORD = re.compile(r"[A-Za-z][\w ./@%()-]*")
_FRACTION = re.compile(r"[-+]?\d*\.\d+(?:e[-+]?\d+)?%?", re.IGNORECASE)


class PrintedSeries:
    """`step()` is the number of the last training step, None before the first; `has_begun()`: something trains.

    >>> rows = []
    >>> printed = PrintedSeries(lambda values, step: rows.append((dict(values), step)), lambda: 7, lambda: True)
    >>> printed.line("Test Error:"); printed.line(" Accuracy: 45.6%, Avg loss: 1.25")
    >>> rows
    [({'Test Error Accuracy': 45.6, 'Test Error Avg loss': 1.25}, 7)]
    """

    def __init__(self, log: Log, step: Callable[[], int | None], has_begun: Callable[[], bool]) -> None:
        self._log, self._step, self._has_begun = log, step, has_begun
        self._axis = Axis(step, has_begun)
        self._counter_free = CounterFreeNames()
        self._box = BoxRows()
        self._sections = Sections()
        self._heading = ""
        self._header: list[str] = []
        self._epoch: float | None = None
        self._bars: dict[tuple[str, ...], dict[str, float]] = {}
        """What each bar has shown last: it is drawn again before it learns the numbers of the next step."""
        self._first_of: dict[str, str] = {}
        """What was evaluated, if anything, when a name was printed first."""
        self.evaluated: Callable[[], str] = str
        """The data that an evaluation is going over at this moment; "" while there is none."""
        self.count = 0
        """Rows so far."""
        self.listeners: list[Callable[[Mapping[str, float], Place], None]] = []
        """Told of every row, with the place in the source that printed it."""
        self.places: dict[str, Place] = {}
        self.latest: deque[tuple[str, float]] = deque(maxlen=64)
        """Names and values since `forget`: what our own evaluation is compared with."""

    @property
    def names(self) -> list[str]:
        """The series that exist."""
        return list(self._axis.last)

    def forget(self) -> None:
        """Training continues: what is printed from now on belongs to what follows."""
        self.latest.clear()

    def line(self, text: str, place: Place = None, *, is_redrawn: bool = False) -> None:
        """One line as it was printed, from that place of the source; a bar is drawn over itself."""
        if self._sections.read(without_log_prefix(text), self._step()):
            return
        heading, self._heading = self._heading, _heading_in(text)
        in_box = self._box.read(text)
        found = in_box or read_line(text, heading)
        if in_box is None and (found.nameless or not found.numbers):
            found.numbers |= self._by_column(text, found) or self._by_source(text, place, found)
        if in_box is None and not found.numbers and not found.nameless:
            self._note_header(text)
        self._epoch = self._epoch if found.epoch is None else found.epoch
        values = {name: value for name, value in self._named(found, place) if self._is_wanted(name, found)}
        if not values or (is_redrawn and values == self._bars.get(tuple(values))):
            return
        if is_redrawn:
            self._bars[tuple(values)] = values
        self.latest.extend(values.items())
        self.places.update(dict.fromkeys(values, place))
        for listener in self.listeners:
            listener(values, place)
        self._write(values, found)

    def _named(self, line: Line, place: Place) -> Iterator[tuple[str, float]]:
        """The numbers of a line under the names of their series."""
        taken: set[str] = set()
        names = self._counter_free.of(line.numbers, self._step(), place)
        for name, value in zip(names, line.numbers.values(), strict=True):
            if name:
                name = self._of_evaluation(self._sections.named(name, self._step()))
                taken.add(unique := unique_name(name, taken))
                yield unique, value

    def _of_evaluation(self, name: str) -> str:
        """`Loss (test)`, where the words have been printed of other data before."""
        if not is_metric(name) or has_role(name):
            return name
        split = self.evaluated()
        is_of_other = split != self._first_of.setdefault(name, split)
        return f"{name} ({split})" if split and is_of_other else name

    def _is_wanted(self, name: str, line: Line) -> bool:
        """Before anything trains, numbers are settings, unless they speak of results."""
        known = self._axis.last
        if name not in known and len(known) >= MOST_NAMES:
            return False
        return self._has_begun() or is_metric(name) or line.epoch is not None or line.step is not None

    def _write(self, values: dict[str, float], line: Line) -> None:
        step = self._axis.of(values, line)
        row = dict(values)
        if self._epoch is not None and self._axis.last.get("epoch", -1) < step:
            row["epoch"] = self._epoch
            self._axis.last["epoch"] = step
        self.count += 1
        self._log(row, step)

    # -- numbers without words ------------------------------------------------------------------------------------

    def _note_header(self, text: str) -> None:
        columns = [part for part in _COLUMNS.split(text.strip()) if part]
        if len(columns) > 1 and all(_WORD.fullmatch(part) for part in columns):
            self._header = columns

    def _by_column(self, text: str, line: Line) -> dict[str, float]:
        parts = [part for part in _COLUMNS.split(text.strip()) if part]
        if not self._header or len(parts) != len(self._header):
            return {}
        row = dict(zip(self._header, parts, strict=True))
        for name, value in row.items():
            if name.lower() == "epoch" and value.isdigit():
                line.epoch = float(value)
        return {name: float(value.rstrip("%")) for name, value in row.items() if _FRACTION.fullmatch(value)}

    def _by_source(self, text: str, place: Place, line: Line) -> dict[str, float]:
        if place is None or not line.nameless:
            return {}
        named = printed_names(*place, text)
        return {name: value for name, value in named.items() if value in line.nameless}


def _heading_in(text: str) -> str:
    """`Test Error:` alone on a line."""
    text = text.strip()
    is_heading = text.endswith(":") and len(text) < 60 and not any(map(str.isdigit, text))
    return text.rstrip(": ") if is_heading else ""
