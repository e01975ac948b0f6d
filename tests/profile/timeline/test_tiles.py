"""What a screen shows, compared with a slow and plain way to the same picture."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from stepscope.errors import UsageError
from stepscope.profile.timeline.lines import lay_out
from stepscope.profile.timeline.pyramid import Pyramid
from stepscope.profile.timeline.tiles import TILE
from stepscope.profile.timeline.timeline import Timeline
from stepscope.profile.trace.trace import Trace

from .conftest import trace_of


@dataclass
class Block:
    lane: int
    tile: int
    start: float
    dur: float
    name: int
    event: int
    count: int
    depth: int
    busy: int
    kind: int


def unpacked(data: bytes) -> list[Block]:
    """As the browser reads them, written out once more from the description of the format."""
    magic, tiles, blocks, zero = struct.unpack_from("<IIII", data)
    assert (data[:4], zero) == (b"SSTL", 0)
    assert magic == 0x4C545353
    heads = np.frombuffer(data, "<u4", tiles * 3, 16).reshape(-1, 3)
    at = 16 + 12 * tiles
    at += at % 8
    columns: list[Any] = []
    for type in ("<f8", "<f4", "<u4", "<u4", "<u4", "<u2", "u1", "u1"):
        columns.append(np.frombuffer(data, type, blocks, at).tolist())
        at += np.dtype(type).itemsize * blocks
    assert at == len(data)
    owners = [(int(lane), int(tile)) for lane, tile, size in heads for _ in range(size)]
    return [Block(*owner, *values) for owner, values in zip(owners, zip(*columns, strict=True), strict=True)]


def plainly(trace: Trace, level: int) -> list[tuple[int, int, int, int, int]]:
    """(line, start, duration, count, busy) of all blocks of a level, event by event."""
    lines = lay_out(trace)
    found: list[list[int]] = []
    last: tuple[int, int] | None = None
    for key, dur in zip(lines.key.tolist(), lines.dur.tolist(), strict=True):
        line, start = key >> lines.bits, key & ((1 << lines.bits) - 1)
        pixel = (line, start >> level)
        if dur < 1 << level and pixel == last:
            one = found[-1]
            one[2] = max(one[2], start + dur - one[1])
            one[3] += 1
            one[4] += dur
        else:
            found.append([line, start, dur, 1, dur])
        last = pixel if dur < 1 << level else None
    return [(a, b, c, d, e) for a, b, c, d, e in found]


@pytest.mark.parametrize("level", [0, 8, 12, 14, 17, 20, 24])
def test_a_level_of_the_pyramid_is_what_merging_event_by_event_gives(h200: Trace, level: int) -> None:
    lines = lay_out(h200)
    all_lines = np.arange(len(lines.lane))
    blocks, stretch = Pyramid(lines).blocks(level, all_lines, all_lines * 0, all_lines * 0 + (1 << lines.bits))
    got = zip(
        stretch.tolist(), (blocks.key & ((1 << lines.bits) - 1)).tolist(), blocks.dur.tolist(), blocks.count.tolist(),
        blocks.busy.tolist(), strict=True,
    )  # fmt: skip
    expected = plainly(h200, level)
    found = list(got)
    # Blocks of a finer level that reach beyond their pixel may join differently by a few; events and time may not.
    assert sum(one[3] for one in found) == sum(one[3] for one in expected) == len(lines)
    assert sum(one[4] for one in found) == sum(one[4] for one in expected)
    assert abs(len(found) - len(expected)) <= 0.02 * len(expected)
    if level < 8:
        assert found == expected


def test_tiles_side_by_side_hold_every_event_once(h200: Trace) -> None:
    timeline = Timeline(h200)
    lanes = [lane.id for lane in timeline.lanes]
    level = 13
    count = timeline.lines.span_ns // (TILE << level) + 1
    blocks = unpacked(timeline.tiles(level=level, first=0, count=count, lanes=lanes))
    own = [block for block in blocks if block.start >= block.tile * (TILE << level)]
    assert sum(block.count for block in own) == len(timeline.lines)
    reaching = [block for block in blocks if block.start < block.tile * (TILE << level)]
    assert reaching
    assert all(block.start + block.dur > block.tile * (TILE << level) for block in reaching)


def test_a_block_names_its_longest_event() -> None:
    trace = trace_of(("a", 0, 10), ("b", 20, 30), ("c", 60, 5), ("far", 1 << 20, 1 << 19))
    timeline = Timeline(trace)
    few, wide = unpacked(timeline.tiles(level=10, first=0, count=2, lanes=[0]))[:2]
    assert (few.start, few.dur, few.count, trace.events.names[few.name], few.event) == (0, 65, 3, "b", 1)
    assert few.busy == 255 * 45 // 65
    assert (wide.start, wide.dur, wide.count, wide.busy) == (1 << 20, 1 << 19, 1, 255)


def test_only_the_lanes_asked_for_come_back() -> None:
    trace = trace_of(("a", 0, 10), ("b", 0, 10, {"tid": 2}), ("c", 0, 10, {"tid": 3}))
    blocks = unpacked(Timeline(trace).tiles(level=0, first=0, count=1, lanes=[2, 0]))
    assert [(block.lane, trace.events.names[block.name]) for block in blocks] == [(2, "c"), (0, "a")]
    assert unpacked(Timeline(trace).tiles(level=0, first=7, count=1, lanes=[99])) == []


@pytest.mark.parametrize("asked", [{"level": 63}, {"first": -1}, {"count": 0}, {"count": 33}, {"lanes": [0] * 5000}])
def test_what_no_screen_needs_is_refused(asked: dict[str, Any]) -> None:
    timeline = Timeline(trace_of(("a", 0, 10)))
    with pytest.raises(UsageError, match="ask for 1 to 32 tiles"):
        timeline.tiles(**{"level": 0, "first": 0, "count": 1, "lanes": [0], **asked})


def test_a_trace_without_anything_to_draw_answers_all_the_same() -> None:
    timeline = Timeline(trace_of(("flow", 0, 0, {"ph": "s", "cat": "ac2g"})))
    assert unpacked(timeline.tiles(level=3, first=0, count=2, lanes=[0])) == []
    assert (timeline.lanes, timeline.seen) == ([], (0, 0))
    assert timeline.select(0, 10).names == []
