"""Advice that can be tried is tried: the script runs again with one thing changed, beside runs as it is.

Every round runs the script as it is and then once for each change, each in a process of its own, so that a machine
that gets slower or faster meanwhile does so for all. The gain is the median of the rounds' ratios; how far those lie
apart is the noise. Nothing the script would save with torch.save and its kin is written.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from stepscope.diagnose.settings import Settings
from stepscope.files.opening import read_file
from stepscope.profile.advice.engine import in_words
from stepscope.profile.advice.verdict import Verdict, verdict
from stepscope.profile.profile import Profile
from stepscope.records import Finding

ROUNDS = 3
STEPS, WARM_UP = 60, 12
SECONDS = 25.0
TOO_NOISY = 0.3
_CHILD = "stepscope.launch.trial.run"
_LARGEST_ANSWER = 64 << 20


class Runnable(Protocol):
    """A script as the launcher knows it."""

    @property
    def path(self) -> str: ...

    @property
    def argv(self) -> tuple[str, ...]: ...

    @property
    def spec(self) -> Any: ...


@dataclass
class Tried:
    """One change and what it gave."""

    title: str
    change: dict[str, Any]
    runs_ns: list[float] = field(default_factory=list)
    """A step's time, one a run."""
    plain_ns: list[float] = field(default_factory=list)
    steps: int = 0
    error: str = ""

    @property
    def gain(self) -> float | None:
        """3.1: a step takes a 3.1th of the time. None when a run failed."""
        return statistics.median(self._ratios) if self._ratios else None

    @property
    def _ratios(self) -> list[float]:
        """One a round: the run as it is came just before, on a machine that was as busy."""
        return [plain / changed for plain, changed in zip(self.plain_ns, self.runs_ns, strict=True)]

    @property
    def noise(self) -> float:
        """How far the rounds' ratios lie from the gain, as a share of it: half of their range."""
        ratios = self._ratios
        return (max(ratios) - min(ratios)) / 2 / statistics.median(ratios) if ratios else 0.0

    @property
    def contradicts(self) -> bool:
        """Whether the runs say that the change gains nothing."""
        return self.gain is not None and self.noise <= TOO_NOISY and self.gain * (1 + self.noise) < 1.02

    def in_words(self) -> str:
        gain = self.gain
        if gain is None:
            return f"could not be tried: {self.error or 'no step was timed'}"
        before, after = statistics.median(self.plain_ns), statistics.median(self.runs_ns)
        noise = f"noise {self.noise:.0%}" if len(self.runs_ns) > 1 else "one run each, so the noise is not known"
        figures = f"{in_words(before)} -> {in_words(after)} a step, {noise}"
        if self.noise > TOO_NOISY:
            return f"the machine is too busy to tell: {gain:.1f}x ({figures})"
        low, high = gain * (1 - self.noise), gain * (1 + self.noise)
        if low < 1.02 and high > 0.98:
            return f"no gain beyond the noise: {gain:.2f}x ({figures})"
        word = "slower" if gain < 1 else "faster"
        return (
            f"{gain:.1f}x, measured on {self.steps} steps ({figures})"
            if gain > 1
            else f"{gain:.2f}x: {word} ({figures})"
        )


def try_advice(
    profile: Profile,
    script: Runnable,
    *,
    settings: Settings | None = None,
    say: Callable[[str], None] | None = None,
    rounds: int = ROUNDS,
) -> list[Finding]:
    """Try every piece of advice of a profile that can be; its findings, with what was measured in their evidence."""
    say = _print if say is None else say
    found = verdict(profile, settings=settings)
    chosen = [(number, one) for number, one in enumerate(found.advised) if one.tip.trial is not None]
    if not chosen:
        say("none of the advice can be tried without a change of the script")
        return found.findings
    say(f"trying {len(chosen)} of {len(found.findings)}: {rounds} runs of {STEPS} steps each; nothing is saved")
    changes = [(_title(found, number), _change(one.tip.trial, one.tip.where)) for number, one in chosen]
    tried = try_changes(script, changes, rounds=rounds)
    findings = list(found.findings)
    width = max(len(one.title) for one in tried)
    for (number, _), one in zip(chosen, tried, strict=True):
        say(f"{number + 1:3}  {one.title.ljust(width)}  {one.in_words()}")
        if one.gain is not None and one.noise <= TOO_NOISY:
            measured = {"gain": round(one.gain, 3), "noise": round(one.noise, 3), "steps": one.steps}
            found_range = [round(one.gain * (1 - one.noise), 3), round(one.gain * (1 + one.noise), 3)]
            basis = {"basis": "measured", "measured": measured, "gain_range": found_range}
            findings[number] = replace(findings[number], evidence={**findings[number].evidence, **basis})
    contradicted = [number for (number, _), one in zip(chosen, tried, strict=True) if one.contradicts]
    for number in contradicted:
        say(f"{number + 1:3}  withdrawn: it gains nothing here")
    return [one for number, one in enumerate(findings) if number not in contradicted]


def try_changes(
    script: Runnable,
    changes: Sequence[tuple[str, dict[str, Any]]],
    *,
    rounds: int = ROUNDS,
    steps: int = STEPS,
    warm_up: int = WARM_UP,
    seconds: float = SECONDS,
) -> list[Tried]:
    """Run the script as it is and with each change, in turn, `rounds` times."""
    tried = [Tried(title, change) for title, change in changes]
    for _ in range(rounds):
        plain = time_steps(script, None, steps, warm_up, seconds)
        for one in tried:
            answer = time_steps(script, one.change, steps, warm_up, seconds)
            if answer["steps"] and not answer["error"] and plain["steps"]:
                one.runs_ns.append(answer["ns"] / answer["steps"])
                one.plain_ns.append(plain["ns"] / plain["steps"])
                one.steps += int(answer["steps"])
            else:
                one.error = str(answer["error"] or plain["error"])
    return tried


def time_steps(
    script: Runnable,
    change: dict[str, Any] | None = None,
    steps: int = STEPS,
    warm_up: int = WARM_UP,
    seconds: float = SECONDS,
) -> dict[str, Any]:
    """One run in a process of its own: `steps`, their `ns` and `cpu_ns`, or an `error`."""
    with tempfile.TemporaryDirectory(prefix="stepscope-trial-") as folder:
        answer = Path(folder) / "answer.json"
        order = {
            "script": script.path if script.spec is None else script.spec.name.removesuffix(".__main__"),
            "is_module": script.spec is not None,
            "args": list(script.argv[1:]),
            "change": change,
            "steps": steps,
            "warm_up": warm_up,
            "seconds": seconds,
            "answer": str(answer),
        }
        environment = {**os.environ, "STEPSCOPE_MODE": "off"}
        try:
            ended = subprocess.run(
                [sys.executable, "-m", _CHILD, json.dumps(order)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
                timeout=seconds * 4 + 120,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"steps": 0, "ns": 0, "error": "it did not reach its steps in time"}
        if not answer.exists():
            last = (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1]
            return {"steps": 0, "ns": 0, "error": last[:300]}
        found: dict[str, Any] = json.loads(read_file(answer, _LARGEST_ANSWER, within=answer.parent))
        return found


def _change(trial: Any, where: tuple[str, int] | None) -> dict[str, Any]:
    settings = dict(trial.settings)
    if trial.kind == "loader" and where is not None:
        settings["where"] = list(where)
    return {"kind": trial.kind, "settings": settings}


def _title(found: Verdict, number: int) -> str:
    finding = found.findings[number]
    place = f"{os.path.basename(finding.file)}:{finding.line}  " if finding.file else ""
    return place + finding.fix.split(" (")[0]


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
