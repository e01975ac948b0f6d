"""Walk through the ops of a step: a visitor gets an `OpView` for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stepscope.common.units import micros_text
from stepscope.inspect.figures import shape
from stepscope.plain_text import clean
from stepscope.records.edges import edges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.records.step import (
        Cost,
        ModuleCall,
        ModuleInfo,
        Op,
        Phase,
        Site,
        Stats,
        StepRecord,
        TensorInfo,
        TensorRef,
    )


class Lookup:
    """The indexes of a step that several views need, each built on first use."""

    def __init__(self, record: StepRecord) -> None:
        self.record = record

    @cached_property
    def tensors(self) -> dict[int, TensorInfo]:
        return {tensor.id: tensor for tensor in self.record.tensors}

    @cached_property
    def modules(self) -> dict[str, ModuleInfo]:
        """By every path of a module."""
        return {path: module for module in self.record.modules for path in (module.path, *module.aliases)}

    def parent_of(self, path: str) -> str | None:
        """The parent of a path, inside its own module tree."""
        module = self.modules.get(path)
        if path == "" or (module is not None and path == module.root):
            return None
        return path.rpartition(".")[0]

    @cached_property
    def calls(self) -> dict[tuple[str, int], int]:
        return {(call.path, call.call): index for index, call in enumerate(self.record.calls)}

    @cached_property
    def sources(self) -> dict[int, list[int]]:
        """Op -> the ops that produced its inputs."""
        found: dict[int, list[int]] = {}
        for maker, reader, _ in edges(self.record):
            if maker not in found.setdefault(reader, []):
                found[reader].append(maker)
        return found

    @cached_property
    def differentiated(self) -> dict[int, list[int]]:
        """Forward op -> the backward ops that differentiate it, in execution order."""
        found: dict[int, list[int]] = {}
        for op in self.record.ops:
            if op.forward is not None:
                found.setdefault(op.forward, []).append(op.index)
        return found

    def site(self, index: int | None) -> Site | None:
        return None if index is None or not 0 <= index < len(self.record.sites) else self.record.sites[index]

    def infos(self, refs: Sequence[TensorRef]) -> tuple[TensorInfo, ...]:
        return tuple(self.tensors[ref.id] for ref in refs if ref.id in self.tensors)

    def module_of(self, op: Op) -> str | None:
        """The module an op belongs to; a backward op belongs to that of its forward op."""
        if op.module is not None:
            return op.module
        first = self.forward_of(op)
        if first is not None:
            return first.module
        return self._module_of_gradient(op) if op.phase == "backward" else None

    def _module_of_gradient(self, op: Op) -> str | None:
        """For the accumulation of a parameter's gradient: the module that owns the parameter."""
        for tensor in self.infos(op.outputs):
            of = None if tensor.grad_of is None else self.tensors.get(tensor.grad_of)
            if of is not None and of.kind == "parameter" and of.name is not None:
                path = of.name.rpartition(".")[0]
                return path if path in self.modules else None
        return None

    def innermost_call(self, op: Op) -> int | None:
        """The module call an op counts for."""
        own = None if op.module is None else self.calls.get((op.module, op.call))
        first = self.forward_of(op) if own is None else None
        return own if first is None else self.innermost_call(first)

    def forward_of(self, op: Op) -> Op | None:
        """The forward op of a backward op. It must come before; a damaged file may differ."""
        return self.record.ops[op.forward] if op.forward is not None and 0 <= op.forward < op.index else None

    def around(self, call: int) -> int | None:
        """The enclosing call. It must begin before; a damaged file may differ."""
        parent = self.record.calls[call].parent
        return parent if parent is not None and 0 <= parent < call else None

    def enclosing(self, call: int) -> Iterator[ModuleCall]:
        """The enclosing calls, innermost first."""
        outer = self.around(call)
        while outer is not None:
            yield self.record.calls[outer]
            outer = self.around(outer)


class OpView:
    """One op with everything about it resolved. Prints as one readable line."""

    __slots__ = ("_lookup", "op")

    def __init__(self, op: Op, lookup: Lookup) -> None:
        self.op = op
        """The plain record."""
        self._lookup = lookup

    @property
    def index(self) -> int:
        return self.op.index

    @property
    def name(self) -> str:
        return self.op.name

    @property
    def phase(self) -> Phase:
        return self.op.phase

    @property
    def module(self) -> str | None:
        """The path of its module; "" is the model itself, None outside any module."""
        return self._lookup.module_of(self.op)

    @property
    def module_type(self) -> str:
        path = self.module
        module = None if path is None else self._lookup.modules.get(path)
        return module.type if module is not None else ""

    @property
    def call(self) -> int:
        return self.op.call

    @property
    def site(self) -> Site | None:
        """Where the user's code called it; a backward op has its forward op's location."""
        own = self._lookup.site(self.op.site)
        return self.forward.site if own is None and self.forward is not None else own

    @property
    def args(self) -> dict[str, Any]:
        return self.op.args

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        return self._lookup.infos(self.op.inputs)

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        return self._lookup.infos(self.op.outputs)

    @property
    def parameters(self) -> tuple[TensorInfo, ...]:
        return tuple(tensor for tensor in self.inputs if tensor.kind == "parameter")

    @property
    def cost(self) -> Cost:
        return self.op.cost

    @property
    def input_stats(self) -> tuple[Stats | None, ...] | None:
        return self.op.input_stats

    @property
    def output_stats(self) -> tuple[Stats | None, ...] | None:
        return self.op.output_stats

    stats = output_stats

    @property
    def inplace(self) -> bool:
        return self.op.inplace

    @property
    def view(self) -> bool:
        return self.op.view

    @property
    def error(self) -> str | None:
        return self.op.error

    @property
    def forward(self) -> OpView | None:
        """For a backward op: the forward op it differentiates."""
        first = self._lookup.forward_of(self.op)
        return None if first is None else OpView(first, self._lookup)

    @property
    def backward(self) -> tuple[OpView, ...]:
        """For a forward op: the backward ops that differentiate it."""
        numbers = self._lookup.differentiated.get(self.op.index, [])
        return tuple(OpView(self._lookup.record.ops[number], self._lookup) for number in numbers)

    @property
    def sources(self) -> tuple[OpView, ...]:
        """The ops that produced its inputs."""
        numbers = self._lookup.sources.get(self.op.index, [])
        return tuple(OpView(self._lookup.record.ops[number], self._lookup) for number in numbers)

    def describe(self, tensor: TensorInfo) -> str:
        """One of its tensors in a few words; a gradient names its tensor, if that has a name."""
        of = None if tensor.grad_of is None else self._lookup.tensors.get(tensor.grad_of)
        return ("grad of " + clean(of.name) + " " if of is not None and of.name else "") + describe_tensor(tensor)

    def __str__(self) -> str:
        reads = ", ".join(self.describe(tensor) for tensor in self.inputs) or "no tensors"
        writes = ", ".join(self.describe(tensor) for tensor in self.outputs) or "no tensor"
        mark = " (in place)" if self.inplace else " (view)" if self.view else ""
        path = self.module
        where = "-" if path is None else path or "(model)"
        call = f" call {self.call + 1}" if self.call else ""
        took = self.cost.device_us if self.cost.device_us is not None else self.cost.host_us
        head = f"{self.index:>5}  {self.phase:<9}  {clean(where) + call:<28}"
        parts = [head, f"{clean(self.name)}: {reads} -> {writes}{mark}"]
        if took is not None:
            parts.append(micros_text(took))
        if (site := self.site) is not None:
            parts.append(place(site))
        if self.error:
            parts.append(f"failed: {clean(self.error)}")
        return "  ".join(parts)

    def __repr__(self) -> str:
        return f"<op {self.index} {clean(self.name)} in {self.phase}>"


def place(site: Site) -> str:
    """`train.py:12`, with the folder only if it is informative."""
    return f"{clean(os.path.basename(site.file))}:{site.line}"


def describe_tensor(tensor: TensorInfo) -> str:
    """`fc.weight 10×784`, `32×784 float16`: with the name if it has one, and the dtype unless it is float32."""
    words = [clean(tensor.name)] if tensor.name else []
    words.append(shape(tensor.shape))
    if tensor.dtype != "float32":
        words.append(clean(tensor.dtype))
    if tensor.device.split(":")[0] not in ("cpu", "cuda"):
        words.append(clean(tensor.device))
    return " ".join(words)


def describe_stats(stats: Stats) -> str:
    """`mean 0.01 std 1.2 min -3 max 4`, with non-finite counts first."""
    bad = [f"{n} {word}" for n, word in ((stats.nan, "NaN"), (stats.pos_inf, "Inf"), (stats.neg_inf, "-Inf")) if n]
    least = "" if stats.counted else "at least "
    words = [f"{least}{' + '.join(bad)} of {stats.numel}"] if bad else []
    for name in ("mean", "std", "min", "max", "norm"):
        value = getattr(stats, name)
        if value is not None:
            words.append(f"{name} {value:.4g}")
    if stats.numel and stats.zeros:
        words.append(f"zeros {100 * stats.zeros / stats.numel:.3g}%")
    return " ".join(words)
