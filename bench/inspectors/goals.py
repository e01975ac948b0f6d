"""The goals of issue 3, held against the figures."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["goals"]

Rows = Iterator[tuple[str, float, str, bool]]
"""What, the figure, the goal in words, whether it is met."""

LONG_MS = 50
"""A step that takes this long is what the goal for recording is about; the other goals hold for all nets."""


def goals(figures: dict) -> str:
    """Markdown: a row per goal and net; what could not be measured is left out."""
    lines = ["| net | what | measured | goal | |", "|---|---|---|---|---|"]
    nets = dict.fromkeys(net for by_net in figures.values() for net in by_net)
    for net in nets:
        here = {key: value[net] for key, value in figures.items() if "ratio" in value.get(net, {})}
        for what, figure, goal, met in [*recording(here), *beside(here), *values(here)]:
            lines.append(f"| {net} | {what} | {figure:.3g}x | {goal} | {'met' if met else '**missed**'} |")
    return "\n".join(lines)


def recording(here: dict) -> Rows:
    one = here.get(("stepscope", "record: metadata"))
    if one and one["plain_ms"] >= LONG_MS:
        yield "recording a step, against the plain step", one["ratio"], "at most 1.25x", one["ratio"] <= 1.25


def beside(here: dict) -> Rows:
    """Times of the whole call; the overhead alone (what the tool adds to the forward) differs by more."""
    ours, lens = here.get(("stepscope", "record: a forward")), here.get(("torchlens", "trace: metadata"))
    if ours and lens:
        times = lens["tool_ms"] / ours["tool_ms"]
        yield "torchlens' time, metadata only, against ours", times, "at least 5x", times >= 5
        added = (lens["tool_ms"] - lens["plain_ms"]) / max(ours["tool_ms"] - ours["plain_ms"], 1e-3)
        yield "what torchlens adds to a forward, against what we add", added, "at least 5x", added >= 5
    ours, info = here.get(("stepscope", "summary")), here.get(("torchinfo", "summary"))
    if ours and info:
        yield (
            "summary against torchinfo's, each beside its plain forward",
            ours["ratio"] / info["ratio"],
            "at most 1x",
            ours["ratio"] <= info["ratio"],
        )
        first = ours["first_ms"] / info["first_ms"]
        yield "summary against torchinfo's, first use", first, "at most 1x", first <= 1


def values(here: dict) -> Rows:
    pulse = here.get(("stepscope", "pulse"))
    if pulse:
        yield "the value pulse, against the plain step", pulse["ratio"], "at most 1.02x", pulse["ratio"] <= 1.02
    trace, anomaly = here.get(("stepscope", "trace_values")), here.get(("torch", "detect_anomaly"))
    if trace and anomaly:
        share = trace["ratio"] / anomaly["ratio"]
        yield "the full value trace, against detect_anomaly", share, "under 1x", share < 1
