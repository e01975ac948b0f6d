"""What came of tuning the batch size: the curve, the largest that fits, where speed stops growing, and the rates."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from stepscope.common.units import bytes_text, time_text
from stepscope.profile.batch.search import Measurement, Search

Line = list[tuple[str, str]]
_FULL = 0.95
"""Of the highest throughput: a batch that reaches it is large enough."""
_BY_ROOT = ("Adam", "RMSprop", "Adagrad", "LAMB", "Lion", "RAdam")
_BOUNDS = {
    "memory": "the next size does not fit into memory",
    "data": "an epoch has no more samples, or --max-batch was reached",
    "error": "the script fails with a larger size",
    "time": "the time was up; --seconds allows more",
    "": "the script ended",
}


class BatchReport:
    """Read off a search that has ended; `loader` is what the script's process said of it."""

    def __init__(self, search: Search, loader: dict[str, Any]) -> None:
        self.search, self.loader = search, loader
        self.curve = sorted(search.done, key=lambda one: one.size)
        self.now = next((one for one in self.curve if one.size == search.now), None)

    @property
    def best(self) -> Measurement | None:
        """The smallest batch within a twentieth of the highest throughput."""
        top = max((one.samples_s for one in self.curve), default=0.0)
        return next((one for one in self.curve if one.samples_s >= _FULL * top), None)

    def rate(self, size: int) -> tuple[str, list[float]]:
        """How the learning rate is usually scaled with the batch, and what it would be: a start, to be checked.

        In proportion for SGD; by the square root for Adam and its kin, whose steps are normalized already.
        """
        factor = size / self.search.now
        by_root = str(self.loader.get("optimizer", "")).startswith(_BY_ROOT)
        scale = math.sqrt(factor) if by_root else factor
        return ("by the square root" if by_root else "in proportion"), [
            rate * scale for rate in self.loader.get("rates", [])
        ]

    def lines(self) -> list[Line]:
        place = self.loader.get("place")
        where = "" if not place else f" at {place[0].rpartition('/')[2]}:{place[1]}"
        head: Line = [(f"  DataLoader{where} over {self.loader['dataset']}, batches of {self.search.now}", "bold")]
        return [head, self._limit(), [], *self._table(), [], *self._verdict()]

    def _limit(self) -> Line:
        whose = "the device's free memory" if self.loader["on_device"] else "the limit of the process"
        return [(f"  memory: at most {bytes_text(self.search.limit_bytes)}, {whose}", "")]

    def _table(self) -> list[Line]:
        heads = ["batch", "step", "a sample", "samples/s", "gain", "waits", "memory", "lr"]
        rows = [self._row(one) for one in self.curve]
        widths = [max(len(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
        lines: list[Line] = [[("  " + _aligned(heads, widths), "dim")]]
        for one, row in zip(self.curve, rows, strict=True):
            marks = ["now"] * (one is self.now) + ["best"] * (one is self.best)
            style = "bold green" if one is self.best else ""
            lines.append([("  " + _aligned(row, widths), style), (f"   {', '.join(marks)}" if marks else "", style)])
        failed = {**dict.fromkeys(self.search.out_of_memory, "out of memory"), **self.search.failed}
        return [
            *lines,
            *([(f"  {str(size).rjust(widths[0])}  {why}", "yellow")] for size, why in sorted(failed.items())),
        ]

    def _row(self, one: Measurement) -> list[str]:
        gain = "-" if self.now is None else f"{one.samples_s / self.now.samples_s:.2f}x"
        rates = self.rate(one.size)[1]
        waits, rate = f"{one.wait_s / one.step_s:.0%}", f"{rates[0]:.3g}" if rates else "-"
        return [str(one.size), time_text(one.step_s), time_text(one.step_s / one.size), f"{one.samples_s:,.0f}", gain,
                waits, bytes_text(one.peak_bytes), rate]  # fmt: skip

    def _verdict(self) -> list[Line]:
        best, largest = self.best, self.search.largest
        lines: list[Line] = [[("  largest: ", "bold"), (f"{largest}", "bold"), (f"; {_BOUNDS[self.search.bound]}", "")]]
        if best is None:
            return lines
        if best is self.now:
            said = "the current batch size is as fast as any: larger ones gain less than 5%"
        elif self.now is None:
            said = f"{best.samples_s:,.0f} samples/s"
        else:
            gain = best.samples_s / self.now.samples_s
            said = f"{gain:.2f}x the current samples per second; larger ones gain less than 5%"
        lines.append([("  fastest: ", "bold green"), (f"{best.size}", "bold"), (f"; {said}", "")])
        how, rates = self.rate(best.size)
        if rates and best.size != self.search.now:
            shown = ", ".join(f"{old:g} -> {new:.3g}" for old, new in zip(self.loader["rates"], rates, strict=True))
            usual = f"{how}, usual for {self.loader['optimizer']}"
            lines.append(
                [(f"  learning rate: {shown} ({usual}); a starting point: another batch size changes the training", "")]
            )
        return lines

    def as_dict(self, script: str, notes: list[str]) -> dict[str, Any]:
        best = self.best
        rates = {str(one.size): self.rate(one.size)[1] for one in self.curve}
        return {
            "script": script,
            "loader": {key: self.loader.get(key) for key in ("place", "dataset", "workers", "on_device")},
            "now": self.search.now,
            "largest": self.search.largest,
            "bounded_by": self.search.bound,
            "limit_bytes": self.search.limit_bytes,
            "best": None if best is None else best.size,
            "curve": [
                {**asdict(one), "samples_s": one.samples_s, "sample_s": one.step_s / one.size} for one in self.curve
            ],
            "out_of_memory": sorted(self.search.out_of_memory),
            "failed": {str(size): why for size, why in sorted(self.search.failed.items())},
            "learning_rate": {"optimizer": self.loader.get("optimizer", ""), "now": self.loader.get("rates", []),
                              "scaled": self.rate(1)[0], "at": rates},
            "notes": notes,
        }  # fmt: skip


def _aligned(cells: list[str], widths: list[int]) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
