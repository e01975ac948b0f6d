"""Everything of Stepscope that lives in the process while a run is open, in one place, so that all of it is removed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.common import clocks
from stepscope.records import End, FaultNote
from stepscope.track.background import Ticker
from stepscope.track.children import close_with_process, close_with_process_after_fork, is_child_process
from stepscope.track.console import ConsoleCapture
from stepscope.track.ending import Ending, EndingHooks
from stepscope.track.environment import slow_facts
from stepscope.track.system import Sampler

if TYPE_CHECKING:
    from stepscope.runs.write.writer import RunWriter
    from stepscope.track.run import Run

RUN_VARIABLE = "STEPSCOPE_RUN"
"""Tells child processes the open run's folder, so that their `log` joins it."""
ATTEMPT_VARIABLE = "STEPSCOPE_ATTEMPT"
CONSOLE_TICK_S = 0.5
FIRST_SAMPLE_S = 0.75
"""When the meters are first read, so that short runs have them too; they are opened at a third of it."""
ENVIRONMENT_WAIT_S = 5.0


@dataclass(frozen=True)
class Options:
    """What a run records besides the values it is given."""

    console: bool = True
    system: bool = True
    system_interval_s: float = 10.0
    git: bool = True
    environment: bool = True
    """Collect the slow facts: only in the process that created the run."""
    beside: bool = False
    """Another run is the process's own: its console, faults and child processes belong to that one."""


class Attendants:
    """Console, meters, hooks and helper threads of one run."""

    def __init__(self, run: Run, writer: RunWriter, path: Path, options: Options) -> None:
        self._run = run
        self._writer = writer
        self._options = options
        self._ticker = Ticker()
        self._console = ConsoleCapture(writer.console, lambda: run.step)
        self._sampler: Sampler | None = None
        self._store = path.parent
        self._hooks = EndingHooks(run._end, self.preempt, self.interrupt, lambda: run.step)
        self._environment: threading.Thread | None = None
        self._old_variables: dict[str, str | None] = {}

    def start(self) -> None:
        if not self._options.beside:
            self._be_the_process()
        self._hooks.install()
        if is_child_process():
            close_with_process(self._run)
        if self._options.environment:
            self._environment = threading.Thread(
                target=fence.fenced("reading the environment")(self._write_environment),
                name="stepscope-environment",
                daemon=True,
            )
            self._environment.start()
        if self._options.console and not self._options.beside:
            self._console.install()
            self._ticker.every(CONSOLE_TICK_S, self._console.tick, "recording the console")
        if self._options.system:
            interval = max(0.1, self._options.system_interval_s)
            first = min(FIRST_SAMPLE_S, interval)
            self._ticker.once(first / 3, self._open_meters, "opening system meters")
            self._ticker.every(interval, self._sample, "reading system meters", first_s=first)
        self._ticker.start()

    def _be_the_process(self) -> None:
        """Record the process's faults, and let child processes find the run."""
        fence.on_fault(self._note_fault)
        for name in (RUN_VARIABLE, ATTEMPT_VARIABLE):
            self._old_variables[name] = os.environ.get(name)
        if self._run.path is not None:
            self._name_to_children(self._run.path)

    def _name_to_children(self, path: Path) -> None:
        os.environ[RUN_VARIABLE] = str(path)
        os.environ[ATTEMPT_VARIABLE] = str(self._run.attempt)

    def arrived(self, path: Path) -> None:
        """The folder of the run is known only now."""
        if self._old_variables:
            self._name_to_children(path)

    def every(self, seconds: float, job: Callable[[], None], name: str) -> None:
        """Add a job for the periodic thread."""
        self._ticker.every(seconds, job, name)
        self._ticker.start()

    def _write_environment(self) -> None:
        self._writer.event(slow_facts(self._options.git))

    def _open_meters(self) -> None:
        sampler = Sampler(self._store)
        sampler.open()
        self._sampler = sampler

    def _sample(self) -> None:
        if self._sampler is None:
            return
        meters = self._sampler.sample()
        self._writer.keyset(tuple(meters)).write(self._run.step, tuple(meters.values()))

    def _note_fault(self, fault: fence.Fault) -> None:
        self._writer.event(
            FaultNote(time=clocks.time(), where=fault.where, error=fault.error, traceback=fault.traceback)
        )

    def preempt(self) -> None:
        """The process is being terminated: write everything to disk now, with the reason.

        The run stays open, because the script's own handler may still save a checkpoint and log it.
        """
        self._run._preempted = True
        self._expect(Ending("preempted"))

    def interrupt(self) -> None:
        """Ctrl-C has come, but the script is stuck in C++: whoever sent it will kill the process, sooner or later.

        The run stays open, because what the script waits for may still come.
        """
        self._expect(Ending("stopped", 130))

    def _expect(self, ending: Ending) -> None:
        self._console.tick()
        self._run.flush_device(2.0)
        self._writer.event(End(time=clocks.time(), **ending._asdict()))
        self._writer.decide()
        self._writer.flush(timeout=3.0)

    def stop(self) -> None:
        """Stop the threads and the console; their data goes to the writer."""
        self._ticker.close()
        if self._environment is not None:
            self._environment.join(timeout=ENVIRONMENT_WAIT_S)
        if self._sampler is not None:
            self._sampler.close()
        self._console.remove()

    def release(self) -> None:
        """Remove hooks, variable and listener."""
        self._hooks.remove()
        for name, value in self._old_variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if not self._options.beside:
            fence.reset()

    def after_fork(self) -> None:
        """In a child: the parent's threads do not exist here; its hooks check the pid and do nothing."""
        self._ticker = Ticker()
        self._environment = None
        self._sampler = None
        self._console.after_fork()
        close_with_process_after_fork(self._run)
