from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.wide-samples", needs="profile", severity="info")
def wide_samples(run: Measured) -> Iterator[Tip]:
    """Samples are stored and moved in a wider number format than they need.

    Why it matters: pictures of bytes as float32 are four times the memory, four times the bytes between
    workers, the main process and the device; float64 is eight times.

    What to do: keep and load them as they are (`uint8`), move them to the device, and convert there:
    `x.to(device, non_blocking=True).float().div_(255)`.

    How it is found: all values of a batch fit the smaller format exactly (whole numbers from 0 to 255), or are
    float64. The saving is the part of collating and copying that goes with the bytes.

    Bad:
        x = torch.tensor(pixels, dtype=torch.float32)    # 0.0 ... 255.0
    Good:
        x = torch.tensor(pixels, dtype=torch.uint8)      # and .float() on the device, in the training loop
    """
    loader = run.loader
    batch, fetch = loader.get("batch", {}), loader.get("fetch", {})
    small = batch.get("would_do")
    if not small or not batch.get("item_bytes"):
        return
    if small == "float32" and run.facts.get("amp", {}).get("dtypes", {}).get("float64"):
        return  # the model computes in float64: perf.double-precision speaks of that
    spared = 1 - float(batch["would_do_bytes"]) / float(batch["item_bytes"])
    moved = float(run.part("h2d"))
    if fetch.get("whole_ns"):
        moved += run.part("data") * (1 - float(fetch["dataset_ns"]) / float(fetch["whole_ns"]))
    yield Tip(
        where=run.where(loader.get("dataset", {})) or run.where(loader, "made", "iterated"),
        message=f"batches are {batch['dtype']} where {small} {'is enough' if small == 'float32' else 'holds the same'}",
        fix=f"keep and load {small}, convert after the copy to the device",
        share=run.share(moved),
        saving_ns=int(moved * spared),
        how=f"{spared:.0%} of the bytes that are collated and copied",
        evidence={"dtype": batch["dtype"], "would_do": small, "bytes": batch["bytes"]},
        part="data",
    )
