from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial


@rule("perf.workers-restarted", needs="profile")
def workers_restarted(run: Measured) -> Iterator[Tip]:
    """The loader's workers are ended and started again with every epoch.

    Why it matters: starting a worker takes a tenth of a second to seconds (imports, a copy of the dataset), and
    the first batch waits for it. With short epochs that is a large part of the time.

    What to do: `persistent_workers=True`.

    How it is found: the loader has workers that are not kept, and the wait for the first batch of a pass,
    spread over the batches of the pass, is worth speaking of.

    Bad:
        DataLoader(dataset, batch_size=64, num_workers=4)
    Good:
        DataLoader(dataset, batch_size=64, num_workers=4, persistent_workers=True)
    """
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
        message=f"the {loader['num_workers']} workers are started again for every pass of {batches:.0f} batches",
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
