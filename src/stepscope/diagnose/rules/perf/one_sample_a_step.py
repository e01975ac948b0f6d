from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_STEPS, _SAMPLES = 50, 256


@rule("perf.one-sample-a-step", severity="info")
def one_sample_a_step(run: Evidence) -> Iterator[Proof]:
    """Every step trains on a single sample.

    Why it matters: a step costs nearly the same for 1 sample as for 32 while the model is small, so an epoch takes many
    times longer than it could; the gradients are noisier too.

    What to do: set `batch_size` (a DataLoader's default is 1), and scale the learning rate with it.

    How it is found: the training loader has a batch size of 1 over hundreds of samples, and an optimizer steps after
    every batch.

    Bad:
        DataLoader(dataset, shuffle=True)
    Good:
        DataLoader(dataset, batch_size=32, shuffle=True)
    """
    for loader in run.loaders.all:
        samples = loader.samples or loader.length or loader.batches
        if loader.batch_size != 1 or loader.trains < _STEPS or samples < _SAMPLES:
            continue
        if run.steps.step_count < 0.9 * loader.batches:
            continue  # gradients are accumulated: the batch is larger than it looks
        yield Proof(
            where=loader.made or loader.iterated,
            message=f"every step trains on one of {samples} samples",
            label="batch_size is 1",
            evidence={"batch_size": 1, "steps": run.steps.step_count, "samples": samples},
            fix="set batch_size=32 or more; stepscope tune-batch measures which is fastest",
        )
