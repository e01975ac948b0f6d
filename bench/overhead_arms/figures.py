"""From the readings of all rounds to the figures of an arm, and to tables."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from overhead_arms.clock import WHOLE_RUNS
from overhead_arms.runs import CPU, MEMORY, WALL, Run

__all__ = ["Figures", "Works", "cpu_table", "gpu_table", "memory_table", "most_called"]

Rounds = list[tuple[Run, Run]]
"""The arm and what it stands beside, of each round."""

Works = dict[str, dict[str, "Figures"]]
"""Training -> arm -> figures."""


@dataclass(frozen=True)
class Figures:
    """One arm on one training. Ratios are medians over the rounds of arm / plain; seconds are arm - plain."""

    rounds: Rounds

    def _median(self, of: Callable[[Run, Run], float]) -> float:
        return statistics.median(of(arm, base) for arm, base in self.rounds)

    @property
    def steps(self) -> int:
        return self.rounds[0][0].steps

    def ratio(self, first: float, last: float, column: int = CPU) -> float:
        """From the share `first` of the steps to the share `last`."""
        a, b = first * self.steps, last * self.steps
        return self._median(lambda arm, base: arm.between(a, b, column) / base.between(a, b, column))

    def spread(self, first: float, last: float, column: int = CPU) -> tuple[float, float]:
        a, b = first * self.steps, last * self.steps
        found = [arm.between(a, b, column) / base.between(a, b, column) for arm, base in self.rounds]
        return min(found), max(found)

    def typical(self, column: int = CPU) -> float:
        """The median block of the second half: rare costs, and bursts of the machine, are left out."""
        half = self.steps // 2
        return self._median(
            lambda arm, base: statistics.median(arm.blocks(half, column)) / statistics.median(base.blocks(half, column))
        )

    def plain_ms(self, column: int = CPU) -> float:
        """A step of the second half in what this arm stands beside."""
        return 1000 * self._median(lambda _, base: base.between(self.steps / 2, self.steps, column)) / (self.steps / 2)

    def added_ms(self) -> float:
        half = self.steps / 2
        return (
            1000 * self._median(lambda arm, base: arm.between(half, self.steps) - base.between(half, self.steps)) / half
        )

    def first(self, steps: int) -> float:
        """CPU seconds of the first steps above plain."""
        steps = min(steps, self.steps)
        return self._median(lambda arm, base: arm.between(0, steps) - base.between(0, steps))

    def first_step(self) -> float:
        return self._median(lambda arm, base: arm.between(0, 1) / base.between(0, 1))

    def whole(self, steps: int, column: int = CPU) -> float | None:
        if steps > self.steps:
            return None
        return self._median(lambda arm, base: arm.whole(steps, column) / base.whole(steps, column))

    def fixed(self) -> float:
        """CPU seconds that a run of 100 steps costs more: boot, imports, those steps, the end."""
        steps = min(100, self.steps)
        return self._median(lambda arm, base: arm.whole(steps) - base.whole(steps))

    def same_weights(self) -> bool:
        return all(arm.facts["weights"] == base.facts["weights"] for arm, base in self.rounds)

    def growth(self) -> float:
        """Resident bytes a step, from a fifth of the run to its end."""
        since = self.steps / 5
        return self._median(lambda arm, _: arm.between(since, self.steps, MEMORY)) / (self.steps - since)


def row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def times(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}x"


def header(*heads: str) -> list[str]:
    return [row(*heads), "|---" * len(heads) + "|"]


def calls_of(one: Figures) -> str:
    found = [arm.facts["calls"] for arm, _ in one.rounds if "calls" in arm.facts]
    if not found:
        return "–"
    return f"{found[0]['python'] / found[0]['steps']:.1f} / {found[0]['builtin'] / found[0]['steps']:.1f}"


def cpu_table(works: Works) -> str:
    """A line for each training and arm, in CPU time."""
    ends = [f"whole run of {steps:,}" for steps in WHOLE_RUNS]
    lines = header(
        "", "arm", "steps", "plain ms", "steady", "rounds", "median block", "added ms a step", "first step",
        "first 100 steps, CPU-s", *ends, "fixed cost, CPU-s", "Python / C calls a step", "same weights",
    )  # fmt: skip
    for work, name, one in watched(works):
        low, high = one.spread(0.5, 1)
        lines.append(
            row(
                work,
                name,
                f"{one.steps:,}",
                f"{one.plain_ms():.3g}",
                times(one.ratio(0.5, 1)),
                f"{low:.3f} to {high:.3f}",
                times(one.typical()),
                f"{one.added_ms():+.3f}",
                times(one.first_step()),
                f"{one.first(100):+.2f}",
                *(times(one.whole(steps)) for steps in WHOLE_RUNS),
                f"{one.fixed():+.2f}",
                calls_of(one),
                "yes" if one.same_weights() else "NO",
            )
        )
    return "\n".join(lines)


def gpu_table(works: Works) -> str:
    """A line for each training and arm, in wall time; whole run: the loop, and the process with its start and end."""
    lines = header(
        "", "arm", "steps", "plain ms", "first tenth", "10 to 50%", "second half", "whole run", "whole process",
        "process CPU", "Python / C calls a step", "peak bytes", "same weights",
    )  # fmt: skip
    for work, name, one in watched(works):
        arm, base = one.rounds[0]
        lines.append(
            row(
                work,
                name,
                f"{one.steps:,}",
                f"{one.plain_ms(WALL):.2f}",
                times(one.ratio(0, 0.1, WALL)),
                times(one.ratio(0.1, 0.5, WALL)),
                times(one.ratio(0.5, 1, WALL)),
                times(one.ratio(0, 1, WALL)),
                times(one.whole(one.steps, WALL)),
                times(one.whole(one.steps)),
                calls_of(one),
                f"{arm.facts['peak_bytes'] - base.facts['peak_bytes']:+,}",
                "yes" if one.same_weights() else "no",
            )
        )
    return "\n".join(lines)


def watched(works: Works) -> Iterator[tuple[str, str, Figures]]:
    """Every arm that is compared with another."""
    for work, arms in works.items():
        for name, one in arms.items():
            if any(arm is not base for arm, base in one.rounds):
                yield work, name, one


def memory_table(arms: dict[str, Figures]) -> str:
    lines = header("", "steps", "MB at a fifth", "MB at the end", "bytes a step between", "files written, bytes a step")
    for name, one in arms.items():
        arm = one.rounds[0][0]
        fifth, end = (arm.at(share * one.steps, MEMORY) / 1e6 for share in (0.2, 1))
        folder = arm.folder_bytes / one.steps
        lines.append(row(name, f"{one.steps:,}", f"{fifth:.1f}", f"{end:.1f}", f"{one.growth():+.1f}", f"{folder:.0f}"))
    return "\n".join(lines)


def most_called(one: Figures, count: int = 8) -> str:
    """The functions of Stepscope that a late step calls most."""
    found = next((arm.facts["calls"] for arm, _ in one.rounds if "calls" in arm.facts), None)
    if not found or not found["python"]:
        return ""
    return ", ".join(f"{name} {calls / found['steps']:.3g}" for name, calls in found["most"][:count])
