"""The advice of a profile, tried before its script is stopped: what was seen so far says what to try."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.launch.phase_profile import on_device
from stepscope.launch.trial.live import Candidate, LiveTrials
from stepscope.profile.collect.calibration import calibrated
from stepscope.profile.profile import Profile

if TYPE_CHECKING:
    from stepscope.launch.profiling.session import Measured
    from stepscope.profile.trace.trace import Trace
    from stepscope.records.profile import StepParts

_BUSY = 0.3
"""Processors that other programs use, from which on they are noticed."""


class Trials:
    """Made when the profile has seen enough. Facts are those of that moment: later ones are of the trials."""

    def __init__(self, measured: Measured) -> None:
        self._facts = measured.facts.result()
        machine = fence.fenced("measuring what this machine can do")(calibrated)(sys.modules["torch"])
        if machine:
            self._facts["machine"] = machine
        found = fence.fenced("choosing what to try")(_candidates)(measured, self._facts)
        cpu = self._facts.get("cpu", {})
        is_shared = cpu.get("others", 0.0) >= _BUSY and cpu.get("threads") == 1
        self._live = LiveTrials(found or [], replace(measured.training(), is_shared=is_shared))

    def turn(self) -> bool:
        """One turn of the training loop; True when all is tried. An internal error ends the trials."""
        over = fence.fenced("trying advice")(self._live.turn)()
        return over is not False

    def end(self) -> dict[str, Any]:
        """The facts, with what the trials gave."""
        fence.fenced("ending the trials")(self._live.stop)()
        return {**self._facts, "trials": [one.as_fact() for one in self._live.tried]}


class _SoFar:
    """A profile as advice reads it, of what has been seen until now."""

    ranks = (0,)

    def __init__(self, measured: Measured, facts: dict[str, Any]) -> None:
        self._parts = measured.loop.iterations.phases.result(on_device=on_device())
        self._facts = facts
        self._trace: Trace | None = None
        if on_device() and measured.deep is not None and measured.deep.saved:
            measured.deep.wait()
            self._trace = Profile.load(measured.deep.saved[0].folder).trace(0)

    def phases(self, rank: int = 0) -> StepParts:
        return self._parts

    def facts(self, rank: int = 0) -> dict[str, Any]:
        return self._facts

    def trace(self, rank: int = 0) -> Trace | None:
        return self._trace


def _candidates(measured: Measured, facts: dict[str, Any]) -> list[Candidate]:
    from stepscope.profile.advice.engine import advise
    from stepscope.profile.advice.measured import Measured as Advised

    run = Advised(_SoFar(measured, facts))  # type: ignore[arg-type]
    found = [(one.finding.rule, one.tip.trial) for one in advise(run)]
    return [Candidate(rule, trial) for rule, trial in found if trial is not None]
