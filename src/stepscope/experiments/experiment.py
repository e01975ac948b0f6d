"""The definition of an experiment: a function that tries something on copies and returns the outcome.

    @experiment("eval-determinism")
    def eval_determinism(trial: Trial) -> Outcome:
        copied = trial.copied()                    # deep copies of the modules: the script's own are not touched
        ...
        return Outcome.passed("two answers, equal to the last bit")

Raise `NotChecked("why")` if it cannot be tried. Its outcome is a record: rules find it in `run.experiments.outcomes`,
and the verdict of `check` shows it. An experiment runs in a forked process if possible, so that the user's own
counters, patches and hooks are unaffected. Otherwise, and with `@experiment("...", apart=False)`, it runs in this
process: nothing is observed, the user's prints are suppressed, and every random number generator is restored afterward.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from stepscope.common.folders import modules_in
from stepscope.common.own_time import own_time
from stepscope.evidence.experiments import Experiments, Outcome
from stepscope.experiments.not_checked import NotChecked
from stepscope.record.observers.undisturbed import undisturbed

if TYPE_CHECKING:
    from stepscope.experiments.copies import Copies
    from stepscope.record.observers.tape import Tape, Tapes
    from stepscope.record.observers.watcher import Watcher

SECONDS = 6.0
"""Time limit of one experiment; it is asked to stop, not killed."""
_PATIENCE = 4.0
"""Extra seconds for a forked experiment, because it can only stop between its steps."""
_NO_BACKWARD = "fork-based multiprocessing"
"""In torch's message where a forked process cannot run backward (a device other than the CPU has been found)."""


class Trial:
    """What an experiment receives."""

    def __init__(self, watcher: Watcher, seconds: float = SECONDS) -> None:
        self.watcher = watcher
        self._until = own_time() + seconds

    @property
    def is_late(self) -> bool:
        return own_time() > self._until

    @property
    def tapes(self) -> list[Tape]:
        """The recorded paths from the model to the losses."""
        observer = _tapes_of(self.watcher)
        if observer is None:
            raise NotChecked("probes were not prepared when the script began")
        if not observer.all:
            raise NotChecked(observer.problem or "no backward() of a loss was seen")
        return observer.all

    @property
    def tape(self) -> Tape:
        """The path to the first loss that the script trained on."""
        return self.tapes[0]

    def copied(self) -> Copies:
        """Deep copies of the modules of the first tape."""
        from stepscope.experiments.copies import Copies

        return Copies(self.tape)


Experiment = Callable[[Trial], Outcome]
_experiments: dict[str, Experiment] = {}
_here: set[str] = set()
"""Experiments that are not run in a fork."""


def experiment(name: str, *, apart: bool = True) -> Callable[[Experiment], Experiment]:
    """Make a function an experiment; `apart`: it runs in a forked process if possible."""

    def register(function: Experiment) -> Experiment:
        _experiments[name] = function
        if not apart:
            _here.add(name)
        return function

    return register


def all_experiments() -> dict[str, Experiment]:
    """Every experiment in the folder."""
    modules_in("stepscope.experiments")
    return dict(sorted(_experiments.items()))


class Experimenter(Experiments):
    """Runs the experiments, each when its outcome is first needed."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self._watcher = watcher

    def run(self) -> dict[str, Outcome]:
        """Run all that have not been run."""
        for name in all_experiments():
            self.outcome(name)
        self.over = True
        return self.outcomes

    def outcome(self, name: str, again: bool = False) -> Outcome:
        """The outcome; `again` retries, because more has been seen, unless it is suspicious."""
        known = self.outcomes.get(name)
        if known is None or (again and known.state != "suspicious"):
            known = self.outcomes[name] = self._made(name)
        return known

    def _made(self, name: str) -> Outcome:
        function = all_experiments().get(name)
        if function is None:
            return Outcome("not checked", f"there is no experiment {name}")
        found = None if name in _here else self._apart(function)
        return self._tried(function) if found is None else found

    def _apart(self, function: Experiment) -> Outcome | None:
        """The outcome in a forked process; None if it must run in this one."""
        from stepscope.record.observers.fork_probe import can_fork, in_a_fork

        if not can_fork():
            return None
        found = in_a_fork(lambda: asdict(self._tried(function)), SECONDS + _PATIENCE)
        if found is None:
            return Outcome("not checked", "a separate process that tried it gave no answer")
        return None if _NO_BACKWARD in found["said"] else Outcome(**found)

    def _tried(self, function: Experiment) -> Outcome:
        try:
            with undisturbed(self._watcher):
                return function(Trial(self._watcher))
        except NotChecked as why:
            return Outcome("not checked", str(why))
        except Exception as fault:  # the user's code may raise anything on altered input: that is an outcome too
            return Outcome("not checked", f"trying it raised {type(fault).__name__}: {_first_line(fault)}")


def _first_line(fault: Exception) -> str:
    lines = str(fault).strip().splitlines()
    return lines[0][:120] if lines else ""


def _tapes_of(watcher: Watcher) -> Tapes | None:
    from stepscope.record.observers.tape import Tapes

    return next((one for one in watcher.observers if isinstance(one, Tapes)), None)
