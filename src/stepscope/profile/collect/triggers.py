"""What asks for a deep window in the middle of a training: a signal, a step out of the ordinary, a file."""

from __future__ import annotations

import os
import signal
import statistics
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec

from stepscope.common import clocks
from stepscope.errors import UsageError
from stepscope.events.signals import hear_signal
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file
from stepscope.profile.collect.windows import Request
from stepscope.profile.show import cell_text
from stepscope.profile.store import PROFILES, REQUEST

POLL_S = 1.0
KEEP_S = 3.0
ODD_FACTOR = 3.0
HISTORY, LEAST_HISTORY = 50, 20
MOST_ANOMALIES = 2
LEAST_ODD_S = 0.005
"""Below this a step that takes three times as long is the machine's doing."""


def signal_named(name: str) -> int:
    """The number of a signal by its name, with or without SIG.

    >>> signal_named("USR2") == signal_named("sigusr2") == signal.SIGUSR2
    True
    """
    full = name.upper() if name.upper().startswith("SIG") else f"SIG{name.upper()}"
    found = getattr(signal, full, None)
    if not isinstance(found, signal.Signals) or found in (signal.SIGTERM, signal.SIGINT):
        raise UsageError(f"{name!r} is not a signal that can request a window; try USR2 or USR1")
    return int(found)


class Signal:
    """A signal sets a mark; the next step sees it."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._came = False
        self._undo: Callable[[], None] | None = None

    def install(self) -> None:
        """Only in the main thread, and only where the script has no use for the signal itself."""
        self._undo = hear_signal(self._number, self._mark, passes_on=False)

    def _mark(self) -> None:
        self._came = True

    def remove(self) -> None:
        if self._undo is not None:
            self._undo()
            self._undo = None

    def due(self) -> Request | None:
        if not self._came:
            return None
        self._came = False
        return Request(why=f"the process got {signal.Signals(self._number).name}")


class Anomaly:
    """A step that took three times as long as the last ones asks for a window: the next slow one may be in it."""

    def __init__(self, most: int = MOST_ANOMALIES) -> None:
        self._left = most
        self._late: deque[float] = deque(maxlen=HISTORY)

    def saw(self, step: int, wall_s: float) -> Request | None:
        """An undisturbed step is over."""
        late = self._late
        usual = statistics.median(late) if len(late) >= LEAST_HISTORY else None
        late.append(wall_s)
        if usual is None or self._left <= 0 or wall_s < max(ODD_FACTOR * usual, LEAST_ODD_S):
            return None
        self._left -= 1
        late.clear()
        took = cell_text(round(1e9 * wall_s), "ns")
        return Request(why=f"step {step} took {took}, {wall_s / usual:.1f} times as long as the steps before")


class RequestFile:
    """The file `profiles/request` of the run, looked for once a second."""

    def __init__(
        self, run: Callable[[], Path | None], rank: int, clock: Callable[[], float] = clocks.monotonic
    ) -> None:
        self._run = run
        self._rank = rank
        self._clock = clock
        self._looked = clock()
        self._seen: tuple[int, int] | None = None
        self._remove_at: float | None = None

    def due(self) -> Request | None:
        now = self._clock()
        if now - self._looked < POLL_S:
            return None
        self._looked = now
        run = self._run()
        if run is None:
            return None
        path = run / PROFILES / REQUEST
        try:
            found = os.stat(path, follow_symlinks=False)
        except OSError:
            self._seen = None
            return None
        key = (found.st_mtime_ns, found.st_ino)
        if key == self._seen:
            self._sweep(path, now)
            return None
        self._seen, self._remove_at = key, now + KEEP_S  # the other ranks look for it too
        return Request(why="requested while it ran", steps=_steps_in(path))

    def _sweep(self, path: Path, now: float) -> None:
        if self._rank == 0 and self._remove_at is not None and now >= self._remove_at:
            self._remove_at = None
            path.unlink(missing_ok=True)


_LARGEST_REQUEST = 200


class _Asked(msgspec.Struct):
    steps: int | None = None


# Made here and not on first use, which two threads could make at once: msgspec (0.22) then ends the process.
_asked_decoder = msgspec.json.Decoder(_Asked)


def _steps_in(path: Path) -> int | None:
    try:
        steps = _asked_decoder.decode(read_file(path, _LARGEST_REQUEST, within=path.parent)).steps
    except (OSError, *MALFORMED):
        return None
    return steps if steps is not None and 0 < steps <= 1000 else None
