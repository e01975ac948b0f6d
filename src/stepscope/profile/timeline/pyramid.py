"""Levels of detail: what is too narrow to be seen is merged into blocks, once, so that any view is a short search.

At level L a pixel is `1 << L` nanoseconds. Events at least that wide stay as they are. Narrower ones that begin in the
same pixel of the same line become one block, which knows how many they are, how long they are together, and which is
the longest of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.timeline.lines import Lines, stretch_of
from stepscope.profile.trace.library import merge_compiled

Ints = npt.NDArray[Any]

FIRST_LEVEL = 8
KEPT_BELOW = 0.5
"""A level is kept when it has at most this share of the blocks of the last one kept; others are made from it."""


@dataclass(frozen=True)
class Level:
    """Blocks of all lines, sorted as `Lines` are."""

    level: int
    key: Ints
    dur: Ints
    """From the beginning of the first event to the end of the last."""
    busy: Ints
    """The events' own time together."""
    count: Ints
    """uint32"""
    longest: Ints
    """uint32: the place of the longest event."""
    longest_dur: Ints
    first: Ints
    """Of each line."""

    def __len__(self) -> int:
        return len(self.key)

    def taken(self, at: Ints) -> Level:
        """Some blocks of it, in that order."""
        return Level(
            self.level, self.key[at], self.dur[at], self.busy[at], self.count[at], self.longest[at],
            self.longest_dur[at], self.first,
        )  # fmt: skip


class Pyramid:
    """The kept levels of a timeline."""

    def __init__(self, lines: Lines) -> None:
        self.bits = lines.bits
        places = np.arange(len(lines), dtype=np.uint32)
        ones = np.broadcast_to(np.uint32(1), len(lines))
        self.levels = [Level(0, lines.key, lines.dur, lines.dur, ones, places, lines.dur, lines.first)]
        for level in range(FIRST_LEVEL, lines.bits + 1, 2):
            last = self.levels[-1]
            coarser = _coarser(last, level, lines)
            if coarser is not None:
                self.levels.append(coarser)

    def for_level(self, level: int) -> Level:
        """The coarsest kept level that is fine enough."""
        return next(one for one in reversed(self.levels) if one.level <= level)

    def blocks(self, level: int, lines: Ints, begin: Ints, end: Ints) -> tuple[Level, Ints]:
        """The blocks of stretches of lines (`lines[i]` from `begin[i]` to `end[i]`), and for each its stretch."""
        kept = self.for_level(level)
        low, high = stretch_of(kept.key, kept.dur, kept.first, self.bits, lines, begin, end)
        sizes = np.maximum(high - low, 0)
        ends = np.cumsum(sizes)
        stretch = np.repeat(np.arange(len(lines)), sizes)
        at = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes - low, sizes)
        return merged(kept.taken(at), stretch, level)


def merged(blocks: Level, stretch: Ints, level: int) -> tuple[Level, Ints]:
    """Blocks of one level as those of a coarser one. Those of different stretches stay apart."""
    begins = _begins(blocks, level, stretch)
    if len(begins) == len(blocks):
        return blocks, stretch
    return _merge(blocks, begins, level), stretch[begins]


def _coarser(last: Level, level: int, lines: Lines) -> Level | None:
    """All blocks of a level, merged; None where that leaves more of them than are worth keeping."""
    most = KEPT_BELOW * len(last)
    columns = (last.key, last.dur, last.busy, last.count, last.longest, last.longest_dur)
    made = merge_compiled(columns, level, most)
    if made:
        key, dur, busy, count, longest, longest_dur = made
        first = np.searchsorted(key, np.arange(len(lines.first)) << lines.bits)
        return Level(level, key, dur, busy, count, longest, longest_dur, first)
    if made is not None:
        return None
    begins = _begins(last, level)
    return _merge(last, begins, level, lines) if len(begins) <= most else None


def _begins(blocks: Level, level: int, stretch: Ints | None = None) -> Ints:
    """The first block of each group that is merged."""
    if not len(blocks):
        return np.zeros(0, np.int64)
    wide = blocks.dur >= (1 << level)
    pixel = blocks.key >> level
    new = np.ones(len(blocks), bool)
    new[1:] = (pixel[1:] != pixel[:-1]) | wide[1:] | wide[:-1]
    if stretch is not None:
        new[1:] |= stretch[1:] != stretch[:-1]
    return np.flatnonzero(new)


def _merge(blocks: Level, begins: Ints, level: int, lines: Lines | None = None) -> Level:
    sizes = np.diff(np.append(begins, len(blocks)))
    longest_dur = np.maximum.reduceat(blocks.longest_dur, begins)
    group = np.repeat(np.arange(len(begins)), sizes)
    winners = np.flatnonzero(blocks.longest_dur == longest_dur[group])[::-1]
    longest = np.empty(len(begins), np.uint32)
    longest[group[winners]] = blocks.longest[winners]  # backwards, so the first of equals is the one that stays
    key = blocks.key[begins]
    return Level(
        level=level,
        key=key,
        dur=np.maximum.reduceat(blocks.key + blocks.dur, begins) - key,
        busy=np.add.reduceat(blocks.busy, begins),
        count=np.add.reduceat(blocks.count, begins),
        longest=longest,
        longest_dur=longest_dur,
        first=np.searchsorted(key, np.arange(len(lines.first)) << lines.bits) if lines else blocks.first,
    )
