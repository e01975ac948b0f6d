"""The columns of a table: headings, formats, and priorities when space is short."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.common.units import bytes_text, micros_text
from stepscope.errors import UsageError
from stepscope.inspect.figures import count, shape
from stepscope.plain_text import clean


@dataclass(frozen=True)
class Column:
    title: str
    meaning: str
    show: Callable[[Any], str]
    rank: int
    """When space is short, the columns with the highest rank are omitted first."""
    numeric: bool = True
    least: int | None = None
    """Text that may be cut to this many characters; None: never cut."""


def _text(value: Any) -> str:
    return "" if value is None else clean(str(value))


def _place(value: str | None) -> str:
    """A line without its folders; CSV and JSON have them."""
    return "" if value is None else clean(os.path.basename(value))


def _shapes(value: Sequence[Sequence[int]] | None) -> str:
    if value is None:
        return "-"
    shown = ", ".join(shape(one) for one in value[:2])
    return f"{shown}, +{len(value) - 2}" if len(value) > 2 else shown


def _exact(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}%"


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{count(value)}/s"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


COLUMNS: dict[str, Column] = {
    "module": Column(
        "module", "the module's name inside its parent; its full path in CSV and JSON", _text, 0, False, 18
    ),
    "op": Column("op", "the function that was called", _text, 0, False, 14),
    "line": Column("line", "file and line of the user's code", _place, 4, False, 12),
    "phase": Column("phase", "set-up, forward, loss, backward, optimizer, other", _text, 12, False),
    "tensor": Column("tensor", "the tensor's name in the state dict", _text, 0, False, 18),
    "index": Column("#", "the op's index in execution order", _text, 2),
    "type": Column("type", "the module's class", _text, 4, False, 10),
    "input": Column("input", "shapes of the input tensors (first call)", _shapes, 6, False, 11),
    "output": Column("output", "shapes of the output tensors (first call)", _shapes, 3, False, 11),
    "shape": Column("shape", "the tensor's shape", lambda value: shape(value), 2, False, 9),
    "dtype": Column("dtype", "of the output", _text, 20, False),
    "device": Column("device", "of the output", _text, 21, False),
    "params": Column("params", "parameters, shared ones counted once, at their first place", _exact, 1),
    "params_percent": Column("params %", "share of all parameters", _percent, 19),
    "trainable": Column("trainable", "parameters that require a gradient", _exact, 15),
    "param_bytes": Column("param bytes", "memory of the parameters", bytes_text, 16),
    "flops": Column(
        "FLOPs", "floating-point operations; a multiply-add is two. Of a module or line: without backward", count, 5
    ),
    "macs": Column("MACs", "multiply-adds forward", count, 13),
    "backward_flops": Column("backward FLOPs", "floating-point operations backward", count, 17),
    "time_us": Column("time", "all of its ops; on the device if there is one, else on the host", micros_text, 7),
    "time_percent": Column("time %", "share of the time of all ops", _percent, 11),
    "forward_us": Column("forward", "time of the ops forward", micros_text, 8),
    "backward_us": Column("backward", "time of the ops backward", micros_text, 9),
    "saved_bytes": Column("saved", "saved for backward, each memory counted once", bytes_text, 10),
    "ops": Column("ops", "how many operations ran", count, 18),
    "calls": Column("calls", "how many times the module ran", count, 14),
    "module_path": Column("module", "the module it ran in", _text, 5, False, 12),
    "function": Column("function", "the user's function", _text, 15, False, 10),
    "source": Column("source", "the line of source", _text, 6, False, 16),
    "args": Column("arguments", "arguments that are not tensors", _text, 14, False, 12),
    "forward_op": Column("of", "the forward op that a backward op differentiates", _text, 19, False),
    # profile_layers
    "kind": Column("kind", "layer: a module with everything inside it; op: one operation", _text, 21, False),
    "forward_spread_us": Column("±", "interquartile range of the forward time", micros_text, 12),
    "backward_spread_us": Column("±", "interquartile range of the backward time", micros_text, 13),
    "update_us": Column("update", "time of the optimizer's step for its parameters", micros_text, 10),
    "update_spread_us": Column("±", "interquartile range of the update time", micros_text, 14),
    "flops_per_s": Column("FLOPs/s", "forward FLOPs per second", _rate, 11),
    "runs": Column("runs", "number of runs it occurred in", count, 20),
    # time_steps
    "step": Column("step", "the iteration of the loop", _text, 0),
    "other_us": Column("other", "time in neither forward, backward nor update: data, loss, logging", micros_text, 11),
    "total_us": Column("total", "time of the whole step", micros_text, 1),
    # checkpoints
    "bytes": Column("bytes", "memory of the values", bytes_text, 5),
    "min": Column("min", "smallest finite value", _number, 7),
    "max": Column("max", "largest finite value", _number, 8),
    "mean": Column("mean", "of the finite values", _number, 6),
    "std": Column("std", "of the finite values", _number, 6),
    "norm": Column("norm", "Euclidean norm of the finite values", _number, 9),
    "nan": Column("NaN", "values that are not a number", count, 3),
    "inf": Column("Inf", "infinite values", count, 4),
    "zero_percent": Column("zeros", "share of values that are zero", _percent, 10),
}


def choose_columns(asked: Sequence[str] | None, usual: Sequence[str]) -> list[str]:
    """The requested columns, by name or heading, after the one that names the row; the default ones if none are
    requested."""
    if asked is None:
        return list(usual)
    if isinstance(asked, str):
        asked = [name.strip() for name in asked.split(",")]
    shown = {COLUMNS[name].title: name for name in reversed(usual)}
    asked = [name if name in usual else shown.get(name, name) for name in asked]
    for name in asked:
        if name not in usual:
            known = [one for one in COLUMNS if one in usual]
            raise UsageError(f"there is no column {name!r} here; there are {', '.join(known)}")
    return [usual[0], *(name for name in dict.fromkeys(asked) if name != usual[0])]
