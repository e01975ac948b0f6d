"""The goals of the cost of `stepscope run`, held against the figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from overhead_arms.figures import Figures, Works
from overhead_arms.runs import WALL

__all__ = ["goals"]

Rows = Iterator[tuple[str, str, str, bool]]
"""What, the figure, the goal in words, whether it is met."""


def goals(works: Works, inside: dict[str, dict[str, Any]], wall: bool) -> str:
    """Markdown: a row for each goal that could be measured."""
    lines = ["| | measured | goal | |", "|---|---|---|---|"]
    rows = [*(gpu_goals(works) if wall else cpu_goals(works)), *inside_goals(inside)]
    for what, figure, goal, met in rows:
        lines.append(f"| {what} | {figure} | {goal} | {'met' if met else '**missed**'} |")
    return "\n".join(lines)


def cpu_goals(works: Works) -> Rows:
    for work, arms in works.items():
        one, plain = arms.get("stepscope"), arms.get("plain")
        if one is None or plain is None:
            continue
        if work == "memory":
            extra = one.growth() - plain.growth()
            yield f"{work}: {one.steps:,} steps", f"{extra:+.1f} bytes a step", "flat (4 bytes)", extra < 4
        elif work == "layers":
            first = one.first_step()
            yield "first step of 1,000 layers", f"{first:.2f}x", "at most 3x", first <= 3
        elif work == "forwards":
            whole = one.ratio(0, 1)
            yield f"{one.steps:,} forwards", f"{whole:.3f}x", "at most 1.1x", whole <= 1.1
        else:
            yield from training_goals(work, one, one.plain_ms())


def training_goals(work: str, one: Figures, plain_ms: float) -> Rows:
    steady, added, fixed = one.ratio(0.5, 1), one.added_ms(), one.fixed()
    if plain_ms >= 5:
        yield f"{work}: steady, of {plain_ms:.1f} ms", f"{steady:.3f}x", "at most 1.02x", steady <= 1.02
    else:
        yield f"{work}: added to {plain_ms:.2f} ms", f"{added:+.3f} ms", "at most 0.05 ms", added <= 0.05
    yield f"{work}: fixed cost", f"{fixed:.2f} CPU-s", "at most 0.7 CPU-s", fixed <= 0.7
    whole = one.whole(500)
    if work == "gpt" and whole is not None:
        yield "gpt: whole run of 500 steps", f"{whole:.3f}x", "at most 1.05x", whole <= 1.05


def gpu_goals(works: Works) -> Rows:
    for work, arms in works.items():
        one, plain = arms.get("stepscope"), arms.get("plain")
        if one is None or plain is None:
            continue
        most = 1.01 if one.plain_ms(WALL) >= 12 else 1.03  # nets of 15 ms on one machine take 14 on another
        steady, whole = one.ratio(0.5, 1, WALL), one.ratio(0, 1, WALL)
        yield f"{work}: steady", f"{steady:.3f}x", f"at most {most}x", steady <= most
        yield f"{work}: whole run", f"{whole:.3f}x", "at most 1.05x", whole <= 1.05


def inside_goals(inside: dict[str, dict[str, Any]]) -> Rows:
    for net, tools in inside.items():
        ratios = {tool: one["ratio"] for tool, one in tools.items() if "ratio" in one}
        record = ratios.get("record")
        if record is not None:
            yield f"{net}: record", f"{record:.2f}x", "at most 1.25x", record <= 1.25
        for ours, theirs in (("trace_values", "detect_anomaly"), ("summary", "torchinfo")):
            if ours in ratios and theirs in ratios:
                goal = f"at most {theirs}'s {ratios[theirs]:.2f}x"
                yield f"{net}: {ours}", f"{ratios[ours]:.2f}x", goal, ratios[ours] <= ratios[theirs]
