"""`stepscope.summary`: a model layer by layer, with or without running it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from stepscope.common.units import bytes_text
from stepscope.errors import MissingExtra, UsageError
from stepscope.inspect.estimate import Estimate, estimate_memory
from stepscope.inspect.failure import Failure, failure_of
from stepscope.inspect.figures import count
from stepscope.inspect.step import By, Step
from stepscope.inspect.table import Table
from stepscope.inspect.tally import Tally
from stepscope.records.step import StepRecord

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

Mode = Literal["eval", "train", "same"]


def summary(
    model: Any,
    *args: Any,
    input_size: Any = None,
    dtypes: Any = None,
    device: Any = None,
    mode: Mode = "eval",
    backward: bool = False,
    depth: int | None = 3,
    columns: Sequence[str] | str | None = None,
    by: By = "module",
    sort: str | None = None,
    batch_size: int | None = None,
    optimizer: str = "adam",
    inputs: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Summary:
    """The layers of a model with shapes, parameters, FLOPs, time and memory.

    >>> print(stepscope.summary(model, x))                                    # doctest: +SKIP
    >>> print(stepscope.summary(model, input_size=(1, 3, 224, 224)))          # doctest: +SKIP
    >>> print(stepscope.summary(model, input_ids=ids, mask=mask, depth=2))    # doctest: +SKIP
    >>> print(stepscope.summary(model))                                       # parameters only  # doctest: +SKIP

    With inputs (positional, by keyword, or made from `input_size` and `dtypes`) the model runs once without gradients,
    in evaluation mode unless `mode` is "train" or "same", and is left exactly as it was. If it fails, the table ends at
    the layer that failed. `backward=True` also runs backward, from a placeholder loss, and measures what is saved for
    it. `batch_size` and `optimizer` are for the estimate of training memory; `inputs` is for keyword arguments whose
    names are taken here.
    """
    try:
        import torch
    except ModuleNotFoundError as fault:
        MissingExtra.if_torch("summary", fault)
        raise

    if not isinstance(model, torch.nn.Module):
        raise UsageError(f"summary() was given a {type(model).__name__}; expected a torch.nn.Module")
    if mode not in ("eval", "train", "same"):
        raise UsageError(f"mode is {mode!r}; expected 'eval', 'train' or 'same'")
    kwargs = {**kwargs, **(inputs or {})}
    if input_size is not None:
        if args:
            raise UsageError("summary() was given both inputs and input_size; pass only one of them")
        from stepscope.inspect.inputs import device_of, make_inputs

        made, named = make_inputs(input_size, dtypes, model, device or device_of(model))
        args, kwargs = tuple(made), {**named, **kwargs}
    if not args and not kwargs:
        from stepscope.inspect.model_reader import read_model

        record, error = read_model(model), None
    else:
        record, error = _run(model, args, kwargs, mode, device, backward)
    return Summary(record, error, {"depth": depth, "columns": columns, "by": by, "sort": sort}, batch_size, optimizer)


def _run(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], mode: Mode, device: Any, backward: bool
) -> tuple[StepRecord, Exception | None]:
    """Record one forward. An error in the model's own code is part of the result, so it is caught here."""
    import torch

    from stepscope.inspect.stand_in import stand_in_loss
    from stepscope.inspect.untouched import is_lazy, layers_in_full, left_as_it_was
    from stepscope.record.op_observers import observers_for
    from stepscope.record.recorder import Recorder

    if is_lazy(model):  # the first run would fix its shapes
        model = copy.deepcopy(model)
    if device is not None:
        from stepscope.inspect.inputs import moved

        args, kwargs = moved(args, device), moved(kwargs, device)
    recorder = Recorder(model, backward=backward, observers=observers_for(cost=True, stats=False))
    error: Exception | None = None
    with left_as_it_was(model), layers_in_full(), torch.set_grad_enabled(backward):
        if mode != "same":
            model.train(mode == "train")
        try:
            with recorder:
                output = model(*args, **kwargs)
                if backward:
                    stand_in_loss(output).backward()
        except Exception as fault:
            error = fault
    assert recorder.record is not None
    return recorder.record, error


class Summary:
    """The result of `summary`: prints as a table, and provides the numbers behind it."""

    def __init__(
        self,
        record: StepRecord,
        error: Exception | None,
        view: dict[str, Any],
        batch_size: int | None,
        optimizer: str,
    ) -> None:
        self.step = Step(record)
        """The recorded forward: `visit`, `graph`, other tables."""
        self.error = error
        """The exception, if the model failed."""
        self.failure: Failure | None = None if error is None else failure_of(record, error)
        self.estimate: Estimate | None = None
        if record.ops and error is None:
            self.estimate = estimate_memory(record, batch_size=batch_size, optimizer=optimizer)
        self.table: Table = self.step.table(**view)
        self.parameters = sum(module.parameters for module in record.modules)
        self.trainable = sum(module.trainable for module in record.modules)
        self.parameter_bytes = sum(module.parameter_bytes for module in record.modules)
        total = Tally(op for op in record.ops if op.phase == "forward")
        self.flops: int | None = total.flops
        self.macs: int | None = total.macs
        self._finish(record)

    def _finish(self, record: StepRecord) -> None:
        table = self.table
        if self.failure is not None:
            self.failure.cut(table)
        frozen = self.parameters - self.trainable
        parts = [
            f"{self.parameters:,} parameters ({bytes_text(self.parameter_bytes)})"
            if self.parameters
            else "no parameters"
        ]
        if self.parameters:
            parts.append("all trainable" if not frozen else f"{self.trainable:,} trainable, {frozen:,} frozen")
        if self.flops is not None:
            parts.append(f"{count(self.flops)} FLOPs ({count(self.macs)} multiply-adds)")
        closing = [", ".join(parts)]
        if self.estimate is not None and self.parameters:  # without parameters there is nothing to train
            closing += self.estimate.lines()
        if self.failure is not None:
            closing = [*self.failure.lines(), *closing]
            table.notes = [note for note in table.notes if not note.startswith("the step ended with")]
        table.notes = [*closing, *table.notes]

    def to_csv(self, path: str | Path | None = None) -> str:
        return self.table.to_csv(path)

    def to_json(self, path: str | Path | None = None) -> str:
        return self.table.to_json(path)

    def to_pandas(self) -> Any:
        return self.table.to_pandas()

    def print(self, width: int | None = None) -> None:
        self.table.print(width)

    def graph(self, **options: Any) -> Any:
        return self.step.graph(**options)

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.table

    def _repr_html_(self) -> str:
        return self.table._repr_html_()
