from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.excerpt import lines_of
from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip

_SHARE = 0.25
_TORCH_PART = 0.5
_WHERE = {"data": "while a batch is loaded", "forward": "in forward", "other": "in the training loop"}


@rule("perf.slow-line", needs="profile")
def slow_line(run: Measured) -> Iterator[Tip]:
    """One line of Python takes a large part of every step, and it is not the model.

    Why it matters: a loop in Python, a file that is read, a figure that is drawn in every step hold the model up.

    What to do: do it once and keep the result, do it less often, in the loader's workers, or with one call on the whole
    batch.

    How it is found: stacks were sampled between the windows. A line of your own files has a quarter of the time or
    more, outside of backward and the optimizer, and torch operations called there explain less than half of it. What is
    gained depends on what replaces it: the line's time is the bound.

    Bad:
        for word in text.split():          # in every step
            counts[word] += 1
    Good:
        counts = Counter(text.split())     # once
    """
    for line in run.facts.get("lines", []):
        share, phase = float(line["share"]), str(line["phase"])
        if share < _SHARE or phase not in _WHERE or str(line["below"]).partition(".")[0] == "torch":
            continue
        if (line["file"], line["line"]) in {run.where(one, "iterated") for one in run.loaders}:
            continue  # `for x, y in loader`: the wait for data, of which other rules speak
        if share * run.step_ns * _TORCH_PART < run.of_look(_torch_ns(run, line)):
            continue  # operations on tensors: other rules speak of those
        code = (lines_of(line["file"])[line["line"] - 1 : line["line"]] or [""])[0].strip()
        called = f", in {line['below']}" if line["below"] else ""
        yield Tip(
            where=(line["file"], line["line"]),
            message=f"{share:.0%} of the time is spent in this line {_WHERE[phase]}{called}: {code[:80]}",
            fix=_fix(phase, bool(line["below"])),
            share=share,
            saving_ns=int(share * run.step_ns),
            at_most=True,
            how="the part of the samples in which this line was running",
            evidence={"phase": phase, "calls": line["below"]},
            part="data" if phase == "data" else "script",
        )


def _torch_ns(run: Measured, line: dict[str, Any]) -> float:
    at = (line["file"], line["line"])
    return float(sum(one["ns"] for one in run.calls() if (one["file"], one["line"]) == at))


def _fix(phase: str, in_library: bool) -> str:
    if phase == "data":
        return "do this once and keep the result, or load in workers (num_workers)"
    if in_library:
        return "do this once before the loop, in the dataset, or every hundred steps"
    return "take it out of the step, or replace the Python loop with one call on the whole tensor"
