"""What a probe is: a function that tries something out on copies and says what came of it.

    @probe("eval-determinism")
    def eval_determinism(trial: Trial) -> Outcome:
        copied = trial.copied()                    # deep copies of the modules: the script's own are not touched
        ...
        return Outcome.passed("two answers, equal to the last bit")

Raise `NotChecked("why")` where it cannot be tried. Rules of `needs="probe"` ask `run.probes.outcome("...")`, and the
verdict of `check` shows it. A probe runs in a forked process where that is possible, so that the user's own counters,
patches and hooks do not notice. Elsewhere, and with `@probe("...", apart=False)`, it runs here: nothing is witnessed,
the user's prints are held back, and every random number generator is put back after it.
"""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from stepscope import fence
from stepscope.record.watch.undisturbed import undisturbed

if TYPE_CHECKING:
    from stepscope.diagnose.probes.copies import Copies
    from stepscope.record.watch.tape import Tape, Tapes
    from stepscope.record.watch.watcher import Watcher

__all__ = ["NotChecked", "Outcome", "Probes", "Trial", "all_probes", "probe"]

SECONDS = 6.0
"""The most one probe may take; it is asked to stop, not killed."""
_PATIENCE = 4.0
"""Seconds more that a forked probe may take, because it is asked to stop only between its steps."""
_NO_BACKWARD = "fork-based multiprocessing"
"""In torch's message where a forked process cannot run backward (a device other than the CPU has been found)."""
MOST_OUTPUT = 1 << 20

State = Literal["passed", "suspicious", "not checked"]


@dataclass(frozen=True)
class Outcome:
    """What came of a probe."""

    state: State
    said: str
    """A few words with the numbers: "2.31 -> 0.04 in 40 steps"."""
    facts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def passed(cls, said: str, **facts: Any) -> Outcome:
        return cls("passed", said, facts)

    @classmethod
    def suspicious(cls, said: str, **facts: Any) -> Outcome:
        return cls("suspicious", said, facts)


class NotChecked(Exception):
    """Why a probe cannot be made."""


class Trial:
    """What a probe works with."""

    def __init__(self, watcher: Watcher, seconds: float = SECONDS) -> None:
        self.watcher = watcher
        self._until = time.monotonic() + seconds

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self._until

    @property
    def tapes(self) -> list[Tape]:
        """The ways from the model to the losses, as far as they were seen."""
        witness = _tapes_of(self.watcher)
        if witness is None:
            raise NotChecked("probes were not prepared when the script began")
        if not witness.all:
            raise NotChecked(witness.problem or "no backward() of a loss was seen")
        return witness.all

    @property
    def tape(self) -> Tape:
        """The way to the first loss that the script trained on."""
        return self.tapes[0]

    def copied(self) -> Copies:
        """The modules of the first tape, copied deeply."""
        from stepscope.diagnose.probes.copies import Copies

        return Copies(self.tape)


Probe = Callable[[Trial], Outcome]
_probes: dict[str, Probe] = {}
_here: set[str] = set()
"""Probes that are not run in a fork."""


def probe(name: str, *, apart: bool = True) -> Callable[[Probe], Probe]:
    """Make a function a probe; `apart`: it runs in a forked process where that is possible."""

    def register(function: Probe) -> Probe:
        _probes[name] = function
        if not apart:
            _here.add(name)
        return function

    return register


def all_probes() -> dict[str, Probe]:
    """Every probe of the folder."""
    import stepscope.diagnose.probes as folder

    for found in pkgutil.iter_modules(folder.__path__, folder.__name__ + "."):
        fence.fenced(f"loading the probe {found.name.rpartition('.')[2]}")(importlib.import_module)(found.name)
    return dict(sorted(_probes.items()))


class Probes:
    """`run.probes`: the outcomes, each found when it is first asked for."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self.outcomes: dict[str, Outcome] = {}
        self.over = False
        """No more are made: what has no outcome by now is not checked."""

    @property
    def prepared(self) -> bool:
        """Whether this run is one that is probed."""
        return _tapes_of(self._watcher) is not None

    def run(self) -> dict[str, Outcome]:
        """Make all that have not been made."""
        for name in all_probes():
            self.outcome(name)
        self.over = True
        return self.outcomes

    def outcome(self, name: str, again: bool = False) -> Outcome:
        """What came of this probe; `again` tries once more, because more has been seen, unless it is suspicious."""
        known = self.outcomes.get(name)
        if known is None or (again and known.state != "suspicious"):
            known = self.outcomes[name] = self._made(name)
        return known

    def _made(self, name: str) -> Outcome:
        function = all_probes().get(name)
        if function is None:
            return Outcome("not checked", f"there is no probe {name}")
        found = None if name in _here else self._apart(function)
        return self._tried(function) if found is None else found

    def _apart(self, function: Probe) -> Outcome | None:
        """What comes of it in a forked process; None where it has to be tried in this one."""
        from stepscope.record.watch.forked import can_fork, in_a_fork

        if not can_fork():
            return None
        found = in_a_fork(lambda: asdict(self._tried(function)), SECONDS + _PATIENCE)
        if found is None:
            return Outcome("not checked", "a separate process that tried it gave no answer")
        return None if _NO_BACKWARD in found["said"] else Outcome(**found)

    def _tried(self, function: Probe) -> Outcome:
        try:
            with undisturbed(self._watcher):
                return function(Trial(self._watcher))
        except NotChecked as why:
            return Outcome("not checked", str(why))
        except Exception as fault:  # the user's own code on altered input may raise anything: that is an answer too
            return Outcome("not checked", f"trying it raised {type(fault).__name__}: {_first_line(fault)}")


def _first_line(fault: Exception) -> str:
    lines = str(fault).strip().splitlines()
    return lines[0][:120] if lines else ""


def _tapes_of(watcher: Watcher) -> Tapes | None:
    from stepscope.record.watch.tape import Tapes

    return next((one for one in watcher.witnesses if isinstance(one, Tapes)), None)
