"""`stepscope.watch_layers`: what each layer puts out, and what gradients its parameters get, over time.

On one step in `every` each layer's output and gradients are counted into histograms, on the device where they are, and
handed to the run before the optimizer steps; that step waits for the device. On all others nothing is computed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from stepscope import fence
from stepscope.errors import UsageError
from stepscope.events import subscribe
from stepscope.events.quiet import quietly
from stepscope.record.arguments import tensors_in
from stepscope.record.statistics import stats_of
from stepscope.records import Media
from stepscope.records.step import Stats

if TYPE_CHECKING:
    from stepscope.events.modules import ModuleCall

_BINS = 64
Log = Callable[[dict[str, Any]], Any]


def watch_layers(
    model: Any, run: Any = None, every: int = 100, *, log: Log | None = None, bins: int = _BINS
) -> LayerWatch:
    """Log a histogram of each layer's activations and gradients on one optimizer step in `every`.

        watch = stepscope.watch_layers(model)      # logs to the current run
        ...
        watch.remove()

    Keys are `activations/<layer>` and `gradients/<layer>`, with the scalars `/std`, `/zeros` and `/norm` beside them.
    `run` is anything with `log(dict)`; `log` a function instead. Layers are the modules without children, and those
    with parameters of their own.
    """
    if not isinstance(model, torch.nn.Module):
        raise UsageError(f"watch_layers() was given a {type(model).__name__}; give it a torch.nn.Module")
    if not isinstance(every, int) or isinstance(every, bool) or every < 1:
        raise UsageError(f"every={every!r} must be a whole number of steps, 1 or more")
    return LayerWatch(model, log or (run.log if run is not None else _log_to_current_run), every, bins)


def _log_to_current_run(values: dict[str, Any]) -> None:
    session = sys.modules.get("stepscope.track.session")  # a run exists only where tracking was imported
    run = session.current() if session is not None else None
    if run is not None:
        run.log(values)


class LayerWatch:
    """What `watch_layers` gives; `remove()` ends it. Also a context manager."""

    def __init__(self, model: Any, log: Log, every: int, bins: int) -> None:
        self._log = log
        self._every = every
        self._bins = bins
        self._steps = 0
        self._counted: dict[str, tuple[Any, Stats]] = {}
        self._complete = False
        """A step is counted and waits for the next forward: by then the loop has logged its own values of that step,
        and `run.log` without a step puts these beside them."""
        self._layers = list(_layers(model))
        self._names = {id(layer): name for name, layer in self._layers}
        self._mine = {id(p) for p in model.parameters()}
        self._events = subscribe("watching layers", module_ends=self._module_ends, step_begins=self._before_step)

    @property
    def _sampling(self) -> bool:
        return self._steps % self._every == 0

    def remove(self) -> None:
        """Stop watching; what was counted last is still logged."""
        self._events.remove()
        self._send()

    def __enter__(self) -> LayerWatch:
        return self

    def __exit__(self, *error: Any) -> None:
        self.remove()

    def _module_ends(self, call: ModuleCall) -> None:
        name = self._names.get(id(call.module))
        if name is not None and call.error is None:
            self._saw(name, call.module, call.result)

    def _saw(self, name: str, layer: Any, result: Any) -> None:
        """A layer has returned: count what it returned, once per sampled step, while training."""
        if self._complete:
            self._send()
        key = f"activations/{name}"
        if not self._sampling or not layer.training or key in self._counted or _capturing():
            return
        tensors = [t for t in tensors_in(result) if t.is_floating_point()]
        if tensors:
            self._count(key, tensors[:1])

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any, frame: Any) -> None:
        owned = {id(p) for group in optimizer.param_groups for p in group["params"]}
        if owned.isdisjoint(self._mine):
            return  # another model's optimizer
        if self._complete:
            self._send()
        if self._sampling and not _capturing():
            for name, layer in self._layers:
                gradients = [p.grad for p in layer._parameters.values() if p is not None and p.grad is not None]
                if gradients:
                    self._count(f"gradients/{name}", gradients)
            self._complete = True
        self._steps += 1

    def _count(self, key: str, tensors: list[Any]) -> None:
        with quietly():
            parts = [t.detach().reshape(-1) for t in tensors if t.layout is torch.strided]
            if not parts:
                return
            values = parts[0] if len(parts) == 1 else torch.cat([p.float() for p in parts])
            stats = stats_of(values)
            if stats is not None and stats.numel:
                self._counted[key] = (count(values, stats, self._bins), stats)

    @fence.fenced("logging layer statistics")
    def _send(self) -> None:
        counted, self._counted, self._complete = self._counted, {}, False
        values: dict[str, Any] = {}
        for key, (counts, stats) in counted.items():
            values[key] = Counts(counts.cpu().numpy(), stats)
            values[f"{key}/std"] = math.nan if stats.std is None else stats.std
            if key.startswith("activations/"):
                values[f"{key}/zeros"] = stats.zeros / stats.numel
            else:
                values[f"{key}/norm"] = math.nan if stats.norm is None else stats.norm
        if values:
            self._log(values)


class Counts:
    """A histogram that is counted already; `run.log` keeps it like a `stepscope.Histogram`."""

    def __init__(self, counts: Any, stats: Stats) -> None:
        self.counts = np.asarray(counts, dtype=np.float64)
        self.edges = np.array(_edges(stats, len(self.counts)))
        self.stats = stats

    def encode(self, key: str, step: int, time: float) -> list[tuple[Media, bytes | None]]:
        stats = self.stats
        meta = {
            "total": stats.numel,
            "nan": stats.nan,
            "pos_inf": stats.pos_inf,
            "neg_inf": stats.neg_inf,
            "min": stats.min,
            "max": stats.max,
            "mean": stats.mean,
            "std": stats.std,
            "bins": len(self.counts),
        }
        data = np.concatenate((self.edges, self.counts)).astype("<f8").tobytes()
        media = Media(key=key, step=step, time=time, kind="histogram", mime="application/octet-stream", meta=meta)
        return [(media, data)]


def count(values: Any, stats: Stats, bins: int) -> Any:
    """How many values fall in each of `bins` even bins from the smallest to the largest; what is not finite in none."""
    low, high = _range(stats)
    real = values.float() if values.element_size() < 4 else values
    place = ((real - low) * (bins / (high - low))).clamp(0, bins - 1)
    finite = torch.isfinite(real)
    place = torch.where(finite, place, 0).long()
    counts = torch.zeros(bins, dtype=torch.int64, device=values.device)
    return counts.scatter_add_(0, place, finite.long())


def _range(stats: Stats) -> tuple[float, float]:
    low, high = stats.min, stats.max
    if low is None or high is None:
        return 0.0, 1.0
    if not high - low > 1e-12 * max(abs(low), abs(high), 1e-30):
        wide = max(abs(low) * 1e-3, 1e-6)
        return low - wide, high + wide
    return low, high


def _edges(stats: Stats, bins: int) -> list[float]:
    low, high = _range(stats)
    return [low + (high - low) * place / bins for place in range(bins + 1)]


def _layers(model: Any) -> Iterable[tuple[str, Any]]:
    for name, module in model.named_modules():
        has_children = next(module.children(), None) is not None
        own = any(p is not None for p in module._parameters.values())
        if (own or not has_children) and not isinstance(module, torch.jit.ScriptModule):
            yield name or type(module).__name__, module


def _capturing() -> bool:
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return False
    return bool(torch.cuda.is_current_stream_capturing())
