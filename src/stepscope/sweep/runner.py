"""The sweep itself: keeps its slots filled, listens to the runs, and can be ended and taken up again at any time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepscope.common.units import listed
from stepscope.errors import ConfigError
from stepscope.runs.format.writer_identity import boot_id, host_name
from stepscope.sweep.live import Live, Verdict
from stepscope.sweep.past import Past
from stepscope.sweep.pausing import pause_of
from stepscope.sweep.process import Process
from stepscope.sweep.pruning import make_pruner
from stepscope.sweep.readings import Reader
from stepscope.sweep.spec import Sweep
from stepscope.sweep.start import command_and_environment
from stepscope.sweep.strategies import Strategy
from stepscope.sweep.tagging import tag_run
from stepscope.sweep.trials import Trial

POLL_S = 0.1
_TOLD = ("finished", "pruned", "diverged", "failed", "timeout")


class Runner:
    """One start of a sweep. `go` returns when all is done, or when it was interrupted.

    `on_change(what, trial)` is called when a run is started, taken over, repeated or over; `on_tick` at every turn.
    """

    def __init__(self, sweep: Sweep, past: Past, strategy: Strategy, store: Path) -> None:
        self.sweep = sweep
        self.store = store
        self.past = past
        self.journal = past.journal
        self.strategy = strategy
        self.trials: dict[int, Trial] = past.history.trials
        self.on_change: Callable[[str, Trial], None] = lambda what, trial: None
        self.on_tick: Callable[[], None] = lambda: None
        self.launch: Callable[[Sequence[str], Mapping[str, str], Path], Process] = Process.start
        self.ending: str | None = None
        """Why no more runs are started."""
        self.interrupts = 0
        self._pruner = None if sweep.metric is None else make_pruner(sweep.early_stop, sweep.metric.goal)
        self._live: dict[int, Live] = {}
        self._again: deque[int] = deque()
        self._next = past.history.next_number
        self._began = time.time()
        self._crashes = 0
        self._works = any(trial.state != "failed" for trial in self.trials.values() if trial.is_over)
        self._exhausted = False

    # -- what there is to know while it goes -----------------------------------------------------------------------

    @property
    def running(self) -> list[Trial]:
        return [self._live[number].trial for number in sorted(self._live)]

    @property
    def best(self) -> Trial | None:
        return best_of(self.sweep, self.trials.values())

    @property
    def total(self) -> int | None:
        return total_of(self.sweep)

    @property
    def spent_s(self) -> float:
        return self.past.history.spent_s + time.time() - self._began

    @property
    def is_paused(self) -> bool:
        """Whether somebody has paused the sweep: what runs is finished, nothing is started."""
        pause = pause_of(self.journal.folder)
        return pause is not None and pause.paused

    def interrupt(self) -> None:
        """Ctrl-C: stop all runs politely; the second and third time less so."""
        self.interrupts += 1

    # -- the loop ----------------------------------------------------------------------------------------------------

    def go(self) -> None:
        self._take_up()
        heard = 0
        while True:
            for live in list(self._live.values()):
                self._look(live)
            while heard < self.interrupts:
                heard += 1
                self._stop_all(at_once=heard > 1)
            if not self.interrupts and not self.is_paused:
                self._fill()
            self._keep_up()
            self.on_tick()
            if not self._live and (self.interrupts or not self._more()):
                return
            time.sleep(POLL_S)

    def _take_up(self) -> None:
        """What an earlier start left: what has ended is reported, what runs is taken over, the rest is run again."""
        for outcome in self.past.outcomes():
            self.strategy.tell(outcome)
        if self._pruner is not None:
            for number, curve in self.past.curves():
                self._pruner.past(number, *curve, was_pruned=self.trials[number].state == "pruned")
        for trial, process in self.past.unfinished():
            self.strategy.taken(trial.number, trial.params)
            if process is not None:
                self._live[trial.number] = self._made_live(trial, process)
                self.on_change("taken over", trial)
            else:
                self._again.append(trial.number)

    def _made_live(self, trial: Trial, process: Process) -> Live:
        folder = self.journal.folder
        return Live(trial, process, Reader(trial.note(folder), self.sweep.metric), trial.output(folder))

    def _more(self) -> bool:
        return bool(self._again) or (self.ending is None and not self._exhausted and not self._is_enough())

    def _is_enough(self) -> bool:
        return self.sweep.runs is not None and self._next >= self.sweep.runs

    def _fill(self) -> None:
        while self.ending is None and len(self._live) < self.sweep.parallel:
            self._consider_ending()
            if self.ending is not None:
                break
            if self._again:
                self._start(self.trials[self._again.popleft()])
            else:
                trial = self._drawn()
                if trial is None:
                    return
                self.trials[trial.number] = trial
                self._start(trial)
        if self.ending is not None:
            self._again.clear()

    def _drawn(self) -> Trial | None:
        """The next setting to try, if there is one now."""
        if self._exhausted or self._is_enough():
            return None
        params = self.strategy.ask(self._next)
        if params is None:
            self._exhausted = True
            return None
        self._next += 1
        return Trial(self._next - 1, params)

    def _keep_up(self) -> None:
        """Called at every turn."""

    def _consider_ending(self) -> None:
        metric, best = self.sweep.metric, self.best
        if self.ending is not None:
            return
        if self.sweep.budget_s is not None and self.spent_s >= self.sweep.budget_s:
            self.ending = f"the budget of {self.sweep.budget_s:g} s is spent"
        elif metric is not None and metric.target is not None and best is not None and best.value is not None:
            if best.value == metric.target or metric.is_better(best.value, metric.target):
                self.ending = f"{metric.name} has reached {metric.target:g}"
        elif not self._works and 0 < self.sweep.give_up_after <= self._crashes:
            self.ending = f"{self._crashes} runs have crashed and none has ended well"

    def _start(self, trial: Trial) -> None:
        trial.attempt += 1
        trial.slot = self._free_slot()
        trial.state, trial.started, trial.ended, trial.reason = "running", time.time(), None, ""
        trial.run, trial.value, trial.step, trial.recent = None, None, None, []
        trial.host, trial.boot_id = host_name(), boot_id()
        folder = self.journal.folder
        command, environment = command_and_environment(self.sweep, trial, self.store, folder)
        # Written first: a sweep that is killed here finds the process by its environment.
        self._note("start", trial, params=trial.params, slot=trial.slot, host=trial.host, boot_id=trial.boot_id)
        try:
            process = self.launch(command, environment, trial.output(folder))
        except ConfigError as fault:  # no such program: counted like a crash
            self._over(self._made_live(trial, Process(0, 0.0)), Verdict("failed", str(fault)), None)
            return
        trial.pid, trial.pid_started = process.pid, process.started
        self._note("process", trial, pid=trial.pid, pid_started=trial.pid_started)
        self._live[trial.number] = self._made_live(trial, process)
        self.on_change("started", trial)

    def _note(self, event: str, trial: Trial, **values: Any) -> None:
        self.journal.write(event, trial=trial.number, attempt=trial.attempt, **values)

    def _free_slot(self) -> int:
        used = {live.trial.slot for live in self._live.values()}
        return next(slot for slot in range(len(used) + 1) if slot not in used)

    def _stop_all(self, *, at_once: bool) -> None:
        for live in self._live.values():
            live.cause = live.cause or Verdict("interrupted", "the sweep was stopped")
            live.process.stop(time.time(), at_once=at_once)

    # -- a run ---------------------------------------------------------------------------------------------------------

    def _look(self, live: Live) -> None:
        over, code = live.process.poll()
        if not over:
            live.look(time.time(), self.sweep, self._pruner)
            return
        live.process.end_rest()
        self._over(live, live.verdict(code), code)

    def _over(self, live: Live, verdict: Verdict, code: int | None) -> None:
        trial = live.trial
        trial.exit_code, trial.ended = code, time.time()
        trial.state, trial.reason = verdict.state, verdict.reason
        self._live.pop(trial.number, None)
        if verdict.state == "failed":
            trial.crashes += 1
            self._crashes += 1
        elif verdict.state != "interrupted":
            self._works = True
        again = self._is_to_be_repeated(verdict, trial)
        if again:
            trial.state = "interrupted"
            self._again.append(trial.number)
        self._finish(live, trial)
        self.on_change("repeated" if again else "over", trial)

    def _is_to_be_repeated(self, verdict: Verdict, trial: Trial) -> bool:
        if self.interrupts:
            return False
        crashed = verdict.state == "failed" and trial.crashes <= self.sweep.retries
        return crashed or verdict.state == "interrupted"

    def _finish(self, live: Live, trial: Trial) -> None:
        metric = self.sweep.metric
        if trial.state == "finished" and metric is not None and trial.value is None:
            trial.reason = _why_no_value(metric.name, live)
        self._note(
            "end",
            trial,
            state=trial.state,
            value=trial.value,
            step=trial.step,
            exit_code=trial.exit_code,
            reason=trial.reason,
            run=trial.run,
            crashes=trial.crashes,
        )
        if self._pruner is not None:
            self._pruner.ended(trial.number, trial.state == "pruned")
        if trial.state in _TOLD:
            steps, values = live.reader.curve()
            self.strategy.tell(self.past.outcome(trial, steps, values))
        if trial.state in ("pruned", "diverged", "timeout") and live.reader.folder is not None:
            tag_run(live.reader.folder, trial.state, trial.reason)


def best_of(sweep: Sweep, trials: Iterable[Trial]) -> Trial | None:
    """The run that ended well with the best value."""
    best: Trial | None = None
    for trial in trials:
        if sweep.metric is None or trial.state != "finished" or trial.value is None or trial.value != trial.value:
            continue
        if best is None or best.value is None or sweep.metric.is_better(trial.value, best.value):
            best = trial
    return best


def total_of(sweep: Sweep) -> int | None:
    """How many runs there will be, where that is known."""
    size = sweep.space.size if sweep.method in ("grid", "random") else None
    limits = [one for one in (sweep.runs, size) if one is not None]
    return min(limits) if limits else None


def _why_no_value(metric: str, live: Live) -> str:
    if live.reader.folder is None:
        return (
            f"no metric {metric!r}: it recorded no run; start it with `stepscope run`, or call stepscope.init() in it"
        )
    names = [name for name in live.reader.folder.metrics() if not name.startswith("system/")]
    return f"no metric {metric!r}; it logged {listed(names) or 'nothing'}"
