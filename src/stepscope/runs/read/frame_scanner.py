"""Chains: many consecutive frames without a gap, found and checked together.

A frame may begin wherever the magic occurs. Where each frame ends exactly where the next begins, they form a chain;
a magic that occurs inside a payload by chance is skipped by following the lengths. All row frames of
one length are then checked at once (`checksums.py`); the few others one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from stepscope.runs.format.checksums import frame_checksums
from stepscope.runs.format.frames import HEADER, MAGIC, MAX_PAYLOAD, ROW, Frame, Kind
from stepscope.runs.read.rows import RawRows, rows_of

_FIRST, _SECOND = MAGIC
_ROW_START = int.from_bytes(MAGIC + bytes((Kind.ROW, 0)), "little")
_WORTH_IT = 256
_BREAKS = {int(Kind.HEADER), int(Kind.DEFINE)}
"""A chain stops before these frames, which change how later rows are read."""


class Chain(NamedTuple):
    """The content of a chain: rows as columns, other frames in order, and the end position."""

    rows: list[RawRows]
    others: list[Frame]
    frames: int
    duplicates: int
    end: int
    seq: int


class _Heads(NamedTuple):
    """The headers of a chain's frames: `at` has the start of each."""

    at: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.uint32]
    ends: npt.NDArray[np.int64]

    def select(self, which: slice | npt.NDArray[np.bool_]) -> _Heads:
        return _Heads(self.at[which], self.numbers[which], self.ends[which])

    @property
    def kinds(self) -> npt.NDArray[np.uint32]:
        kinds: npt.NDArray[np.uint32] = (self.numbers[:, 0] >> np.uint32(16)) & np.uint32(255)
        return kinds

    @property
    def seqs(self) -> npt.NDArray[np.int64]:
        return self.numbers[:, 2].astype(np.int64)


def read_chain(data: bytes, start: int, stop: int, last_seq: int) -> Chain:
    """The unbroken chain of valid frames at `start`, searching no further than `stop`.

    It ends before the first frame that is damaged or cut off. Frames whose number does not increase are duplicates
    and are skipped.
    """
    view = np.frombuffer(data, dtype=np.uint8, count=stop - start, offset=start)
    heads = _valid(view, _alike(view) or _linked(view))
    count = len(heads.at)
    if count == 0:
        return Chain([], [], 0, 0, start, last_seq)
    end = start + int(heads.ends[-1])
    newest = np.maximum.accumulate(np.concatenate(([last_seq], heads.seqs)))
    fresh = heads.seqs > newest[:-1]
    if not fresh.all():
        heads = heads.select(fresh)
    rows, others = _split(heads)
    columns = [columns for _at, frames in _same_length(view, rows) for columns in rows_of(frames)]
    frames_between = list(_frames(data, start, others))
    return Chain(columns, frames_between, count, count - int(fresh.sum()), end, int(newest[-1]))


def _split(heads: _Heads) -> tuple[_Heads, _Heads]:
    """The rows and the other frames."""
    lengths = heads.numbers[:, 1]
    is_row = (heads.kinds == Kind.ROW) & (lengths >= ROW.size) & (lengths % 8 == 0)
    if is_row.all():
        return heads, heads.select(slice(0))
    return heads.select(is_row), heads.select(~is_row)


def _alike(view: npt.NDArray[np.uint8]) -> _Heads | None:
    """Adjacent frames of the same kind and length: the usual log, in half the time."""
    if len(view) < HEADER.size:
        return None
    size = HEADER.size + int(view[4:8].view("<u4")[0])
    if size % 4:
        return None
    numbers = view[: len(view) // size * size].reshape(-1, size).view("<u4")[:, :4]
    same = (numbers[:, 0] == _ROW_START) & (numbers[:, 1] == size - HEADER.size)
    count = len(same) if same.all() else int(same.argmin())
    if count < _WORTH_IT:
        return None
    at = np.arange(count) * size
    return _Heads(at, numbers[:count], at + size)


def _linked(view: npt.NDArray[np.uint8]) -> _Heads:
    """The consecutive frames from the start of `view`, according to their headers."""
    last = len(view) - HEADER.size
    if last < 0:
        return _Heads(np.empty(0, np.int64), np.empty((0, 4), np.uint32), np.empty(0, np.int64))
    at = np.flatnonzero((view[: last + 1] == _FIRST) & (view[1 : last + 2] == _SECOND))
    numbers = sliding_window_view(view, HEADER.size)[at].view("<u4")
    ends = at + HEADER.size + numbers[:, 1]
    ends[numbers[:, 1] > MAX_PAYLOAD] = -1
    ends[ends > len(view)] = -1
    keep = _follow(at, ends)
    return _Heads(at[keep], numbers[keep], ends[keep])


def _follow(at: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Indices of the positions reached from 0 by jumping from each frame's end to the next start."""
    pieces: list[npt.NDArray[np.int64]] = []
    if not len(at) or at[0] != 0:
        return np.empty(0, np.int64)
    breaks = [*np.flatnonzero(ends[:-1] != at[1:]).tolist(), len(at) - 1]
    index = 0
    for stop in breaks:
        if stop < index:
            continue  # inside a skipped payload
        pieces.append(np.arange(index, stop + (ends[stop] >= 0)))
        index = int(np.searchsorted(at, ends[stop])) if ends[stop] >= 0 else len(at)
        if index >= len(at) or at[index] != ends[stop]:
            break
    return np.concatenate(pieces)


def _valid(view: npt.NDArray[np.uint8], heads: _Heads) -> _Heads:
    """The frames before the first that fails its checksum or changes how rows are read."""
    turns = np.isin(heads.kinds, list(_BREAKS))
    if turns.any():
        heads = heads.select(slice(0, int(turns.argmax())))
    rows, others = _split(heads)
    bad = len(view)
    for at, frames in _same_length(view, rows):
        good = frame_checksums(frames) == frames.view("<u4")[:, 3]
        if not good.all():
            bad = min(bad, int(at[good.argmin()]))
    data = view.data
    for begin, end, crc in zip(others.at.tolist(), others.ends.tolist(), others.numbers[:, 3].tolist(), strict=True):
        if begin < bad and crc32(data[begin + 16 : end], crc32(data[begin : begin + 12])) != crc:
            bad = begin
    return heads.select(slice(0, int(np.searchsorted(heads.at, bad)))) if bad < len(view) else heads


def _same_length(
    view: npt.NDArray[np.uint8], rows: _Heads
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]]:
    """Row frames of one length, as rows of bytes."""
    if not len(rows.at):
        return
    sizes = rows.ends - rows.at
    alike = bool((sizes == sizes[0]).all())
    for size in sizes[:1] if alike else np.unique(sizes):
        at = rows.at if alike else rows.at[sizes == size]
        width = int(size)
        if at[-1] - at[0] == width * (len(at) - 1):  # adjacent: a view, nothing is copied
            yield at, view[at[0] : at[0] + width * len(at)].reshape(-1, width)
        else:
            yield at, sliding_window_view(view, width)[at]


def _frames(data: bytes, start: int, heads: _Heads) -> Iterator[Frame]:
    payloads = memoryview(data)
    kinds, seqs = heads.kinds.tolist(), heads.numbers[:, 2].tolist()
    for kind, seq, begin, end in zip(kinds, seqs, heads.at.tolist(), heads.ends.tolist(), strict=True):
        yield Frame(kind, seq, payloads[start + begin + HEADER.size : start + end], start + begin, start + end)
