from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.excerpt import lines_of
from stepscope.diagnose.rule import Proof, rule
from stepscope.profile.advice.tip import Tip

if TYPE_CHECKING:
    from stepscope.profile.advice.measured import Measured

_SHARE, _SHARE_OF_RUN = 0.25, 0.4
_TORCH_PART = 0.5
_STEP_MS, _LOUD_STEP_MS = 10, 50
_SECONDS = 1.0
_WHERE = {"data": "while a batch is loaded", "forward": "in forward", "other": "in the training loop"}
_TRAINING = frozenset({
    "", "torch", "accelerate", "fastai", "ignite", "keras", "lightning", "pytorch_lightning", "ray", "skorch",
    "transformers", "trl",
})  # fmt: skip
"""A line that calls one of these is the training itself."""


@rule("perf.slow-line", needs="steps, profile")
def slow_line(run: Evidence | Measured) -> Iterator[Proof]:
    """One line of Python takes a large part of every step, and it is not the model.

    Why it matters: a loop in Python, a file that is read, a figure that is drawn in every step hold the model up.

    What to do: do it once and keep the result, do it less often, in the loader's workers, or with one call on the whole
    batch.

    How it is found: in a profile, stacks were sampled between the windows; a line of your own files has a quarter of
    the time or more, outside of backward and the optimizer, and torch operations called there explain less than half of
    it. What is gained depends on what replaces it: the line's time is the bound. In a training, a sampler looked for
    two seconds, once, and two fifths of the time or more went to one line that calls a Python library other than torch,
    outside of the loader.

    Bad:
        for path, y in pairs:
            x = to_tensor(Image.open(path).resize((224, 224)))
            train(x, y)
    Good:
        for x, y in DataLoader(Images(pairs), batch_size=32, num_workers=4):
            train(x, y)
    """
    return _in_training(run) if isinstance(run, Evidence) else _in_profile(run)


def _in_training(run: Evidence) -> Iterator[Proof]:
    seen = run.hot_lines
    step_ms = seen.seconds / seen.steps * 1e3 if seen.steps else 0.0
    if seen.seconds < _SECONDS or step_ms < _STEP_MS:
        return
    for line in seen.all:
        library = line.below.partition(".")[0]
        if line.share < _SHARE_OF_RUN or line.phase in ("data", "optimizer") or library in _TRAINING:
            continue
        yield Proof(
            where=line.place,
            message=f"{line.share:.0%} of each step is spent in this line, in {line.below}",
            label=f"{line.share * step_ms:.0f} ms of {step_ms:.0f} ms",
            evidence={"share": line.share, "step_ms": round(step_ms, 1), "phase": line.phase, "calls": line.below},
            severity=None if step_ms >= _LOUD_STEP_MS else "info",
            fix="do it once before the loop, in the dataset (with num_workers), or every hundred steps",
        )


def _in_profile(run: Measured) -> Iterator[Tip]:
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
