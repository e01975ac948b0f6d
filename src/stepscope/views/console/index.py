"""Every line a run has printed, by number: built once, then extended with new lines.

Each line takes 13 bytes here; its text stays in the pieces that the run folder has in memory anyway.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from stepscope.records import Console
from stepscope.views.console.screen import ErrorLines, Screen, TracebackWatch, last_form, moves_up
from stepscope.views.console.search import Search

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder
    from stepscope.runs.read.runlogs import Entry

S = TypeVar("S", bound=np.generic)
Numbers = npt.NDArray[np.int64]
NO_STEP = -(2**62)
_MOST_SEARCHES = 8


class Growing(Generic[S]):
    """An append-only column."""

    def __init__(self, dtype: type[S]) -> None:
        self._held: npt.NDArray[S] = np.empty(1024, dtype)
        self.size = 0

    def extend(self, values: npt.ArrayLike) -> None:
        fresh: npt.NDArray[Any] = np.asarray(values, self._held.dtype)
        need = self.size + len(fresh)
        if need > len(self._held):
            larger: npt.NDArray[S] = np.empty(max(need, 2 * len(self._held)), self._held.dtype)
            larger[: self.size] = self._held[: self.size]
            self._held = larger
        self._held[self.size : need] = fresh
        self.size = need

    @property
    def all(self) -> npt.NDArray[S]:
        return self._held[: self.size]


class LineFilter(NamedTuple):
    """Line filters."""

    rank: int | None = None
    stream: str = ""
    """stdout, stderr, or "" for both."""
    rewrites: bool = False
    """Also overwritten versions of lines."""


@dataclass
class _Stream:
    """The state of one stream of one process."""

    screen: Screen
    watch: TracebackWatch


@dataclass
class _News:
    """New columns, as lists: thousands of pieces are appended at once."""

    about: list[tuple[int, bool, int, float]] = field(default_factory=list)
    """For each piece: its rank, whether it is stderr, its step and time."""
    piece: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    """Overwritten lines."""


class ConsoleIndex:
    """The lines of one run. Use it under its `lock`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.built = 0
        """How often it was rebuilt: earlier numbers are then invalid."""
        self._clear()

    def _clear(self) -> None:
        self.built += 1
        self._last: Entry | None = None
        self._taken = 0
        self.pieces: list[Console] = []
        self._first_line: list[int] = []
        self._streams: dict[tuple[int, str], _Stream] = {}
        self._latest: dict[int, float] = {}
        self._rank, self._stderr = Growing(np.int32), Growing(np.bool_)
        self._step, self._time = Growing(np.int64), Growing(np.float64)
        self._piece, self._start, self._end = Growing(np.int32), Growing(np.int32), Growing(np.int32)
        self._hidden = Growing(np.bool_)
        self._changes = 0
        self._rows: dict[LineFilter, tuple[tuple[int, int], Numbers]] = {}
        self._searches: dict[tuple[str, bool], Search] = {}

    # -- updating ------------------------------------------------------------------------------------------------

    def update(self, folder: RunFolder) -> None:
        """Read what the run has printed since; everything again if files were replaced."""
        fresh = folder.console_entries(max(0, self._taken - 1))
        if self._taken:
            if not fresh or fresh[0] is not self._last:
                self._clear()
                fresh = folder.console_entries()
            else:
                del fresh[0]
        if fresh:
            self._last, self._taken = fresh[-1], self._taken + len(fresh)
            news = _News()
            for entry in self._by_time(fresh):
                self._add(entry, news)
            self._take(news)

    def _by_time(self, entries: list[Entry]) -> list[Entry]:
        """Interleave processes by time; within one, the order is that of its file, whatever its clock did."""
        latest = self._latest
        keys = []
        for entry in entries:
            part = id(entry.part)
            latest[part] = max(latest.get(part, 0.0), entry.record.time)
            keys.append(latest[part])
        if len(latest) == 1:
            return entries
        return [entries[at] for at in np.argsort(np.array(keys), kind="stable").tolist()]

    def _add(self, entry: Entry, news: _News) -> None:
        piece: Console = entry.record
        text = piece.text
        first = self._piece.size + len(news.start)
        spans = _cut(text)
        news.piece += [len(self.pieces)] * len(spans)
        news.start += [start for start, _ in spans]
        news.end += [end for _, end in spans]
        news.about.append(
            (
                entry.part.header.rank,
                piece.stream == "stderr",
                NO_STEP if piece.step is None else piece.step,
                piece.time,
            )
        )
        self.pieces.append(piece)
        self._first_line.append(first)
        key = (id(entry.part), piece.stream)
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = _Stream(Screen(), TracebackWatch())
        if stream.watch.wants(text):
            for at, (start, end) in enumerate(spans):
                stream.watch.line(first + at, text[start:end])
        if piece.rewrite or not text.endswith("\n") or moves_up(text) or not stream.screen.plain(first, len(spans)):
            stream.screen.begin(piece.rewrite)
            for at, (start, end) in enumerate(spans):
                gone = stream.screen.write(first + at, text[start:end], ended=end < len(text))
                if gone is not None:
                    news.gone.append(gone)

    def _take(self, news: _News) -> None:
        ranks, stderr, steps, times = zip(*news.about, strict=True)
        self._rank.extend(ranks)
        self._stderr.extend(stderr)
        self._step.extend(steps)
        self._time.extend(times)
        self._piece.extend(news.piece)
        self._start.extend(news.start)
        self._end.extend(news.end)
        self._hidden.extend(np.zeros(len(news.start), bool))
        self._hidden.all[news.gone] = True
        self._changes += len(news.gone)

    # -- reading -------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._piece.size

    @property
    def ranks(self) -> list[int]:
        return [int(rank) for rank in np.unique(self._rank.all)]

    @property
    def streams(self) -> list[str]:
        found = np.unique(self._stderr.all).tolist()
        return [name for name, wanted in (("stdout", False), ("stderr", True)) if wanted in found]

    @property
    def has_steps(self) -> bool:
        return bool((self._step.all != NO_STEP).any())

    @property
    def rewritten(self) -> int:
        """Number of overwritten lines."""
        return int(np.count_nonzero(self._hidden.all))

    def errors(self) -> list[ErrorLines]:
        """Tracebacks, by their last line."""
        found = [one for stream in self._streams.values() for one in stream.watch.found]
        return sorted(found, key=lambda one: one.last)

    def rows(self, wanted: LineFilter) -> Numbers:
        """The numbers of the lines that match, in order."""
        state = (len(self), self._changes)
        known = self._rows.get(wanted)
        if known is not None and known[0] == state:
            return known[1]
        pieces = np.ones(len(self.pieces), bool)
        if wanted.rank is not None:
            pieces &= self._rank.all == wanted.rank
        if wanted.stream:
            pieces &= self._stderr.all == (wanted.stream == "stderr")
        lines = pieces[self._piece.all]
        if not wanted.rewrites:
            lines &= ~self._hidden.all
        found: Numbers = np.flatnonzero(lines)
        if len(self._rows) >= 2 * _MOST_SEARCHES:
            self._rows.clear()
        self._rows[wanted] = (state, found)
        return found

    def search(self, text: str, regex: bool) -> Search:
        """A search over all lines, cached so that it can resume."""
        found = self._searches.pop((text, regex), None) or Search(text, regex)
        self._searches[text, regex] = found
        while len(self._searches) > _MOST_SEARCHES:
            self._searches.pop(next(iter(self._searches)))
        return found

    def text(self, number: int) -> str:
        """A line as a terminal shows it, colors included."""
        piece = self.pieces[self._piece.all[number]]
        return last_form(piece.text[self._start.all[number] : self._end.all[number]])

    def lines_of(self, piece: int) -> Iterator[tuple[int, str]]:
        """The lines of one piece with their numbers."""
        first = self._first_line[piece]
        last = self._first_line[piece + 1] if piece + 1 < len(self.pieces) else len(self)
        whole = self.pieces[piece].text
        for number in range(first, last):
            yield number, last_form(whole[self._start.all[number] : self._end.all[number]])

    def first_line(self, piece: int) -> int:
        return self._first_line[piece] if piece < len(self.pieces) else len(self)

    def is_hidden(self, number: int) -> bool:
        return bool(self._hidden.all[number])

    def piece_of(self, number: int) -> int:
        return int(self._piece.all[number])

    def rank_of(self, number: int) -> int:
        return int(self._rank.all[self._piece.all[number]])

    def row_of_line(self, rows: Numbers, number: int) -> int:
        """The position of a line among these, or of the next one after it."""
        return min(bisect_left(rows, number), max(0, len(rows) - 1))

    def row_of_step(self, rows: Numbers, step: int) -> int | None:
        """The first of these lines printed in this step or, if there is none, in the first step after it."""
        steps = self._step.all[self._piece.all[rows]]
        known = steps != NO_STEP
        at = np.flatnonzero(known & (steps >= step))
        if len(at):
            return int(at[0])
        before = np.flatnonzero(known)
        return int(before[-1]) if len(before) else None


def _cut(text: str) -> list[tuple[int, int]]:
    """The bounds of a piece's lines, without line breaks."""
    found = []
    at = 0
    while (end := text.find("\n", at)) >= 0:
        found.append((at, end))
        at = end + 1
    if at < len(text):
        found.append((at, len(text)))
    return found


class Consoles:
    """The indexes of open runs; each is dropped with its run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: WeakKeyDictionary[RunFolder, ConsoleIndex] = WeakKeyDictionary()

    def of(self, folder: RunFolder) -> ConsoleIndex:
        with self._lock:
            index = self._known.get(folder)
            if index is None:
                index = self._known[folder] = ConsoleIndex()
        with index.lock:
            index.update(folder)
        return index
