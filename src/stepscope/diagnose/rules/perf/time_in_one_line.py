from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_SHARE = 0.4
_STEP_S, _LOUD_STEP_S = 0.01, 0.05
_SECONDS = 1.0
_TRAINING = frozenset({
    "", "torch", "accelerate", "fastai", "ignite", "keras", "lightning", "pytorch_lightning", "ray", "skorch",
    "transformers", "trl",
})  # fmt: skip
"""A line that calls one of these is the training itself."""


@rule("perf.time-in-one-line", severity="warning")
def time_in_one_line(run: Evidence) -> Iterator[Proof]:
    """Most of each step goes to one call of a library that is neither the model nor the loader.

    Why it matters: the model stands still while images are read, text is parsed or a figure is drawn inside the loop.

    What to do: move it out of the step: prepare the data once, or in the dataset with `num_workers`; log and plot every
    hundred steps.

    How it is found: a sampler looked at the training for two seconds, once. Two fifths of the time or more went to one
    line that calls a Python library other than torch, outside of the loader.

    Bad:
        for path, y in pairs:
            x = to_tensor(Image.open(path).resize((224, 224)))
            train(x, y)
    Good:
        for x, y in DataLoader(Images(pairs), batch_size=32, num_workers=4):
            train(x, y)
    """
    seen = run.hot_lines
    if seen.seconds < _SECONDS or not seen.steps or seen.seconds / seen.steps < _STEP_S:
        return
    for line in seen.all:
        library = line.below.partition(".")[0]
        if line.share < _SHARE or line.phase in ("data", "optimizer") or library in _TRAINING:
            continue
        step_ms = seen.seconds / seen.steps * 1e3
        yield Proof(
            where=line.place,
            message=f"{line.share:.0%} of each step is spent in this line, in {line.below}",
            label=f"{line.share * step_ms:.0f} ms of {step_ms:.0f} ms",
            evidence={"share": line.share, "step_ms": round(step_ms, 1), "phase": line.phase, "calls": line.below},
            severity=None if step_ms >= _LOUD_STEP_S * 1e3 else "info",
            fix="do it once before the loop, in the dataset (with num_workers), or every hundred steps",
        )
