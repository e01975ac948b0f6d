"""Reads the clocks inside the measured script, rarely, and counts the Python calls of Stepscope in its last steps."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["WHOLE_RUNS", "Clock"]

WHOLE_RUNS = (200, 500, 1_000, 10_000)


class Clock:
    """`if not clock.tick(): return` before each step; between two readings that is an addition and a comparison."""

    def __init__(self, wait: Callable[[], None] = lambda: None) -> None:
        order = json.loads(os.environ["BENCH_ORDER"])
        self.steps: int = order["steps"]
        self._seconds: float = order["seconds"]
        self._block: int = order["block"]
        self._counted: int = order["counted"]
        self._out = Path(order["out"])
        self._wait = wait
        """Waits for the device, so that all work given to it is within the time."""
        self.late: list[tuple[str, int, Callable[[], None], Callable[[], Any]]] = []
        """What else to count after the timed steps: name, steps, begin, end."""
        self.marks: list[tuple[int, float, float, int]] = []
        self.found: dict[str, Any] = {}
        self._done, self._next = -1, 0
        self._course = self._readings()

    def tick(self) -> bool:
        self._done += 1
        if self._done < self._next:
            return True
        self._next = next(self._course, -1)
        return self._next > 0

    def _readings(self) -> Iterator[int]:
        """The steps at which to stop for a moment."""
        self._mark()
        for step in self._until_time_is_up() if self._seconds else self._until_all_are_done():
            yield step
            self._mark()
        self.steps = self._done
        calls = Calls()
        late = [("calls", self._counted, calls.begin, calls.end), *self.late]
        for name, steps, begin, end in late:
            if steps:
                begin()
                yield self._done + steps
                self.found[name] = {"steps": steps, **end()}

    def _until_all_are_done(self) -> list[int]:
        every = {1, 100, *WHOLE_RUNS, self.steps // 2, self.steps}
        every |= set(range(self._block, self.steps, self._block))
        return sorted(step for step in every if 0 < step <= self.steps)

    def _until_time_is_up(self) -> Iterator[int]:
        yield 1
        block = self._block
        while self.marks[-1][2] - self.marks[0][2] < self._seconds or len(self.marks) < 12:
            yield block
            block += self._block

    def _mark(self) -> None:
        self._wait()
        pages = int(Path("/proc/self/statm").read_text().split()[1]) if sys.platform == "linux" else 0
        self.marks.append((self._done, time.process_time(), time.perf_counter(), pages * resource.getpagesize()))

    def write(self, **facts: Any) -> None:
        """Hand the readings to the bench; what follows is the end of the run."""
        after = {"end_cpu": time.process_time(), "end_wall": time.perf_counter()}
        self._out.write_text(json.dumps({"steps": self.steps, "marks": self.marks, **after, **self.found, **facts}))


class Calls:
    """Counts calls of functions defined in Stepscope, and the calls into C that they make. 0 without Stepscope."""

    def begin(self) -> None:
        package = sys.modules.get("stepscope")
        home = str(Path(package.__file__).parent) + os.sep if package and package.__file__ else "\0"
        self.python: Counter[tuple[str, str]] = Counter()
        self.builtin: Counter[str] = Counter()

        def count(frame: Any, event: str, argument: Any) -> None:
            code = frame.f_code
            if not code.co_filename.startswith(home):
                return
            if event == "call":
                self.python[code.co_filename[len(home) :], code.co_name] += 1
            elif event == "c_call":
                self.builtin[getattr(argument, "__qualname__", "?")] += 1

        sys.setprofile(count)

    def end(self) -> dict[str, Any]:
        sys.setprofile(None)
        most = [[f"{file}:{name}", count] for (file, name), count in self.python.most_common(40)]
        return {"python": self.python.total(), "builtin": self.builtin.total(), "most": most}
