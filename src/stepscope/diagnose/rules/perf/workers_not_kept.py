from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_PASSES = 3
_SHARE, _LOUD_SHARE = 0.2, 0.4
_START_S = 0.05


@rule("perf.workers-not-kept", severity="warning")
def workers_not_kept(run: Evidence) -> Iterator[Proof]:
    """The loader's workers end with every epoch and start again with the next.

    Why it matters: starting a worker takes a tenth of a second to seconds, and the first batch of each epoch waits for
    it. Where epochs are short, that is most of the time.

    What to do: `persistent_workers=True`.

    How it is found: a training loader with workers that are not kept was iterated several times, and the waits for the
    first batches of its passes are a fifth or more of the time it was in use.

    Bad:
        DataLoader(dataset, batch_size=64, num_workers=4)
    Good:
        DataLoader(dataset, batch_size=64, num_workers=4, persistent_workers=True)
    """
    for loader in run.loaders.all:
        if not loader.workers or loader.persistent or not loader.is_training or loader.epochs < _PASSES:
            continue
        starting = loader.wait_s - loader.steady_wait_s
        in_use = loader.steady_turn_s + starting
        share = starting / in_use if in_use else 0.0
        each = starting / loader.epochs
        if share < _SHARE or each < _START_S:
            continue
        yield Proof(
            where=loader.made or loader.iterated,
            message=f"{share:.0%} of the time the training waits for workers that start again with every epoch",
            label=f"{each * 1e3:.0f} ms at the start of each of {loader.epochs} passes, {loader.workers} workers",
            evidence={"share": round(share, 3), "start_ms": round(each * 1e3, 1), "passes": loader.epochs},
            severity=None if share >= _LOUD_SHARE else "info",
            fix="add persistent_workers=True (or num_workers=0: the data may be quick enough without workers)",
        )
