"""Pausing a sweep from elsewhere: a small file in its folder that its processes look at.

A paused sweep finishes what it runs, starts nothing and waits; its processes stay. Whoever may write to the store can
pause it, so the Sweeps page starts no process and needs no address of a database.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stepscope.files.opening import read_file
from stepscope.runs.format.layout import write_file

FILE = "pause.json"
_LARGEST = 1 << 12


@dataclass(frozen=True)
class Pause:
    """What was asked for last."""

    id: str
    """One for each pause: workers on other machines learn of it by their common study, and of its end too."""
    paused: bool


def pause_of(folder: Path) -> Pause | None:
    """Of a sweep's folder; None if nobody has ever paused it."""
    try:
        return msgspec.json.decode(read_file(folder / FILE, _LARGEST, within=folder), type=Pause)
    except (OSError, msgspec.DecodeError):
        return None


def set_paused(folder: Path, paused: bool) -> None:
    """Pause a sweep, or let it go on."""
    last = pause_of(folder)
    if paused == (last is not None and last.paused):
        return
    name = secrets.token_hex(8) if last is None or paused else last.id
    write_file(folder / FILE, msgspec.json.encode(Pause(name, paused)))
