"""The rows of one key set, and the fast path from ten numbers to the disk.

`Keyset.write` is a closure recreated for each stretch of a segment, with everything it needs bound in advance: ten
values cost one `pack_into`, two checksums and one `write(2)`. Unusual cases (no file yet, no room, the lock taken, an
error) take the slow path through the write queue.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

from stepscope.runs.format.frames import MAGIC, TICK, Kind
from stepscope.runs.format.packing import clean_text, pack
from stepscope.runs.write.backlog import Row
from stepscope.runs.write.logfile import INTERRUPTED, Stretch

if TYPE_CHECKING:
    from stepscope.runs.write.write_queue import Delivery

_CRC = struct.Struct("<I")
_PER_SECOND = round(1 / TICK)
_LAST_TICK = (1 << 32) - 1
SLOW_S = 0.005


class WriteRow(Protocol):
    def __call__(self, step: int, values: Sequence[float], at: float | None = None) -> None: ...


class Keyset:
    """The ordered names of a row. Look `write` up for each call: it is replaced now and then."""

    __slots__ = ("_delivery", "_pack", "defined_in", "definition", "names", "number", "write")

    write: WriteRow
    """Write one row: the step, one number per name, and the `time.monotonic()` of the values if it is not now."""

    def __init__(self, delivery: Delivery, number: int, names: tuple[str, ...]) -> None:
        self.names = names
        self.number = number
        self.definition = pack([number, [clean_text(name) for name in names]])
        self._pack = struct.Struct(f"<IIq{len(names)}d").pack
        self.start_over(delivery)

    def start_over(self, delivery: Delivery) -> None:
        """Become undefined: initially, after a fork, and at the end."""
        self._delivery = delivery
        self.defined_in: Stretch | None = None
        self.write = self.write_carefully

    def write_carefully(self, step: int, values: Sequence[float], at: float | None = None) -> None:
        """The slow path: the first row of a stretch, and every row while there are problems."""
        packed = self._pack(self.number, 0, step, *values)
        self._delivery.submit(Row(self, packed, monotonic() if at is None else at))

    def payload(self, stretch: Stretch, row: Row) -> bytes:
        """A row as encoded in this stretch."""
        ticks = min(max(int((row.at - stretch.start) * _PER_SECOND), 0), _LAST_TICK)
        return row.packed[:4] + ticks.to_bytes(4, "little") + row.packed[8:]

    def settle(self, stretch: Stretch, *, short: bool) -> None:
        """Mark as defined in `stretch`; if `short`, rows take the fast path while it has room."""
        if self.defined_in is not stretch:
            self.defined_in = stretch
            self.write = self.write_carefully
        if short and self.write == self.write_carefully:
            self.write = self._short_way(stretch)

    def _short_way(self, here: Stretch) -> WriteRow:
        lock = self._delivery.lock
        acquire, release = lock.acquire, lock.release
        fd, start, number = here.fd, here.start, self.number
        write, carefully, unusual = os.write, self.write_carefully, self._delivery.row_was_unusual
        packer = struct.Struct(f"<8sIIIIq{len(self.names)}d")
        size = packer.size
        prefix = struct.pack("<2sBBI", MAGIC, Kind.ROW, 0, size - 16)
        row = bytearray(size)
        signed, payload = memoryview(row)[:12], memoryview(row)[16:]
        pack_into, put_crc, bad_row, interrupted = packer.pack_into, _CRC.pack_into, struct.error, INTERRUPTED

        def write_row(step: int, values: Sequence[float], at: float | None = None) -> None:
            now = monotonic()
            if not acquire(False):
                return carefully(step, values, now if at is None else at)
            done: int = 0
            fault: OSError | None = None
            try:
                left = here.left - size
                if left >= 0:
                    seq = here.seq
                    ticks = int(((now if at is None else at) - start) * 10000)
                    pack_into(row, 0, prefix, seq, 0, number, ticks if ticks > 0 else 0, step, *values)
                    put_crc(row, 12, crc32(payload, crc32(signed)))
                    here.left = left
                    here.seq = seq + 1
                    done = -1  # for an interrupt that comes before the result is known
                    try:
                        done = write(fd, row)
                    except OSError as error:
                        done, fault = 0, error
                    if done == size and monotonic() - now < SLOW_S:
                        return None
                    if unusual(here, row, done, fault, now):
                        return None
            except bad_row:
                pass  # overflowing ticks mean a new segment; a non-number raises on the slow path
            finally:
                if done < 0:
                    here.left = interrupted
                release()
            return carefully(step, values, now if at is None else at)

        return write_row
