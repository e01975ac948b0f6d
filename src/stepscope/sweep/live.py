"""One run of a sweep while it goes: its process, its readings, and whether it should be stopped."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from stepscope.files.opening import open_file, plain_size, read_window
from stepscope.plain_text import clean
from stepscope.sweep.divergence import diverged
from stepscope.sweep.process import Process
from stepscope.sweep.pruning import Pruner
from stepscope.sweep.readings import Reader, few_of, is_loss
from stepscope.sweep.spec import Sweep
from stepscope.sweep.trials import State, Trial

LOOK_S = 0.5
"""Between two looks into a run folder."""
_TAIL = 64 << 10


@dataclass(frozen=True)
class Verdict:
    """How a run is to be counted, and why."""

    state: State
    reason: str = ""


@dataclass
class Live:
    """A trial that has a process."""

    trial: Trial
    process: Process
    reader: Reader
    output: Path
    cause: Verdict | None = None
    """Why we stop it, once we do."""
    looked: float = field(default=0.0)

    def look(self, now: float, sweep: Sweep, pruner: Pruner | None) -> None:
        """Take in what is new, and stop the run if that is called for."""
        self.process.tick(now)
        if now - self.looked < LOOK_S:
            return
        self.looked = now
        self.read()
        if self.cause is None:
            self.cause = self._why_stop(now, sweep, pruner)
            if self.cause is not None:
                self.process.stop(now)

    def read(self) -> None:
        """Bring the trial up to date with its run folder."""
        reader, trial = self.reader, self.trial
        reader.refresh()
        steps, values = reader.curve()
        trial.run = None if reader.folder is None else str(reader.folder.path)
        trial.value = reader.value()
        trial.step = int(steps[-1]) if len(steps) else None
        trial.recent = few_of(values)

    def _why_stop(self, now: float, sweep: Sweep, pruner: Pruner | None) -> Verdict | None:
        how = sweep.early_stop
        if sweep.timeout_s is not None and now - self.trial.started > sweep.timeout_s:
            return Verdict("timeout", f"longer than {sweep.timeout_s:g} s")
        own = None if sweep.metric is None else sweep.metric.name
        for name, values in self.reader.losses().items():
            falls = is_loss(name) or (sweep.metric is not None and sweep.metric.goal == "min")
            once = name == own and not is_loss(name)
            why = diverged(values, how.diverged, how.explodes, falls=falls, must_have_been=once)
            if why is not None:
                return Verdict("diverged", f"{name} {why}")
        if pruner is not None:
            why = pruner.seen(self.trial.number, *self.reader.curve())
            if why is not None:
                return Verdict("pruned", why)
        return None

    def verdict(self, code: int | None) -> Verdict:
        """The process is over: what that means."""
        self.read()
        if self.cause is not None:
            return self.cause
        standing = None if self.reader.folder is None else self.reader.folder.standing
        if code is None:  # not our child: only its folder can tell
            if standing is None or standing.status not in ("finished", "failed"):
                return Verdict("interrupted", "its process is gone")
            code = 0 if standing.status == "finished" else standing.exit_code or 1
        if code == 0:
            return Verdict("finished")
        error = standing.error.strip().splitlines() if standing is not None and standing.error else []
        said = error[-1] if error else last_line(self.output)
        return Verdict("failed", f"{_code(code)}: {said}" if said else _code(code))


def _code(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    import signal

    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def last_line(path: Path) -> str:
    """The last thing a run printed."""
    try:
        with open_file(path) as stream:
            data = read_window(stream, max((plain_size(path) or 0) - _TAIL, 0), _TAIL)
    except OSError:
        return ""
    lines = data.decode("utf-8", "replace").replace("\r", "\n").splitlines()
    return next((clean(line.strip())[:300] for line in reversed(lines) if line.strip()), "")
