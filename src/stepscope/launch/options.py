"""What a user can ask of `stepscope run` and `stepscope check`, as one frozen record."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from stepscope.errors import UsageError
from stepscope.profile.collect.budget import Asked
from stepscope.profile.collect.schedule import StepRange


@dataclass(frozen=True)
class Amount:
    """A number of batches, or a share of them.

    >>> Amount.parse("12"), Amount.parse("0.25"), Amount.parse("25%"), Amount.parse("1.0").of(40)
    (Amount(count=12, share=None), Amount(count=None, share=0.25), Amount(count=None, share=0.25), 40)
    """

    count: int | None = None
    share: float | None = None

    @classmethod
    def parse(cls, text: str, option: str = "the limit") -> Amount:
        """From a command line: digits are a count; a decimal point or a percent sign mean a share."""
        try:
            if text.isdecimal():
                return cls(count=int(text))
            share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        except ValueError:
            share = -1.0
        if not 0.0 <= share <= 1.0:
            raise UsageError(f"{option} {text!r} is neither a number of batches (20) nor a fraction (0.25, 25%)")
        return cls(share=share)

    def of(self, total: int | None) -> int | None:
        """How many of `total` batches; None for a share of an unknown number."""
        if self.count is not None:
            return self.count
        if total is None or self.share is None:
            return None
        return total if self.share == 1.0 else max(int(total * self.share), 1 if self.share > 0 else 0)


@dataclass(frozen=True)
class Limits:
    """How much of the script's training to run."""

    fast_dev_run: int | None = None
    """So many batches of each loader and the last one, one epoch, nothing saved."""
    train_batches: Amount | None = None
    val_batches: Amount | None = None
    test_batches: Amount | None = None
    max_steps: int | None = None
    max_epochs: int | None = None
    overfit_batches: int | None = None

    @property
    def any(self) -> bool:
        return any(value is not None for value in vars(self).values())


@dataclass(frozen=True)
class Switches:
    """Ways to run that make faults easier to find."""

    deterministic: bool = False
    eager: bool = False
    no_workers: bool = False
    detect_nan: bool = False


@dataclass(frozen=True)
class Profiling:
    """What is to be profiled, and when."""

    profiler: Literal["auto", "simple", "advanced", "pytorch"] = "auto"
    steps: StepRange | None = None
    """The steps of the window; None: chosen when the training has settled (`stepscope profile`), or none."""
    on: frozenset[str] = frozenset()
    """What else asks for a window: signal, anomaly, button."""
    signal: str = "USR2"
    asked: Asked = field(default_factory=Asked)
    keep_running: bool = False
    ideal: bool = False
    """Hand out the first batches again and again: how fast would it be with free data?"""
    tries: bool = False
    """Try advice in the running training before the script is stopped."""


@dataclass(frozen=True)
class Options:
    """Everything that stands between `stepscope run` and the script's name."""

    limits: Limits = Limits()
    switches: Switches = Switches()
    record: bool = True
    """Keep a run folder."""
    diagnose: bool = True
    check: bool = False
    """A pre-flight: probes on, a verdict at the end."""
    no_save: bool = False
    """What the script writes goes to a temporary folder, as in a check."""
    name: str | None = None
    project: str | None = None
    dir: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    json: Path | None = None
    sarif: Path | None = None
    output: Literal["full", "lines"] = "full"
    """How findings are shown: with their source, or one line each for an editor."""
    strict: bool = False
    quiet: bool = False
    kill_hang: bool = False
    """End the job when its ranks wait for each other."""
    pdb: bool = False
    debugpy: int | None = None
    capsule: bool = True
    capsule_bytes: int = 1 << 30
    profiling: Profiling | None = None
    """Deep windows; every run times its steps by phase without them."""
