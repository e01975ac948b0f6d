"""Ids of runs and log files: 26 characters, sortable by time, unique without coordination.

48 bits of milliseconds, then 80 random bits, in Crockford's base 32 (no I, L, O, U). The random bits come from the
operating system, never from `random`, numpy or torch: a training's own random numbers must stay as they were.
"""

from __future__ import annotations

import os
import re

from stepscope.common import clocks

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_SHAPE = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def new_run_id(now: float | None = None) -> str:
    """A fresh id; `now` (unix seconds) replaces the clock.

    >>> new_run_id(0.0)[:10]
    '0000000000'
    """
    milliseconds = int((clocks.time() if now is None else now) * 1000)
    milliseconds = min(max(milliseconds, 0), (1 << 48) - 1)
    number = milliseconds << 80 | int.from_bytes(os.urandom(10), "big")
    return "".join(_LETTERS[number >> shift & 31] for shift in range(125, -1, -5))


def is_run_id(text: str) -> bool:
    """Whether `text` has the shape of an id, and so is safe as a folder name."""
    return _SHAPE.fullmatch(text) is not None


def id_time(run_id: str) -> float:
    """The unix time in an id.

    >>> id_time(new_run_id(1700000000.25))
    1700000000.25
    """
    number = 0
    for letter in run_id[:10]:
        number = number << 5 | _LETTERS.index(letter)
    return number / 1000
