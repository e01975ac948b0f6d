"""The *Step* of a run: one recorded step, op by op, with values, costs, and the first non-finite value."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from stepscope.errors import NotFound
from stepscope.inspect.tally import Tally, footnotes, op_time
from stepscope.inspect.visit import OpView
from stepscope.views.context import Context
from stepscope.views.route import route
from stepscope.views.step.op import BirthStory, OpRow, OpTensor, birth_story, op_row, tensors_of
from stepscope.views.step.open_steps import OpenStep, OpLine

MAX_WINDOW = 500
MAX_KINDS = 200
MAX_COST_ROWS = 20_000
SortBy = Literal["order", "name", "module", "time_us", "flops", "saved_bytes"]


class RecordedRequest(msgspec.Struct):
    run: str
    key: str | None = None
    """None: the newest recording."""
    step: int | None = None


class Named(msgspec.Struct):
    name: str
    count: int


class StepHead(msgspec.Struct):
    """A recording as a whole."""

    key: str
    step: int
    time: float
    model: str
    device: str
    torch: str
    depth: str
    wall_us: float
    ops: int
    has_stats: bool
    """Whether values were recorded."""
    time_us: float | None
    flops: int | None
    saved_bytes: int
    parameters: int
    phases: list[Named]
    kinds: list[Named]
    """Names of ops, most frequent first."""
    modules: list[str]
    """Paths, to filter by."""
    bad: int
    """Ops with a non-finite output."""
    births: list[BirthStory]
    notes: list[str]
    """What the numbers exclude, and what was not seen."""
    error: str | None


@route("POST", "/api/step")
def recorded(ctx: Context, request: RecordedRequest) -> StepHead:
    """The description of one recording, and where it went wrong, if it did."""
    opened = ctx.steps.get(ctx.runs.get(request.run), request.key, request.step)
    with opened.lock:
        record = opened.record
        total = Tally(record.ops)
        lines = opened.lines
        return StepHead(
            key=opened.media.key,
            step=opened.media.step,
            time=opened.media.time,
            model=record.model,
            device=record.device,
            torch=record.torch,
            depth=record.depth,
            wall_us=record.wall_us,
            ops=len(record.ops),
            has_stats=opened.has_stats,
            time_us=total.time_us,
            flops=_both(total),
            saved_bytes=total.saved_bytes,
            parameters=sum(module.parameters for module in record.modules),
            phases=_counted([line.phase for line in lines]),
            kinds=sorted(_counted([line.name for line in lines]), key=lambda one: (-one.count, one.name))[:MAX_KINDS],
            modules=sorted({line.module for line in lines if line.module})[: 10 * MAX_KINDS],
            bad=sum(bool(line.bad) for line in lines),
            births=[birth_story(opened, birth) for birth in opened.births[:8]],
            notes=[*footnotes(total), *(f"not seen: {one.what} {one.where}".strip() for one in record.unseen[:20])],
            error=record.error,
        )


def _counted(names: list[str]) -> list[Named]:
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return [Named(name, count) for name, count in found.items()]


class StepOpsRequest(msgspec.Struct):
    """Some of the ops that pass the filters, sorted."""

    run: str
    key: str
    step: int
    start: int = 0
    count: int = 100
    search: str = ""
    """Words that must all occur in name, module, source or arguments; `!word` must not."""
    module: str = ""
    """This module and its children."""
    phase: str = ""
    kind: str = ""
    """The name of the op."""
    bad: bool = False
    """Only ops with a non-finite output."""
    sort: SortBy = "order"
    descending: bool = False


class StepOps(msgspec.Struct):
    start: int
    rows: list[OpRow]
    total: int
    """Number of ops that pass the filters."""
    time_us: float | None
    flops: int | None
    saved_bytes: int
    """Totals over all that pass."""
    max_time_us: float = 0.0
    max_flops: int = 0
    max_saved_bytes: int = 0
    """The largest of any op in the step, for bars."""


@route("POST", "/api/step/ops")
def step_ops(ctx: Context, request: StepOpsRequest) -> StepOps:
    """A page of the op table."""
    opened = ctx.steps.get(ctx.runs.get(request.run), request.key, request.step)
    with opened.lock:
        found = _found(opened, request)
        start = max(0, min(request.start, len(found)))
        window = found[start : start + max(0, min(request.count, MAX_WINDOW))]
        born = {birth.op.index: birth for birth in reversed(opened.births)}
        sums = Tally(opened.record.ops[line.op] for line in found)
        return StepOps(
            start=start,
            rows=[op_row(opened, line.op, line.bad, born.get(line.op)) for line in window],
            total=len(found),
            time_us=sums.time_us,
            flops=_both(sums),
            saved_bytes=sums.saved_bytes,
            max_time_us=max((line.time_us or 0.0 for line in opened.lines), default=0.0),
            max_flops=max((line.flops or 0 for line in opened.lines), default=0),
            max_saved_bytes=max((line.saved_bytes for line in opened.lines), default=0),
        )


def _both(sums: Tally) -> int | None:
    """FLOPs forward and backward; None if unknown."""
    if sums.flops is None and sums.backward_flops is None:
        return None
    return (sums.flops or 0) + (sums.backward_flops or 0)


def _found(opened: OpenStep, request: StepOpsRequest) -> list[OpLine]:
    """The ops that pass, in order; cached for scrolling."""
    key = (request.search, request.module, request.phase, request.kind, request.bad, request.sort, request.descending)
    if key not in opened.found:
        while len(opened.found) >= 4:
            opened.found.pop(next(iter(opened.found)))
        opened.found[key] = _ordered(_filtered(opened.lines, request), request.sort, request.descending)
    return opened.found[key]


def _filtered(lines: list[OpLine], request: StepOpsRequest) -> list[OpLine]:
    words = request.search.lower().split()
    wanted = [word for word in words if not word.startswith("!")]
    unwanted = [word[1:] for word in words if word.startswith("!") and len(word) > 1]
    inside = f"{request.module}."

    def passes(line: OpLine) -> bool:
        return (
            (not request.phase or line.phase == request.phase)
            and (not request.kind or line.name == request.kind)
            and (not request.bad or bool(line.bad))
            and (not request.module or line.module == request.module or (line.module or "").startswith(inside))
            and all(word in line.words for word in wanted)
            and not any(word in line.words for word in unwanted)
        )

    return [line for line in lines if passes(line)]


def _ordered(lines: list[OpLine], sort: SortBy, descending: bool) -> list[OpLine]:
    """Sorted; unknown values come last in either direction."""
    if sort == "order":
        return lines[::-1] if descending else lines
    if sort in ("name", "module"):
        return sorted(lines, key=lambda line: (getattr(line, sort) or "").lower(), reverse=descending)
    sign = -1 if descending else 1

    def amount(line: OpLine) -> float:
        value = getattr(line, sort)
        return math.inf if value is None else sign * value

    return sorted(lines, key=amount)


class StepOpRequest(msgspec.Struct):
    run: str
    key: str
    step: int
    index: int


class ExcerptLine(msgspec.Struct):
    number: int
    text: str
    here: bool = False


class OpLink(msgspec.Struct):
    index: int
    name: str
    module: str | None


class OpDetail(msgspec.Struct):
    row: OpRow
    args: str
    function: str
    file: str
    line: int | None
    excerpt: list[ExcerptLine]
    """The recorded lines of that file, around the op's own."""
    inputs: list[OpTensor]
    outputs: list[OpTensor]
    readers: list[OpLink]
    """The ops that read its outputs."""
    forward: OpLink | None
    """For a backward op: the op it differentiates."""
    backward: list[OpLink]


@route("POST", "/api/step/op")
def step_op(ctx: Context, request: StepOpRequest) -> OpDetail:
    """One op with everything about it."""
    opened = ctx.steps.get(ctx.runs.get(request.run), request.key, request.step)
    with opened.lock:
        record = opened.record
        if not 0 <= request.index < len(record.ops):
            raise NotFound(f"the recording has no op {request.index}; it has {len(record.ops):,}")
        view = OpView(record.ops[request.index], opened.lookup)
        site = view.site
        first = view.forward
        born = {birth.op.index: birth for birth in reversed(opened.births)}
        row = op_row(opened, request.index, opened.lines[request.index].bad, born.get(request.index))
        return OpDetail(
            row=row,
            args=row.args,
            function=site.function if site is not None else "",
            file=site.file if site is not None else "",
            line=site.line if site is not None else None,
            excerpt=_excerpt(opened, site.file, site.line) if site is not None else [],
            inputs=tensors_of(opened, view, "inputs"),
            outputs=tensors_of(opened, view, "outputs"),
            readers=[_link(opened, index) for index in opened.readers.get(request.index, ())[:50]],
            forward=None if first is None else _link(opened, first.index),
            backward=[_link(opened, index) for index in opened.lookup.differentiated.get(request.index, ())[:50]],
        )


def _link(opened: OpenStep, index: int) -> OpLink:
    line = opened.lines[index]
    return OpLink(index, line.name, line.module)


def _excerpt(opened: OpenStep, file: str, line: int) -> list[ExcerptLine]:
    """Only recorded lines are shown: the file a run names may belong to anyone."""
    known = {site.line: site.text for site in opened.record.sites if site.file == file and site.text}
    near = [number for number in sorted(known) if abs(number - line) <= 12]
    at = near.index(line) if line in near else 0
    return [ExcerptLine(number, known[number], number == line) for number in near[max(0, at - 3) : at + 4]]


class StepCostsRequest(msgspec.Struct):
    run: str
    key: str
    step: int
    by: Literal["module", "line", "type", "phase"] = "module"


_NAMES = {"label", "level", "mark", "type", "path", "source"}


class CostRow(msgspec.Struct, omit_defaults=True):
    label: str
    level: int = 0
    mark: str = ""
    type: str = ""
    """The class of a module."""
    path: str | None = None
    """Of a module."""
    source: str = ""
    ops: int = 0
    params: int | None = None
    time_us: float | None = None
    backward_us: float | None = None
    flops: int | None = None
    saved_bytes: int | None = None


class StepCosts(msgspec.Struct):
    rows: list[CostRow]
    time_us: float | None
    """Of the whole step."""
    omitted: int = 0


@route("POST", "/api/step/costs")
def step_costs(ctx: Context, request: StepCostsRequest) -> StepCosts:
    """Total costs: by module as a tree, by source line, by kind of op, or by phase."""
    opened = ctx.steps.get(ctx.runs.get(request.run), request.key, request.step)
    with opened.lock:
        table = opened.step.table(by=request.by)
        known = {field.name for field in msgspec.structs.fields(CostRow)} - _NAMES
        rows = [
            CostRow(
                label=row.label,
                level=row.level,
                mark=row.mark,
                type=str(row.cells.get("type") or ""),
                path=str(row.cells["module"]) if request.by == "module" and "module" in row.cells else None,
                source=str(row.cells.get("source") or ""),
                **{name: value for name, value in row.cells.items() if name in known and value is not None},
            )
            for row in table.rows[:MAX_COST_ROWS]
        ]
        whole = sum(took for op in opened.record.ops if (took := op_time(op)) is not None)
        return StepCosts(rows=rows, time_us=whole or None, omitted=max(0, len(table.rows) - MAX_COST_ROWS))
