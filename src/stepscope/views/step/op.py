"""One op of a recorded step as the page shows it, and the trace of where a value stopped being finite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from stepscope.inspect.arguments import argument_text
from stepscope.inspect.tally import op_time
from stepscope.inspect.visit import OpView, place

if TYPE_CHECKING:
    from stepscope.inspect.nonfinite import Birth
    from stepscope.records.step import Op, Stats, TensorInfo
    from stepscope.views.step.open_steps import OpenStep

MAX_TENSORS = 50
MAX_CHAIN = 6


class TensorStats(msgspec.Struct, omit_defaults=True):
    """The contents of a tensor; minimum to norm are over its finite values."""

    numel: int
    nan: int = 0
    inf: int = 0
    zeros: int = 0
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    norm: float | None = None
    counted: bool = True
    """False: `nan` and `inf` mean "at least"."""


class OpTensor(msgspec.Struct, omit_defaults=True):
    shape: list[int]
    dtype: str
    device: str
    kind: str
    name: str = ""
    """Of a parameter or buffer; for a gradient, what it is the gradient of."""
    bytes: int = 0
    stats: TensorStats | None = None
    made_by: int | None = None
    """For an input: the op that produced it."""
    made_by_name: str = ""


class OpRow(msgspec.Struct, omit_defaults=True):
    """One row of the op table."""

    index: int
    name: str
    phase: str
    module: str | None = None
    call: int = 0
    place: str = ""
    text: str = ""
    """The source line."""
    args: str = ""
    input: list[OpTensor] = []
    """Without parameters; the first ones."""
    output: list[OpTensor] = []
    time_us: float | None = None
    flops: int | None = None
    saved_bytes: int = 0
    mark: str = ""
    """in place, view"""
    bad: str = ""
    """nan or inf: what its output contained"""
    born: bool = False
    """Where values stopped being finite, with consequences."""
    error: str = ""


def op_row(opened: OpenStep, index: int, bad: str, birth: Birth | None) -> OpRow:
    op = opened.record.ops[index]
    view = OpView(op, opened.lookup)
    site = view.site
    return OpRow(
        index=index,
        name=op.name,
        phase=op.phase,
        module=view.module,
        call=op.call,
        place="" if site is None else place(site),
        text="" if site is None else site.text[:300],
        args=argument_text(op.args)[:500],
        input=[one for one in tensors_of(opened, view, "inputs") if one.kind != "parameter"][:2],
        output=tensors_of(opened, view, "outputs")[:2],
        time_us=op_time(op),
        flops=op.cost.flops,
        saved_bytes=op.cost.saved_bytes,
        mark="in place" if op.inplace else "view" if op.view else "",
        bad=bad,
        born=birth is not None and birth.harmful and not birth.behind,
        error=(op.error or "")[:500],
    )


def tensors_of(opened: OpenStep, view: OpView, which: Literal["inputs", "outputs"]) -> list[OpTensor]:
    """The tensors an op read or wrote, with their contents and origins."""
    op = view.op
    refs = op.inputs if which == "inputs" else op.outputs
    stats = (op.input_stats if which == "inputs" else op.output_stats) or ()
    known = opened.lookup.tensors
    makers = _makers(opened, op) if which == "inputs" else {}
    found = []
    for place_, ref in enumerate(refs[:MAX_TENSORS]):
        tensor = known.get(ref.id)
        if tensor is None:
            continue
        maker = makers.get(ref.id)
        found.append(
            OpTensor(
                shape=list(tensor.shape),
                dtype=tensor.dtype,
                device=tensor.device,
                kind=tensor.kind,
                name=_name(opened, tensor),
                bytes=tensor.bytes,
                stats=stats_of(stats[place_] if place_ < len(stats) else None),
                made_by=maker,
                made_by_name="" if maker is None else opened.record.ops[maker].name,
            )
        )
    return found


def _makers(opened: OpenStep, op: Op) -> dict[int, int]:
    """By tensor, the latest op before this one that produced it."""
    found: dict[int, int] = {}
    for maker in opened.lookup.sources.get(op.index, ()):
        for ref in opened.record.ops[maker].outputs:
            found[ref.id] = maker
    return found


def _name(opened: OpenStep, tensor: TensorInfo) -> str:
    if tensor.name:
        return tensor.name
    of = None if tensor.grad_of is None else opened.lookup.tensors.get(tensor.grad_of)
    return f"gradient of {of.name}" if of is not None and of.name else ""


def stats_of(stats: Stats | None) -> TensorStats | None:
    if stats is None:
        return None
    return TensorStats(
        numel=stats.numel,
        nan=stats.nan,
        inf=stats.pos_inf + stats.neg_inf,
        zeros=stats.zeros,
        min=stats.min,
        max=stats.max,
        mean=stats.mean,
        std=stats.std,
        norm=stats.norm,
        counted=stats.counted,
    )


class ChainLink(msgspec.Struct):
    """An op before or after the one where it happened."""

    index: int
    name: str
    module: str | None
    place: str
    bad: str
    here: bool = False
    output: OpTensor | None = None


class BirthStory(msgspec.Struct):
    """One op that made NaN or Inf from finite values, or the first that read them from outside."""

    index: int
    headline: str
    place: str
    text: str
    function: str
    kind: str
    reaches: str
    """the loss, the gradient of fc.weight ...; empty: it reaches nothing, as with a mask."""
    behind: bool
    """Not where the damage began, but what made it possible."""
    read: list[OpTensor]
    made: OpTensor | None
    chain: list[ChainLink]
    """From its inputs, through the op itself, to what it affected."""


def birth_story(opened: OpenStep, birth: Birth) -> BirthStory:
    op = birth.op
    view = OpView(op, opened.lookup)
    site = birth.site or view.site
    outputs = tensors_of(opened, view, "outputs")
    return BirthStory(
        index=op.index,
        headline=str(birth).partition("\n")[0],
        place="" if site is None else place(site),
        text="" if site is None else site.text[:300],
        function="" if site is None else site.function,
        kind=birth.kind,
        reaches=birth.reaches,
        behind=birth.behind,
        read=tensors_of(opened, view, "inputs")[:8],
        made=next(iter(outputs), None),
        chain=[_chain_link(opened, index, op.index) for index in _chain(opened, op.index)],
    )


def _chain(opened: OpenStep, index: int) -> list[int]:
    """Ops before and after one: backward along its first input, forward along what is no longer finite."""
    before: list[int] = []
    at = index
    while len(before) < MAX_CHAIN:
        makers = [maker for maker in opened.lookup.sources.get(at, ()) if maker < at]
        if not makers:
            break
        at = max(makers)
        before.append(at)
    after: list[int] = []
    at = index
    while len(after) < MAX_CHAIN:
        readers = [one for one in opened.readers.get(at, ()) if one > at and opened.lines[one].bad]
        if not readers:
            break
        at = min(readers)
        after.append(at)
    return [*reversed(before), index, *after]


def _chain_link(opened: OpenStep, index: int, birth: int) -> ChainLink:
    view = OpView(opened.record.ops[index], opened.lookup)
    site = view.site
    outputs = tensors_of(opened, view, "outputs")
    shown = next((one for one in outputs if one.stats is not None), next(iter(outputs), None))
    return ChainLink(
        index=index,
        name=view.name,
        module=view.module,
        place="" if site is None else place(site),
        bad=opened.lines[index].bad,
        here=index == birth,
        output=shown,
    )


def is_bad_stats(stats: TensorStats | None) -> bool:
    """Whether a tensor contained a non-finite value."""
    return stats is not None and bool(stats.nan or stats.inf)
