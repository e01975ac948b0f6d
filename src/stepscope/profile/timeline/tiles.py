"""What the browser draws: blocks of some lanes over some stretches of time, as packed columns.

A tile is `TILE` pixels wide; its level says how long a pixel is. Tiles of a level lie side by side from the beginning
of the axis, so that a browser can keep them and ask only for those it has not.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.errors import UsageError
from stepscope.profile.timeline.lines import Lines
from stepscope.profile.timeline.pyramid import Pyramid

TILE = 1024
MOST_TILES = 32
MOST_LANES = 4096
MAGIC = 0x4C545353
"""SSTL"""


def pack_tiles(
    lines: Lines,
    pyramid: Pyramid,
    name: npt.NDArray[Any],
    kind: npt.NDArray[Any],
    *,
    level: int,
    first: int,
    count: int,
    lanes: Sequence[int],
) -> bytes:
    """Tiles `first` to `first + count` of these lanes.

    Little-endian: magic, number of tiles n, number of blocks b, 0 (uint32 each); n times lane, tile, blocks (uint32),
    with 4 bytes more where that is needed to come to a multiple of 8; then the columns of all blocks: start (float64),
    duration (float32), name, event, count (uint32), depth (uint16), busy share of 255 (uint8), kind (uint8).
    """
    if not 0 <= level <= 62 or first < 0 or not 0 < count <= MOST_TILES or len(lanes) > MOST_LANES:
        raise UsageError(f"ask for 1 to {MOST_TILES} tiles of up to {MOST_LANES} lanes, at a level from 0 to 62")
    level = min(level, lines.bits)
    width = TILE << level
    per_lane = [lines.of_lane(lane) for lane in lanes]
    line = np.concatenate(per_lane) if per_lane else np.zeros(0, np.int64)
    begin = [min((first + at) * width, 1 << lines.bits) for at in range(count)]
    end = [min((first + at + 1) * width, 1 << lines.bits) for at in range(count)]
    blocks, stretch = pyramid.blocks(
        level, np.tile(line, count), np.repeat(begin, len(line)), np.repeat(end, len(line))
    )
    of_line = np.searchsorted(np.cumsum([len(one) for one in per_lane]), np.arange(len(line)), side="right")
    section = (stretch // max(1, len(line))) * len(lanes) + of_line[stretch % max(1, len(line))]
    sizes = np.bincount(section, minlength=count * len(lanes))
    heads = np.zeros((count * len(lanes), 3), "<u4")
    heads[:, 0], heads[:, 1], heads[:, 2] = (
        np.tile(np.asarray(lanes, np.int64), count), np.repeat(np.arange(first, first + count), len(lanes)), sizes,
    )  # fmt: skip
    start = blocks.key & ((1 << lines.bits) - 1)
    row = lines.row[blocks.longest]
    share = np.clip(255 * blocks.busy / np.maximum(blocks.dur, 1), 1, 255)
    columns = {
        "<f8": [start],
        "<f4": [blocks.dur],
        "<u4": [name[row], row, blocks.count],
        "<u2": [lines.depth[blocks.key >> lines.bits]],
        "u1": [share, kind[row]],
    }
    return b"".join(
        [
            struct.pack("<IIII", MAGIC, len(heads), len(blocks), 0),
            heads.tobytes() + b"\0" * (4 * (heads.size % 2)),
            *(one.astype(type).tobytes() for type, same in columns.items() for one in same),
        ]
    )
