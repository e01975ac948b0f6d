from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.profile.advice.tip import Tip, Trial

if TYPE_CHECKING:
    from stepscope.profile.advice.measured import Measured

_PASSES = 3
_SHARE, _LOUD_SHARE = 0.2, 0.4
_START_S = 0.05


@rule("perf.workers-restarted", needs="steps, profile")
def workers_restarted(run: Evidence | Measured) -> Iterator[Proof]:
    """The loader's workers restart in every epoch.

    Why it matters: starting a worker takes a tenth of a second to seconds (imports, a copy of the dataset), and
    the first batch waits for it. With short epochs that is a large part of the time.

    What to do: `persistent_workers=True`.

    How it is found: the training loader has workers that are not kept. In a profile, the wait for the first batch of a
    pass, spread over the batches of the pass, is worth speaking of. In a training, the waits for the first batches of
    several passes are a fifth or more of the time that the loader was in use.

    Bad:
        DataLoader(dataset, batch_size=64, num_workers=4)
    Good:
        DataLoader(dataset, batch_size=64, num_workers=4, persistent_workers=True)
    """
    return _in_training(run) if isinstance(run, Evidence) else _in_profile(run)


def _in_training(run: Evidence) -> Iterator[Proof]:
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
            message=f"{share:.0%} of the time the training waits for workers that restart every epoch",
            label=f"{each * 1e3:.0f} ms at the start of each of {loader.epochs} passes, {loader.workers} workers",
            evidence={"share": round(share, 3), "start_ms": round(each * 1e3, 1), "passes": loader.epochs},
            severity=None if share >= _LOUD_SHARE else "info",
            fix="add persistent_workers=True (or num_workers=0: the data may be fast enough without workers)",
        )


def _in_profile(run: Measured) -> Iterator[Tip]:
    loader = run.loader
    if not loader.get("num_workers") or loader.get("persistent_workers") or not loader.get("first_wait_ns"):
        return
    batches = _batches_of_a_pass(loader)
    if batches is None:
        return
    start = int(loader["first_wait_ns"]) - int(loader.get("wait_ns") or 0)
    each = start / batches
    yield Tip(
        where=run.where(loader, "made", "iterated"),
        message=f"the {loader['num_workers']} workers restart for every pass of {batches:.0f} batches",
        fix="persistent_workers=True",
        share=min(1.0, each / (run.step_ns + each)) if run.step_ns else 0.0,
        saving_ns=int(each),
        how=f"the first batch of a pass waits {start / 1e6:.0f} ms longer than the others",
        evidence={"first_wait_ms": round(loader["first_wait_ns"] / 1e6, 1), "batches_of_a_pass": int(batches)},
        part="epoch",
        trial=Trial("loader", {"persistent_workers": True}),
    )


def _batches_of_a_pass(loader: dict[str, object]) -> float | None:
    dataset, size = loader.get("dataset"), loader.get("batch_size")
    length = dataset.get("length") if isinstance(dataset, dict) else None
    if isinstance(length, int) and isinstance(size, int) and size:
        return max(1.0, length / size)
    passes, batches = loader.get("passes"), loader.get("batches")
    if isinstance(passes, int) and isinstance(batches, int) and passes >= 2:
        return max(1.0, batches / passes)
    return None  # one pass without a known end: nothing can be said of the next
