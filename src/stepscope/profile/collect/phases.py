"""The simple profiler: every step of a run by phase, in a table that stays small however long the run is.

It is always on, so it costs a handful of additions a step. Times are those of the host: on an accelerator, forward and
backward are how long it took to give the device its work, not how long the device took.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING

from stepscope.common.units import counted
from stepscope.profile.typical import typical_rows
from stepscope.records.profile import Part, StepParts

if TYPE_CHECKING:
    import numpy as np

PHASES = ("data", "h2d", "forward", "backward", "optimizer", "other")
KEPT_STEPS = 20_000
FIRST_STEPS = 20
"""Kept whatever is thinned out: the first steps are not like the others."""
ODD_FACTOR, OUTLIER_FACTOR = 2.0, 3.0
_PARTS = (
    Part(key="data", label="Data", help="waiting for the loader to deliver the next batch"),
    Part(key="h2d", label="Host to device", help="inside .to() and .cuda() calls that moved tensors to a device"),
    Part(key="forward", label="Forward", help="from the batch to the beginning of backward: model and loss"),
    Part(key="backward", label="Backward", help="inside backward()"),
    Part(key="optimizer", label="Optimizer", help="inside the optimizer's step()"),
    Part(key="other", label="Other", help="the rest of the loop: clipping, schedulers, logging, the script's own code"),
)


class PhaseTable:
    """A row a step: its number and the seconds of each phase.

    >>> table = PhaseTable()
    >>> for step in range(3):
    ...     table.add(step, {"data": 0.03, "forward": 0.01, "backward": 0.02})
    >>> parts = table.result()
    >>> parts.steps, parts.wall_ns, parts.p50_ns
    ([0, 1, 2], [60000000, 60000000, 60000000], 60000000)
    """

    def __init__(self, kept: int = KEPT_STEPS) -> None:
        self.left_out = 0
        """Steps that Stepscope slowed down: they would say something of Stepscope, not of the training."""
        self.steps = 0
        self.seconds = 0.0
        """Of all steps together."""
        self._kept = kept
        self._stride = 1
        self._numbers = array("q")
        self._seconds = array("d")

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, step: int, seconds: Mapping[str, float]) -> None:
        """One step, over just now."""
        row = [seconds.get(phase, 0.0) for phase in PHASES]
        self.append(step, row, sum(row))

    def append(self, step: int, row: list[float], wall_s: float) -> None:
        """The same, as a row in the order of PHASES."""
        self.steps += 1
        self.seconds += wall_s
        if self.steps > FIRST_STEPS and self.steps % self._stride:
            return
        self._numbers.append(step)
        self._seconds.extend(row)
        if len(self._numbers) > self._kept:
            self._thin_out()

    def leave_out(self) -> None:
        """The step that is over just now was not the training's own."""
        self.left_out += 1

    def _thin_out(self) -> None:
        """Every second step from here on, and of those that are here; percentiles stay what they are."""
        self._stride *= 2
        picked = [*range(FIRST_STEPS), *range(FIRST_STEPS, len(self._numbers), 2)]
        rows = self.rows()[picked]
        self._numbers = array("q", [self._numbers[i] for i in picked])
        self._seconds = array("d", rows.ravel().tolist())

    def rows(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Seconds: a row a kept step, a column a phase."""
        import numpy as np  # not before the script has had its own beginning

        return np.array(self._seconds, np.float64).reshape(-1, len(PHASES))

    def late_s(self, most: int = 50) -> list[float]:
        """How long the last steps took, oldest first."""
        wide = len(PHASES)
        tail = self._seconds[-most * wide :]
        return [sum(tail[i : i + wide]) for i in range(0, len(tail), wide)]

    def result(self, *, on_device: bool = False) -> StepParts:
        """All that is kept, for `rank0.phases`."""
        import numpy as np

        parts_ns = np.rint(self.rows() * 1e9).astype(np.int64)
        notes = []
        if on_device:
            notes.append("times of the host: the device may still be at work when a phase is over for the host")
        if self._stride > 1:
            notes.append(f"of {self.steps} steps, the first {FIRST_STEPS} and every {self._stride}th are kept")
        if self.left_out:
            notes.append(f"{counted(self.left_out, 'step')} with extra instrumentation excluded")
        return spread(self._numbers.tolist(), parts_ns, notes)


def spread(steps: list[int], parts_ns: np.ndarray[tuple[int, int], np.dtype[np.int64]], notes: list[str]) -> StepParts:
    """The record of steps by phase, with its percentiles; the first step is set apart where it is odd."""
    import numpy as np

    wall = parts_ns.sum(1) if len(parts_ns) else np.zeros(0, np.int64)
    first_is_odd = len(wall) > 2 and bool(wall[0] > ODD_FACTOR * np.median(wall[1:]))
    rest = slice(1, None) if first_is_odd else slice(None)
    p50, p90, p99 = _percentiles(wall[rest], (50, 90, 99)) if len(wall) else (0.0, 0.0, 0.0)
    typical = typical_rows(wall, first_is_odd)
    outliers = int((wall[rest] > OUTLIER_FACTOR * p50).sum())
    if outliers:
        notes = [*notes, f"{outliers} of {len(wall)} steps took more than {OUTLIER_FACTOR:.0f} times the median"]
    if len(wall) > 6:
        notes = [*notes, "the typical step excludes the first third of the steps (warm-up) and the slowest 5%"]
    return StepParts(
        id="run-phases",
        title="Every step by phase",
        parts=list(_PARTS),
        steps=steps,
        wall_ns=wall.tolist(),
        parts_ns=parts_ns.tolist(),
        first_is_odd=first_is_odd,
        typical_ns=np.rint(parts_ns[typical].mean(0)).astype(np.int64).tolist() if len(wall) else [0] * len(PHASES),
        p50_ns=round(p50),
        p90_ns=round(p90),
        p99_ns=round(p99),
        notes=notes,
    )


def _percentiles(values: np.ndarray[tuple[int], np.dtype[np.int64]], percents: tuple[int, ...]) -> list[float]:
    """As `np.percentile`, which would import numpy.ma: half of what the end of a short run takes."""
    import numpy as np

    ordered = np.sort(values)
    wanted = [percent / 100 * (len(ordered) - 1) for percent in percents]
    found: list[float] = np.interp(wanted, np.arange(len(ordered)), ordered).tolist()
    return found
