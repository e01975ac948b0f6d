"""Trials in the running training: each change is switched on and off in turn, and the steps of both are timed.

Made when the profile has seen enough and the script would be stopped: nothing that the training still does matters, so
a change may move its random numbers. Nothing is run again, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from stepscope.common import clocks
from stepscope.launch.phase_profile import on_device
from stepscope.launch.trial.switches import LoaderSwitch, Switch, switch_for
from stepscope.profile.advice.tip import Trial
from stepscope.profile.advice.tried import TriedInside
from stepscope.profile.data.trial import settle

GROUPS, MOST_GROUPS, ROUNDS = 4, 8, 2
"""Ratios; as many where they do not agree; and how often each arm is on for one of them."""
MOST_TRIALS = 5
BUDGET_S = 30.0
_OF_ONE_THREAD = frozenset({"set_to_none", "batch-index", "cache", "optimizer", "float32"})
_WINDOW_S, _LEAST_TURNS, _LONGEST_S, _LONGEST_PASS_S = 0.2, 5, 1.5, 3.0


@dataclass(frozen=True)
class Training:
    """The running training, as switches need it."""

    imports: Any
    optimizers: Callable[[], list[Any]]
    loaders: Any
    """The loader of each iterator that has begun."""
    backwards: Callable[[], int]
    is_shared: bool = False
    """Other programs keep this machine busy: the wall time of a turn says more of them than of the training."""


@dataclass
class Candidate:
    """A piece of advice that may be tried, and its result."""

    rule: str
    trial: Trial
    ratios: list[float] = field(default_factory=list)
    turn_ms: list[tuple[float, float]] = field(default_factory=list)
    """Of each ratio: a turn as it is, and with the change."""
    steps: int = 0
    error: str = ""

    def as_fact(self) -> dict[str, Any]:
        fact: dict[str, Any] = {"rule": self.rule, "kind": self.trial.kind, "settings": dict(self.trial.settings)}
        fact["turn_ms"] = [[round(one, 4) for one in pair] for pair in self.turn_ms]
        return {**fact, "ratios": [round(one, 4) for one in self.ratios], "steps": self.steps, "error": self.error}


class LiveTrials:
    """Call `turn` as each turn of the loop begins; True when all is tried. `stop` leaves everything as it was."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        live: Training,
        *,
        clock: Callable[[], float] = clocks.perf_counter,
        budget_s: float = BUDGET_S,
    ) -> None:
        self.candidates = list(candidates)[:MOST_TRIALS]
        self._live, self._clock = live, clock
        self._until = clock() + budget_s
        self._switch: Switch | None = None
        self._plan = self._run()
        self._over = False

    @property
    def tried(self) -> list[Candidate]:
        return [one for one in self.candidates if one.ratios or one.error]

    def turn(self) -> bool:
        if not self._over:
            self._over = next(self._plan, True) is True
        return self._over

    def stop(self) -> None:
        self._over = True
        if self._switch is not None:
            self._switch.close()
            self._switch = None

    # Each `yield` waits for the next turn of the loop.

    def _run(self) -> Generator[bool, None, None]:
        for one in self.candidates:
            if self._clock() > self._until:
                return
            try:
                self._switch = switch_for(one.trial.kind, one.trial.settings, self._live)
                if self._switch is not None:
                    yield from self._try(one, self._switch)
                    self._switch.off()
            except Exception as fault:  # a change that this training cannot take
                one.error = f"{type(fault).__name__}: {fault}".split("\n")[0][:200]
            if self._switch is not None:
                self._switch.close()
                self._switch = None

    def _try(self, one: Candidate, switch: Switch) -> Generator[bool, None, None]:
        of_loader = switch if isinstance(switch, LoaderSwitch) else None
        for _ in range(switch.first):
            yield False
        # Batches of workers come in bursts, and a device works behind the host: there the mean counts. Else quick turns
        # do, which other programs of a busy machine have not held up; or the CPU time, where all is done by one thread.
        by_work = self._is_judged_by_work(one)
        value = mean if of_loader or on_device() or by_work else _quick
        meter = clocks.process_time if by_work else self._clock
        for group in range(1, MOST_GROUPS + 1):
            without, changed = yield from self._arms(switch, meter)
            if of_loader and of_loader.error:
                one.error = of_loader.error
                return
            one.ratios.append(value(without) / value(changed))
            one.turn_ms.append((1e3 * value(without), 1e3 * value(changed)))
            one.steps += len(without) + len(changed)
            is_clear = group >= GROUPS and TriedInside(one.ratios, one.steps).is_clear
            if is_clear or self._clock() > self._until:
                return

    def _is_judged_by_work(self, one: Candidate) -> bool:
        """Whether the CPU time decides: on a busy machine, for changes to what one thread does."""
        is_of_one_thread = one.trial.kind in _OF_ONE_THREAD or "anomaly" in one.trial.settings
        return self._live.is_shared and is_of_one_thread and not on_device()

    def _arms(
        self, switch: Switch, meter: Callable[[], float]
    ) -> Generator[bool, None, tuple[list[float], list[float]]]:
        """The turns of some rounds, without the change and with it; ends as it began, without it."""
        of_a_pass = switch.turns_of_a_pass if isinstance(switch, LoaderSwitch) else 1
        arms: dict[bool, list[float]] = {False: [], True: []}
        was_on = False
        for number in range(ROUNDS):
            for is_on in (False, True) if number % 2 == 0 else (True, False):
                if is_on != was_on:
                    (switch.on if is_on else switch.off)()
                    was_on = is_on
                    for _ in range(switch.warm):
                        yield False
                arms[is_on] += yield from self._window(of_a_pass, meter)
        return arms[False], arms[True]

    def _window(self, of_a_pass: int, meter: Callable[[], float]) -> Generator[bool, None, list[float]]:
        """Time some turns: whole passes, where a pass has more than one."""
        settle()
        began, last = self._clock(), meter()
        turns: list[float] = []
        while True:
            yield False
            now = meter()
            turns.append(now - last)
            last, taken = now, self._clock() - began
            if len(turns) % of_a_pass:
                if taken > _LONGEST_PASS_S:
                    raise ValueError("a pass takes longer than a trial may")
                continue
            if (len(turns) >= _LEAST_TURNS and taken >= _WINDOW_S) or (len(turns) >= 2 and taken >= _LONGEST_S):
                settle()
                turns[-1] += meter() - last
                return turns


def _quick(turns: list[float]) -> float:
    """One that few are quicker than."""
    return sorted(turns)[len(turns) // 5]
