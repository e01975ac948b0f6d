from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial

_CONVERSIONS = ("tensor", "from_numpy", "as_tensor", "asarray", "frombuffer")
_LOOKS_UP = frozenset({"getitem", "select", "index", "index_select"})
_SLOW_SAMPLE_NS = 30_000


@rule("perf.prepared-again", needs="profile")
def prepared_again(run: Measured) -> Iterator[Tip]:
    """Samples that are in memory are converted again every time they are read.

    Why it matters: a conversion costs microseconds to milliseconds a sample, for every sample of every epoch,
    and gives the same result each time.

    What to do: convert once, in the dataset's `__init__` (or before), and keep tensors; read whole batches with
    one index where you can. Random augmentation must stay in `__getitem__`; earlier steps need not.

    How it is found: the dataset keeps all its data in memory, and reading a sample converts it or computes with
    it. If reading draws random numbers, only the conversion counts. The saving is the measured time in the
    dataset, less what indexing tensors takes.

    Bad:
        def __getitem__(self, i):
            return torch.tensor(self.images[i]) / 255, self.labels[i]
    Good:
        def __init__(self, images, labels):
            self.images = torch.as_tensor(images) / 255
            self.labels = torch.as_tensor(labels)
        def __getitem__(self, i):
            return self.images[i], self.labels[i]
    """
    loader, wait = run.loader, run.part("data")
    fetch, dataset = loader.get("fetch", {}), loader.get("dataset", {})
    if not fetch or not dataset.get("in_memory") or not fetch.get("whole_ns") or loader.get("num_workers"):
        return
    samples = max(1.0, float(fetch["samples"]))
    lines = run.by_line(call for call in run.calls(fetching=True) if call["calls"] >= 0.8 * samples)
    work = {where: [one for one in calls if one["op"] not in _LOOKS_UP] for where, calls in lines.items()}
    work = {where: calls for where, calls in work.items() if calls}
    inside = wait * float(fetch["dataset_ns"]) / float(fetch["whole_ns"])
    if not work and float(fetch.get("dataset_cpu_ns", 0)) / samples < _SLOW_SAMPLE_NS:
        return
    converts = {where: calls for where, calls in work.items() if any(one["op"] in _CONVERSIONS for one in calls)}
    if loader.get("random"):
        inside = wait * min(1.0, _time(converts) / float(fetch["whole_ns"]))
    where = max(converts or work, key=lambda place: _time({place: work[place]}), default=None)
    saving = inside - samples * run.machine.op_ns * run.stretch  # taking one sample out of a tensor is what stays
    if saving <= 0 or (loader.get("random") and not converts):
        return
    kept = str(dataset.get("kept", "data"))
    yield Tip(
        where=where or run.where(dataset),
        message=f"every sample is {'converted' if converts else 'prepared'} again; the data is in memory ({kept})",
        fix="convert all of it once and keep tensors"
        if not loader.get("random")
        else "convert once, augment per sample",
        share=run.share(inside),
        saving_ns=int(saving),
        how=f"{samples:.0f} samples a batch, {inside / samples / 1e3:.0f} us each in the dataset",
        evidence={
            "samples": int(samples),
            "us_per_sample": round(inside / samples / 1e3, 1),
            "dataset": dataset["class"],
        },
        part="data",
        trial=None if loader.get("random") else Trial("cache", {}),
    )


def _time(lines: dict[tuple[str, int], list[dict[str, Any]]]) -> float:
    return float(sum(call["ns"] + call.get("around_ns", 0) for calls in lines.values() for call in calls))
