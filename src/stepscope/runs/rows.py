"""Rows of scalars as columns: from frames checked thousands at a time, or gathered one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.runs.frames import HEADER, ROW

__all__ = ["RawRows", "SlowRows", "rows_of"]


class RawRows(NamedTuple):
    """Rows of one keyset as they stand in the file: no names, no clock yet."""

    keyset: int
    seqs: npt.NDArray[np.uint32]
    ticks: npt.NDArray[np.uint32]
    steps: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    """One line per row, one column per name."""

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + 16 * len(self.seqs)


def rows_of(frames: npt.NDArray[np.uint8]) -> Iterator[RawRows]:
    """The rows in whole, valid row frames of one length, by keyset; the values still lean on the frames' bytes."""
    head = frames[:, : HEADER.size + ROW.size]
    numbers = np.ascontiguousarray(head).view("<u4")
    values = frames[:, HEADER.size + ROW.size :]
    if not values.flags.aligned or values.strides[1] != 1 or frames.strides[0] % 8:
        values = np.ascontiguousarray(values)
    floats = values.view("<f8")
    keysets = numbers[:, 4]
    steps = np.ascontiguousarray(numbers[:, 6:8]).view("<i8")[:, 0]
    if (keysets == keysets[0]).all():
        yield RawRows(int(keysets[0]), numbers[:, 2].copy(), numbers[:, 5].copy(), steps, floats)
        return
    for keyset in np.unique(keysets):
        mine = keysets == keyset
        yield RawRows(int(keyset), numbers[mine, 2], numbers[mine, 5], steps[mine], floats[mine])


class SlowRows:
    """Rows that were read one by one, gathered until they are wanted as columns."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int], list[tuple[int, int, int, bytes]]] = {}

    def add(self, seq: int, payload: memoryview) -> bool:
        """Take one row; False when the payload cannot be one."""
        if len(payload) < ROW.size or len(payload) % 8:
            return False
        keyset, ticks, step = ROW.unpack_from(payload)
        values = bytes(payload[ROW.size :])
        self._rows.setdefault((keyset, len(values)), []).append((seq, ticks, step, values))
        return True

    def take(self) -> list[RawRows]:
        """All rows so far, and forget them."""
        taken, self._rows = self._rows, {}
        out = []
        for (keyset, size), rows in taken.items():
            seqs, ticks, steps, values = zip(*rows, strict=True)
            table = np.frombuffer(b"".join(values), dtype="<f8").reshape(len(rows), size // 8)
            out.append(
                RawRows(
                    keyset,
                    np.array(seqs, dtype=np.uint32),
                    np.array(ticks, dtype=np.uint32),
                    np.array(steps, dtype=np.int64),
                    table,
                )
            )
        return out
