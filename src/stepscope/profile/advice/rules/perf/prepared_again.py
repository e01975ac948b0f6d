from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial

_CONVERSIONS = ("tensor", "from_numpy", "as_tensor", "asarray", "frombuffer")
_LOOKS_UP = frozenset({"getitem", "select", "index", "index_select"})
_SLOW_SAMPLE_NS = 30_000

_Lines = dict[tuple[str, int], list[dict[str, Any]]]


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
    if not _reads_memory(loader):
        return
    is_random = bool(loader.get("random"))
    samples, whole_ns = max(1.0, float(fetch["samples"])), float(fetch["whole_ns"])
    work = _work_per_sample(run, samples)
    if not work and float(fetch.get("dataset_cpu_ns", 0)) / samples < _SLOW_SAMPLE_NS:
        return
    converts = {where: calls for where, calls in work.items() if any(one["op"] in _CONVERSIONS for one in calls)}
    if is_random and not converts:
        return
    inside = wait * min(1.0, _time(converts) / whole_ns) if is_random else wait * float(fetch["dataset_ns"]) / whole_ns
    saving = inside - samples * run.machine.op_ns * run.stretch  # indexing a tensor still takes this long
    if saving <= 0:
        return
    where = max(converts or work, key=lambda place: _time({place: work[place]}), default=None)
    kept = str(dataset.get("kept", "data"))
    yield Tip(
        where=where or run.where(dataset),
        message=f"every sample is {'converted' if converts else 'prepared'} again; the data is in memory ({kept})",
        fix="convert once, augment per sample" if is_random else "convert all of it once and keep tensors",
        share=run.share(inside),
        saving_ns=int(saving),
        how=f"{samples:.0f} samples a batch, {inside / samples / 1e3:.0f} us each in the dataset",
        evidence={
            "samples": int(samples),
            "us_per_sample": round(inside / samples / 1e3, 1),
            "dataset": dataset["class"],
        },
        part="data",
        trial=None if is_random else Trial("cache", {}),
    )


def _reads_memory(loader: dict[str, Any]) -> bool:
    """Whether the main process reads samples that the dataset keeps in memory, and the reads were timed."""
    fetch, dataset = loader.get("fetch", {}), loader.get("dataset", {})
    is_timed = bool(fetch) and bool(fetch.get("whole_ns"))
    return is_timed and bool(dataset.get("in_memory")) and not loader.get("num_workers")


def _work_per_sample(run: Measured, samples: float) -> _Lines:
    """The operations that run for (nearly) every sample, by line, without those that only look it up."""
    lines = run.by_line(call for call in run.calls(fetching=True) if call["calls"] >= 0.8 * samples)
    work = {where: [one for one in calls if one["op"] not in _LOOKS_UP] for where, calls in lines.items()}
    return {where: calls for where, calls in work.items() if calls}


def _time(lines: _Lines) -> float:
    return float(sum(call["ns"] + call.get("around_ns", 0) for calls in lines.values() for call in calls))
