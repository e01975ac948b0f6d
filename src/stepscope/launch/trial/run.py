"""`python -m stepscope.launch.trial.run ORDER`: one run of a trial, in a process of its own.

ORDER is JSON: the script, the change (see changes.py), how many steps to time after how many of warm-up, the longest it
may take, and the file for the answer. Nothing the script saves is written; its steps end with the last one timed.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import pairwise
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stepscope.events import Installed, subscribe
from stepscope.events.imports import Imports
from stepscope.launch.dry_run_saves import NothingSaved
from stepscope.launch.limits import is_stop
from stepscope.launch.script import end_stacks_at_script, find_module, find_script, run_as_main
from stepscope.launch.trial.changes import apply_change
from stepscope.profile.collect.facts_process import graphs_made

if TYPE_CHECKING:
    from torch.optim import Optimizer

_AFTER_COMPILING = 8
"""Steps after the last compilation that still record graphs of a device or choose kernels."""


class Timed:
    """The clock at each optimizer step; ends the script when there are enough."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._warm_up, self._steps = int(order["warm_up"]), int(order["steps"])
        self._for_ns = int(float(order["seconds"]) * 1e9)
        self._until = 0
        self.marks: list[tuple[int, int]] = []
        self._seen = 0
        self._graphs: int | None = None
        self._compiled_at = 0

    def install(self, torch: ModuleType, installed: Installed) -> None:
        self._torch = torch
        installed.add(subscribe("timing a trial", order=90, step_ends=self._stepped).remove)

    def _stepped(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._seen += 1
        if not self.marks and not self._is_warm():
            return
        late = perf_counter_ns() > self._until
        done = len(self.marks) >= self._steps or (late and len(self.marks) > 1)
        if not self.marks or done:
            self._wait()
        self.marks.append((perf_counter_ns(), process_time_ns()))
        if done:
            stop = SystemExit(0)
            stop._stepscope_reason = "the trial has its steps"  # type: ignore[attr-defined]
            raise stop

    def _is_warm(self) -> bool:
        """Whether the steps from now on are like all later ones: nothing was compiled in the last few."""
        now, graphs = perf_counter_ns(), graphs_made()
        if self._seen == 1:  # imports and the first step, which may compile, are not part of the time that is given
            self._until = now + self._for_ns
        if graphs != self._graphs:
            self._graphs, self._compiled_at = graphs, self._seen
            self._until = max(self._until, now + self._for_ns // 2)
        calm = not self._graphs or self._seen - self._compiled_at >= _AFTER_COMPILING
        return calm and (self._seen >= self._warm_up or now > self._until - self._for_ns // 2)

    def _wait(self) -> None:
        """At both ends of the timed steps the device has done all it was given."""
        if self._torch.cuda.is_initialized():
            self._torch.cuda.synchronize()

    @property
    def answer(self) -> dict[str, Any]:
        steps = max(0, len(self.marks) - 1)
        wall, cpu = (self.marks[-1][at] - self.marks[0][at] if steps else 0 for at in (0, 1))
        walls = sorted(after[0] - before[0] for before, after in pairwise(self.marks))
        quick = walls[len(walls) // 5] if walls else 0
        return {"steps": steps, "ns": wall, "cpu_ns": cpu, "quick_ns": quick, "seen": self._seen}


def main(text: str) -> int:
    order: dict[str, Any] = json.loads(text)
    imports, installed = Imports(), Installed()
    imports.install()
    saved = NothingSaved(imports, lambda said: None)
    timed = Timed(order)
    imports.when("torch", lambda torch: timed.install(torch, installed))
    notes = apply_change(order.get("change"), imports, installed)
    end_stacks_at_script(installed)
    error = ""
    make = find_module if order["is_module"] else find_script
    try:
        run_as_main(make(order["script"], order["args"]))
    except BaseException as fault:
        if not is_stop(fault) and not (isinstance(fault, SystemExit) and fault.code in (None, 0)):
            error = f"{type(fault).__name__}: {fault}"[:500]
    installed.remove()
    imports.remove()
    saved.remove()
    Path(order["answer"]).write_text(json.dumps({**timed.answer, "error": error, "notes": notes}))
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1])
    sys.stdout.flush()
    os._exit(code)  # the answer is written; workers and threads of the script need not end by themselves
