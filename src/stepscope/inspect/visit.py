"""Walk through the ops of a step: `OpView` is what a visitor is handed for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stepscope.inspect.figures import clean, duration, shape

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

__all__ = ["Lookup", "OpView", "describe_stats", "describe_tensor", "place"]


class Lookup:
    """The indices of a step that several views need, each made on first use."""

    def __init__(self, record: StepRecord) -> None:
        self.record = record

    @cached_property
    def tensors(self) -> dict[int, TensorInfo]:
        return {tensor.id: tensor for tensor in self.record.tensors}

    @cached_property
    def modules(self) -> dict[str, ModuleInfo]:
        """By every path a module goes by."""
        return {path: module for module in self.record.modules for path in (module.path, *module.aliases)}

    @cached_property
    def calls(self) -> dict[tuple[str, int], int]:
        return {(call.path, call.call): index for index, call in enumerate(self.record.calls)}

    @cached_property
    def makers(self) -> dict[TensorRef, int]:
        """Which op made a tensor at a version."""
        return {ref: op.index for op in self.record.ops for ref in op.outputs}

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
        """The module an op belongs to; a backward op belongs to that of the forward op it differentiates."""
        if op.module is not None:
            return op.module
        if op.forward is not None:
            return self.record.ops[op.forward].module
        return self._module_of_gradient(op) if op.phase == "backward" else None

    def _module_of_gradient(self, op: Op) -> str | None:
        """Where a parameter's gradient is added up, the module that owns the parameter."""
        for tensor in self.infos(op.outputs):
            of = None if tensor.grad_of is None else self.tensors.get(tensor.grad_of)
            if of is not None and of.kind == "parameter" and of.name is not None:
                path = of.name.rpartition(".")[0]
                return path if path in self.modules else None
        return None

    def innermost_call(self, op: Op) -> int | None:
        """The module call an op counts for."""
        own = None if op.module is None else self.calls.get((op.module, op.call))
        if own is not None or op.forward is None:
            return own
        return self.innermost_call(self.record.ops[op.forward])

    def enclosing(self, call: int | None) -> Iterator[ModuleCall]:
        """The call and those around it, from the inside out."""
        while call is not None:
            one = self.record.calls[call]
            yield one
            call = one.parent


class OpView:
    """One op with everything about it looked up. Printed, it is one readable line."""

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
        """Where the user's code called it; a backward op stands where its forward op does."""
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
        number = self.op.forward
        return None if number is None else OpView(self._lookup.record.ops[number], self._lookup)

    @property
    def backward(self) -> tuple[OpView, ...]:
        """For a forward op: the backward ops that differentiate it."""
        numbers = self._lookup.differentiated.get(self.op.index, [])
        return tuple(OpView(self._lookup.record.ops[number], self._lookup) for number in numbers)

    @property
    def sources(self) -> tuple[OpView, ...]:
        """The ops that made its inputs."""
        numbers = [self._lookup.makers.get(ref) for ref in self.op.inputs]
        found = dict.fromkeys(n for n in numbers if n is not None and n != self.op.index)
        return tuple(OpView(self._lookup.record.ops[number], self._lookup) for number in found)

    def describe(self, tensor: TensorInfo) -> str:
        """One of its tensors in a few words; a gradient says what of, where that has a name."""
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
            parts.append(duration(took))
        if (site := self.site) is not None:
            parts.append(place(site))
        if self.error:
            parts.append(f"failed: {clean(self.error)}")
        return "  ".join(parts)

    def __repr__(self) -> str:
        return f"<op {self.index} {clean(self.name)} in {self.phase}>"


def place(site: Site) -> str:
    """`train.py:12`, with the folder only where it says something."""
    return f"{clean(os.path.basename(site.file))}:{site.line}"


def describe_tensor(tensor: TensorInfo) -> str:
    """`fc.weight 10×784`, `32×784 float16`: the name where it has one, the dtype where it is not float32."""
    words = [clean(tensor.name)] if tensor.name else []
    words.append(shape(tensor.shape))
    if tensor.dtype != "float32":
        words.append(clean(tensor.dtype))
    if tensor.device.split(":")[0] not in ("cpu", "cuda"):
        words.append(clean(tensor.device))
    return " ".join(words)


def describe_stats(stats: Stats) -> str:
    """`mean 0.01 std 1.2 min -3 max 4`, and what is not finite first."""
    bad = [f"{n} {word}" for n, word in ((stats.nan, "NaN"), (stats.pos_inf, "Inf"), (stats.neg_inf, "-Inf")) if n]
    words = [f"{' + '.join(bad)} of {stats.numel}"] if bad else []
    for name in ("mean", "std", "min", "max", "norm"):
        value = getattr(stats, name)
        if value is not None:
            words.append(f"{name} {value:.4g}")
    if stats.numel and stats.zeros:
        words.append(f"zeros {100 * stats.zeros / stats.numel:.3g} %")
    return " ".join(words)
