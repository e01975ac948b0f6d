"""What retention has removed from a run: a small file in its folder, written before the removal.

It tells readers why something is missing, and keeps a server from requesting the same files again.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from stepscope.errors import BadData
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file
from stepscope.runs.format.layout import write_file
from stepscope.runs.format.sealed import seal_of, sealed

LEDGER = ".removed.json"
_LARGEST = 256 << 20
_KEPT = 256


class Ledger(msgspec.Struct, frozen=True):
    files: dict[str, int] = {}
    """Removed files, by name within the run, with their sizes."""
    media: list[str] = []
    """Hashes of media whose bytes were removed from a log."""
    at: float = 0.0
    """When something was last removed."""


_decoder = msgspec.json.Decoder(Ledger)


def read_ledger(run: Path) -> Ledger:
    """What was removed; empty for most runs."""
    try:
        data = read_file(run / LEDGER, _LARGEST, within=run)
        if seal_of(data) != "sound":
            raise BadData(f"{run / LEDGER} does not match its checksum; remove it to have all files sent again")
        return _decoder.decode(data)
    except FileNotFoundError:
        return Ledger()
    except MALFORMED as fault:
        raise BadData(f"{run / LEDGER} cannot be read: {fault}") from None


def note_removed(run: Path, files: dict[str, int], media: set[str], now: float) -> None:
    """Record on disk what is about to be removed."""
    before = read_ledger(run)
    after = Ledger({**before.files, **files}, sorted({*before.media, *media}), now)
    write_file(run / LEDGER, sealed(msgspec.json.encode(after)))


class LedgerReader:
    """Reads ledgers, each once until it changes."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[int, Ledger]] = {}

    def of(self, run: Path) -> Ledger:
        try:
            stamp = os.lstat(run / LEDGER).st_mtime_ns
        except OSError:
            return Ledger()
        known = self._known.get(run)
        if known is None or known[0] != stamp:
            known = (stamp, read_ledger(run))
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[run] = known
        return known[1]
