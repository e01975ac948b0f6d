"""Whether a step stays within its time and memory budget: measured, compared, reported."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from stepscope.common.units import bytes_text, time_text
from stepscope.testing.baseline import NAME, Measured, known
from stepscope.testing.measure import peak_bytes, reference_ms, timed
from stepscope.testing.report_properties import MEASURED, NOTED

if TYPE_CHECKING:
    from stepscope.testing.marker import Wishes

_MEMORY_TOLERANCE, _MEMORY_SLACK = 0.1, 1 << 16


@dataclass
class Budget:
    """The budget of one test."""

    item: pytest.Item
    wishes: Wishes
    measured: Measured | None = None
    notes: list[str] = field(default_factory=list)
    _base: dict[str, Any] | None = None
    _busy: float = 1.0
    """The slowdown of a fixed computation since the baseline was made; at least 1."""

    @property
    def file(self) -> Path:
        config = self.item.config
        asked = config.getoption("stepscope_baseline")
        if asked:
            return Path(config.invocation_params.dir, asked).absolute()
        named = config.getini("stepscope_baseline")
        if named:
            return Path(config.inipath.parent if config.inipath else config.rootpath, named).absolute()
        return self.item.path.parent / NAME

    @property
    def test(self) -> str:
        """The test's name in the file: relative to its folder, so that both can be moved together."""
        tail = self.item.nodeid.partition("::")[2]
        return f"{os.path.relpath(self.item.path, self.file.parent).replace(os.sep, '/')}::{tail}"

    @property
    def renews(self) -> bool:
        return bool(self.item.config.getoption("stepscope_update_baseline"))

    def measure(self, step: Callable[[], Any]) -> None:
        """Call the step until its cost is known."""
        wishes = self.wishes
        machine = machine_now()
        if wishes.baseline and not self.renews:
            self._base, why = known(self.file, self.test, machine)
            if self._base is None:
                self.notes.append(why)
        before = reference_ms()
        ms = timed(step, wishes.repeats, self._is_fine(before))
        reference = min(before, reference_ms()) if self.renews else max(before, reference_ms())
        peak = peak_bytes(step)
        self._busy = self._load(reference)
        taken = [round(one, 4) for one in ms]
        self.measured = Measured(str(self.file), self.test, machine, taken, round(reference, 4), peak)

    def properties(self) -> list[tuple[str, str]]:
        """The result for the process that ends the session."""
        found = [(NOTED, note) for note in self.notes]
        if self.wishes.baseline and self.renews and self.measured is not None:
            found.append((MEASURED, json.dumps(asdict(self.measured))))
        return found

    def _load(self, reference: float) -> float:
        then = float((self._base or {}).get("reference_ms") or 0)
        return max(1.0, reference / then) if then else 1.0

    def _limit_ms(self, busy: float) -> float | None:
        if self._base is None:
            return None
        return float(median(self._base["ms"])) * (1 + self.wishes.tolerance) * busy

    def _is_fine(self, reference: float) -> Callable[[float], bool]:
        limits = [one for one in (self._limit_ms(self._load(reference)), self.wishes.max_ms) if one is not None]
        return lambda ms: all(ms <= limit for limit in limits)

    # -- the verdict ------------------------------------------------------------------------------------------------

    def complaints(self) -> list[str]:
        """What exceeds the budget, one paragraph each; empty if nothing does."""
        if not self.wishes.has_budget:
            return []
        if self.measured is None:
            return [_NOT_MEASURED]
        found = [*self._of_time(median(self.measured.ms)), *self._of_memory(self.measured.peak_bytes)]
        return [text for text in found if text]

    def _of_time(self, now: float) -> list[str]:
        found = []
        if self.wishes.max_ms is not None and now > self.wishes.max_ms:
            most = time_text(self.wishes.max_ms / 1e3)
            found.append(_told("time", f"a step takes {time_text(now / 1e3)}; at most {most} is allowed (max_ms)"))
        limit = self._limit_ms(self._busy)
        if limit is not None and self._base is not None and now > limit:
            then = float(median(self._base["ms"]))
            words = (
                f"a step takes {time_text(now / 1e3)}; its baseline is {time_text(then / 1e3)} ({_percent(now, then)})"
            )
            found.append(_told("time", words, *self._spread(then), self._way_out()))
        return found

    def _spread(self, then: float) -> list[str]:
        assert self._base is not None
        assert self.measured is not None
        lines = [
            f"then  {_range(self._base['ms'])}  {self._base.get('made', '')}".rstrip(),
            f"now   {_range(self.measured.ms)}  the best of three rounds",
            f"allowed are {self.wishes.tolerance:.0%} more (tolerance)",
        ]
        if self._busy > 1.05:
            lines.append(f"and {self._busy:.2f} times that: the machine is that much slower than it was then")
        return lines

    def _of_memory(self, now: int) -> list[str]:
        found = []
        most = self.wishes.max_bytes
        if most is not None and now > most:
            words = f"a step takes {bytes_text(now)} at its peak; at most {bytes_text(most)} is allowed (max_memory)"
            found.append(_told("memory", words))
        then = int((self._base or {}).get("peak_bytes") or 0)
        if self._base is not None and now > then * (1 + _MEMORY_TOLERANCE) + _MEMORY_SLACK:
            words = f"a step takes {bytes_text(now)} at its peak; its baseline is {bytes_text(then)}"
            found.append(_told("memory", f"{words} ({_percent(now, then)})", self._way_out()))
        return found

    def _way_out(self) -> str:
        return f"= if this is intended: pytest --stepscope-update-baseline '{self.item.nodeid}'"


_NOT_MEASURED = """\
budget: nothing was measured
  a budget (max_ms, max_memory, baseline) is about one step; give it to the fixture:
      def test_step(training_step):
          training_step(step)"""


def machine_now() -> dict[str, Any]:
    """What times depend on: equal on the same machine, different on another."""
    import platform

    import torch

    from stepscope.track.environment import cpu_name

    device = "cpu"
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        device = torch.cuda.get_device_name()
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "device": device,
        "threads": torch.get_num_threads(),
    }


def _told(kind: str, first: str, *lines: str) -> str:
    return "\n".join([f"{kind}: {first}", *(f"  {line}" for line in lines)])


def _range(values: list[float]) -> str:
    low, middle, high = (time_text(value / 1e3) for value in (min(values), float(median(values)), max(values)))
    return f"{middle} (of {len(values)} calls, {low} to {high})"


def _percent(now: float, then: float) -> str:
    return f"+{now / then - 1:.0%}" if then else "more than nothing"
