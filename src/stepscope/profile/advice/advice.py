"""What a piece of advice is: a function of what was measured that yields tips, each with its share and its saving."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from stepscope.common.folders import modules_in
from stepscope.records import Severity

if TYPE_CHECKING:
    from stepscope.profile.advice.measured import Measured

__all__ = ["Advice", "Device", "Tip", "Trial", "advice", "all_advice"]

Device = Literal["any", "gpu", "cuda", "cpu"]


@dataclass(frozen=True)
class Trial:
    """How a tip can be tried without touching the script: what `stepscope profile --try` does for it."""

    kind: str
    """loader: other DataLoader settings · flag: a torch switch · compile · amp · channels_last · optimizer · ideal"""
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Tip:
    """One thing to change."""

    where: tuple[str, int] | None
    """(file, line) of the user's own source, where one is known."""
    message: str
    """DataLoader runs in the main process while training waits for it"""
    fix: str
    share: float
    """The part of the step that this is about, 0 to 1: measured."""
    saving_ns: int
    """What a step would take less, estimated; never more than what was measured."""
    how: str = ""
    """Where the estimate comes from."""
    part: str = ""
    """What of the step it is about: tips about the same part cannot save more than that part together."""
    evidence: dict[str, Any] = field(default_factory=dict)
    trial: Trial | None = None
    severity: Severity | None = None


Check = Callable[["Measured"], Iterator[Tip]]


@dataclass(frozen=True)
class Advice:
    id: str
    severity: Severity
    device: Device
    check: Check

    @property
    def summary(self) -> str:
        return (self.check.__doc__ or "").strip().split("\n")[0]


_advice: dict[str, Advice] = {}


def advice(id: str, *, device: Device = "any", severity: Severity = "warning") -> Callable[[Check], Check]:
    """Make a function a piece of advice.

        @advice("perf.loader-in-main-process")
        def loader_in_main_process(run: Measured) -> Iterator[Tip]: ...

    `device` is the guard: "gpu" is asked only when work ran on an accelerator, "cuda" on NVIDIA's, "cpu" when none did.
    Its docstring is its page in docs/advice, in the form of the diagnosis rules.
    """

    def register(check: Check) -> Check:
        _advice[id] = Advice(id, severity, device, check)
        return check

    return register


def all_advice() -> dict[str, Advice]:
    """Every piece of advice by its id."""
    modules_in("stepscope.profile.advice.rules")
    return dict(sorted(_advice.items()))
