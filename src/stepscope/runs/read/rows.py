"""Rows of scalars as columns: from frames checked in bulk, or collected one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.runs.format.frames import HEADER, ROW


class RawRows(NamedTuple):
    """Rows of one keyset as stored in the file: without names or times."""

    keyset: int
    seqs: npt.NDArray[np.uint32]
    ticks: npt.NDArray[np.uint32]
    steps: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    """One line per row, one column per name."""

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + 16 * len(self.seqs)

    def copy(self) -> RawRows:
        """A copy of the rows that does not reference the file's bytes."""
        if self.values.base is None:
            return self
        return RawRows(self.keyset, self.seqs.copy(), self.ticks.copy(), self.steps.copy(), self.values.copy())


def rows_of(frames: npt.NDArray[np.uint8]) -> Iterator[RawRows]:
    """The rows in complete valid row frames of one length, by keyset.

    The columns are views of the frames' bytes; copy them (`RawRows.copy`) to keep them.
    """
    short = frames.view("<u4")
    long = frames.view("<i8")
    keysets, seqs, ticks = short[:, 4], short[:, 2], short[:, 5]
    steps = long[:, 3]
    values = long[:, (HEADER.size + ROW.size) // 8 :].view("<f8")
    if (keysets == keysets[0]).all():
        yield RawRows(int(keysets[0]), seqs, ticks, steps, values)
        return
    for keyset in np.unique(keysets):
        mine = keysets == keyset
        yield RawRows(int(keyset), seqs[mine], ticks[mine], steps[mine], values[mine])


class SlowRows:
    """Rows read one by one, collected until they are needed as columns."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int], list[tuple[int, int, int, bytes]]] = {}

    def add(self, seq: int, payload: memoryview) -> bool:
        """Add one row; False if the payload is not a row."""
        if len(payload) < ROW.size or len(payload) % 8:
            return False
        keyset, ticks, step = ROW.unpack_from(payload)
        values = bytes(payload[ROW.size :])
        self._rows.setdefault((keyset, len(values)), []).append((seq, ticks, step, values))
        return True

    def take(self) -> list[RawRows]:
        """Return all rows so far and clear them."""
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
