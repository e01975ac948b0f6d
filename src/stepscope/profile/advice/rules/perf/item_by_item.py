from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial

_ONE_BATCH_OPS = 25
"""A batch with one index: the sampler's indices, the index operations, the loader's own work, in small operations."""
_GATHERING = 0.5
"""An index operation over rows moves bytes at this part of the speed of a plain copy."""


@rule("perf.item-by-item", needs="profile")
def item_by_item(run: Measured) -> Iterator[Tip]:
    """Data in memory as tensors is read sample by sample and collated again.

    Why it matters: a batch of 256 then costs 256 index operations and a stack of 256 tensors, where one index
    operation would do.

    What to do: index whole batches, with a `BatchSampler` as the loader's sampler and `batch_size=None`, or
    with `torch.randperm` and a slice in the loop; or give the dataset a `__getitems__` that takes a list of
    indices.

    How it is found: the dataset keeps tensors, reading a sample does nothing but index them, and the wait for
    batches is a twentieth of the step or more. The saving is the wait, less one index operation over the
    batch's bytes.

    Bad:
        DataLoader(TensorDataset(x, y), batch_size=256, shuffle=True)
    Good:
        data = TensorDataset(x, y)
        batches = BatchSampler(RandomSampler(data), batch_size=256, drop_last=False)
        DataLoader(data, sampler=batches, batch_size=None)
    """
    loader, wait = run.loader, run.part("data")
    fetch, dataset = loader.get("fetch", {}), loader.get("dataset", {})
    samples = float(fetch.get("samples", 0))
    if samples < 8 or dataset.get("kept") != "Tensor" or loader.get("random") or run.share(wait) < 0.05:
        return
    if loader.get("collate") != "default_collate" or dataset.get("has_getitems"):
        return
    computing = [one for one in run.calls(fetching=True) if one["op"] not in ("getitem", "select", "unbind")]
    if any(one["calls"] >= 0.8 * samples for one in computing):
        return  # reading is more than indexing: perf.prepared-again speaks of that
    moved = float(loader.get("batch", {}).get("bytes", 0)) / (run.machine.copy_bytes_per_ns * _GATHERING)
    then = _ONE_BATCH_OPS * run.machine.op_ns + moved
    yield Tip(
        where=run.where(loader, "made", "iterated"),
        message=f"{samples:.0f} samples a batch are indexed one by one, though the data is in memory as tensors",
        fix="index whole batches: sampler=BatchSampler(...), batch_size=None",
        share=run.share(wait),
        saving_ns=int(wait - then * run.stretch),
        how="the wait, less one index operation over the bytes of a batch",
        evidence={"samples": int(samples), "wait_ms": round(wait / 1e6, 2), "dataset": dataset["class"]},
        part="data",
        trial=Trial("batch-index", {}) if dataset["class"] == "TensorDataset" else None,
    )
