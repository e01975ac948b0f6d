"""`stepscope.profile_layers`: how long each layer and each op takes, forward, backward and update, over many runs.

The ops are timed inside real steps; on CUDA with events, read when a step is over. Columns of the CSV, in this
order:

    kind, module, type, op, phase, line, calls, input, output, params, flops, macs, forward_us, forward_spread_us,
    backward_us, backward_spread_us, update_us, update_spread_us, flops_per_s, runs

`kind` is `layer` (a module with everything inside it) or `op`. Times are medians in microseconds, spreads are
interquartile ranges.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from stepscope.errors import MissingExtra, UsageError
from stepscope.inspect.layer_times import Times
from stepscope.inspect.step import Step
from stepscope.inspect.table import Row, Table

if TYPE_CHECKING:
    from torch.optim import Optimizer

COLUMNS = [
    "kind", "module", "type", "op", "phase", "line", "calls", "input", "output", "params", "flops", "macs",
    "forward_us", "forward_spread_us", "backward_us", "backward_spread_us", "update_us", "update_spread_us",
    "flops_per_s", "runs",
]  # fmt: skip
_PLAIN_RUNS = 10


def profile_layers(
    model: Any,
    *inputs: Any,
    target: Any = None,
    loss: Callable[..., Any] | None = None,
    optimizer: Any = None,
    runs: int = 100,
    warmup: int = 10,
    **kwargs: Any,
) -> LayerProfile:
    """Time every layer of a model over `runs` steps, after `warmup` steps that do not count.

    >>> stepscope.profile_layers(model, x, target=y, optimizer=opt, runs=100).to_csv("profile.csv")   # doctest: +SKIP

    Backward runs if any parameter requires a gradient. The loss is `loss(output, target)`; without `loss`, the output's
    own `.loss` if it has one, cross entropy for integer targets, mean squared error for others, and the mean of the
    output without a target. If the model's forward does not accept the last of `inputs`, that is the target. Weights,
    gradients, buffers, optimizer state and random numbers are restored afterward.
    """
    try:
        import torch
    except ModuleNotFoundError as fault:
        MissingExtra.if_torch("profile_layers", fault)
        raise

    from stepscope.inspect.untouched import is_lazy, left_as_it_was

    if not isinstance(model, torch.nn.Module):
        raise UsageError(f"profile_layers() was given a {type(model).__name__}; expected a torch.nn.Module")
    if runs < 1 or warmup < 0:
        raise UsageError(f"runs is {runs} and warmup {warmup}; expected at least one run and no fewer than 0 warm-ups")
    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer):
        raise UsageError(
            f"optimizer is {optimizer!r}; give the torch.optim.Optimizer that holds the model's parameters"
        )
    if is_lazy(model):
        raise UsageError("the model has parameters without a shape (lazy modules); run it once before profiling it")
    if target is None and len(inputs) > 1:
        inputs, target = _split_target(model, inputs, kwargs)
    work = _Step(model, inputs, kwargs, target, loss, optimizer)
    times = Times()
    with left_as_it_was(model, optimizer, weights=optimizer is not None):
        for _ in range(warmup):
            work.run()
        plain = [_timed(work.run, model) for _ in range(min(runs, _PLAIN_RUNS))]
        for number in range(runs):
            times.add(_recorded(work, first=number == 0))
    return LayerProfile(times, plain)


def _split_target(model: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    signature = inspect.signature(model.forward)
    try:
        signature.bind(*inputs, **kwargs)
    except TypeError:
        return inputs[:-1], inputs[-1]
    return inputs, None


class _Step:
    """One step as the profile runs it."""

    def __init__(
        self,
        model: Any,
        inputs: tuple[Any, ...],
        kwargs: dict[str, Any],
        target: Any,
        loss: Any,
        optimizer: Optimizer | None,
    ) -> None:
        self.model, self.inputs, self.kwargs = model, inputs, kwargs
        self.target, self.loss, self.optimizer = target, loss, optimizer
        self.backward = any(parameter.requires_grad for parameter in model.parameters())

    def run(self) -> None:
        for parameter in self.model.parameters():
            parameter.grad = None
        output = self.model(*self.inputs, **self.kwargs)
        if self.backward:
            value = self._loss(output)
            if value.requires_grad:
                value.backward()
        if self.optimizer is not None:
            self.optimizer.step()

    def _loss(self, output: Any) -> Any:
        from torch.nn import functional

        from stepscope.inspect.stand_in import stand_in_loss
        from stepscope.record.arguments import tensors_in

        if self.loss is not None:
            return self.loss(output) if self.target is None else self.loss(output, self.target)
        if self.target is None or getattr(output, "loss", None) is not None:
            return stand_in_loss(output)
        first = next((tensor for tensor in tensors_in(output) if tensor.is_floating_point()), None)
        if first is None:
            raise UsageError(f"the output ({type(output).__name__}) has no tensor of floats to compare; give loss=")
        if self.target.is_floating_point():
            return functional.mse_loss(first, self.target)
        return functional.cross_entropy(first, self.target)


def _recorded(work: _Step, *, first: bool) -> Any:
    from stepscope.record.op_observers import observers_for
    from stepscope.record.recorder import Recorder
    from stepscope.record.timing import TimingObserver

    observers = observers_for(cost=True, stats=False) if first else [TimingObserver()]
    recorder = Recorder(work.model, observers=observers)
    with recorder:
        work.run()
    return recorder.record


def _timed(run: Callable[[], None], model: Any) -> float:
    """Wall time of a step without recording, synchronized with the device on both sides."""
    _wait(model)
    start = perf_counter_ns()
    run()
    _wait(model)
    return (perf_counter_ns() - start) / 1000


def _wait(model: Any) -> None:
    import torch

    for kind in {parameter.device.type for parameter in model.parameters()} - {"cpu", "meta"}:
        backend = getattr(torch, kind, None)
        if backend is not None and hasattr(backend, "synchronize"):
            backend.synchronize()


class LayerProfile:
    """Times per layer and per op. Prints as two tables; the CSV has both, distinguished by `kind`."""

    def __init__(self, times: Times, plain_us: list[float]) -> None:
        self.step = Step(times.first)
        """The first recorded run."""
        self.runs = times.runs
        self.step_us = sorted(plain_us)[len(plain_us) // 2]
        """Median wall time of a whole step without recording."""
        self._layers, self._ops = times.layer_rows(), times.op_rows()

    @property
    def layers(self) -> Table:
        """One row per module, in a tree."""
        hidden = ("macs", "runs", "calls", "flops")
        return Table(
            [c for c in COLUMNS if c not in ("kind", "op", "phase", "line")],
            self._layers,
            {},
            self._title(),
            hidden=hidden,
        )

    @property
    def ops(self) -> Table:
        """One row per op of the forward and of the optimizer, each with its backward."""
        columns = ["op", *(name for name in COLUMNS if name not in ("kind", "op", "type", "calls"))]
        return Table(columns, self._ops, {}, self._title(), hidden=("macs", "runs", "flops", "params"))

    def _title(self) -> str:
        from stepscope.common.units import micros_text

        what = self.step.record.model
        return f"{what}: median of {self.runs} runs; a whole step without recording takes {micros_text(self.step_us)}"

    def _all(self) -> Table:
        rows = [Row(row.label, {"kind": "layer", **row.cells}) for row in self._layers]
        rows += [Row(row.label, {"kind": "op", **row.cells}) for row in self._ops]
        return Table(COLUMNS, rows, {"step_us": self.step_us, "runs": self.runs}, self._title())

    def to_csv(self, path: str | Path | None = None) -> str:
        return self._all().to_csv(path)

    def to_json(self, path: str | Path | None = None) -> str:
        return self._all().to_json(path)

    def to_pandas(self) -> Any:
        return self._all().to_pandas()

    def print(self, width: int | None = None) -> None:
        self.layers.print(width)

    def __str__(self) -> str:
        return str(self.layers)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.layers._repr_html_() + self.ops._repr_html_()
