"""Files that this process has open to write: from the tables of the system, so nothing of the script is touched."""

from __future__ import annotations

import os
import stat

_TABLE, _FACTS = "/proc/self/fd", "/proc/self/fdinfo"
_STANDARD = 3
"""Input, output and errors come from outside, and all ranks may share them."""


def files_open() -> set[tuple[int, int]]:
    """All files that are open now, by device and number; none where the system does not say."""
    return {(one.st_dev, one.st_ino) for one in map(_facts, _descriptors()) if one is not None}


def files_written(before: set[tuple[int, int]]) -> list[str]:
    """Regular files that are open to write and have been written to; those open `before` came from outside."""
    found = []
    for number in _descriptors():
        facts = _facts(number) if number >= _STANDARD else None
        if facts is None or not stat.S_ISREG(facts.st_mode) or not facts.st_nlink or not facts.st_size:
            continue
        if (facts.st_dev, facts.st_ino) in before or not _writes(number):
            continue
        try:
            path = os.readlink(f"{_TABLE}/{number}")
        except OSError:
            continue
        if path.startswith("/dev/shm/") or not path.startswith(("/dev/", "/proc/", "/memfd:")):
            found.append(path)
    return sorted(set(found))


def _descriptors() -> list[int]:
    try:
        return sorted(int(name) for name in os.listdir(_TABLE))
    except OSError:
        return []


def _facts(number: int) -> os.stat_result | None:
    try:
        return os.fstat(number)
    except OSError:  # closed meanwhile
        return None


def _writes(number: int) -> bool:
    """Whether it is open for writing only, or for appending, and something was written through it."""
    try:
        with open(f"{_FACTS}/{number}") as file:
            said = dict(line.split(":", 1) for line in file.read().splitlines() if ":" in line)
        position, flags = int(said["pos"]), int(said["flags"], 8)
    except (OSError, KeyError, ValueError):
        return False
    return position > 0 and (flags & os.O_ACCMODE == os.O_WRONLY or bool(flags & os.O_APPEND))
