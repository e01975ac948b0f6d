"""The *Model* page: the recorded steps of a run, and one of them as a graph and a table of its modules."""

from __future__ import annotations

import msgspec

from stepscope.errors import BadData, NotFound
from stepscope.inspect.graph.build import FORWARD, build_graph
from stepscope.inspect.graph.data import GraphData
from stepscope.inspect.logged import STEP_KIND, read_logged
from stepscope.inspect.step import Step
from stepscope.inspect.table import Row
from stepscope.inspect.tally import op_time
from stepscope.records import Media
from stepscope.records.step import Phase, StepRecord
from stepscope.runs.read.folder import RunFolder
from stepscope.views.context import Context
from stepscope.views.route import route

MAX_STEPS = 1_000
MAX_BYTES = 256 << 20


class StepsRequest(msgspec.Struct):
    run: str


class RecordedStep(msgspec.Struct):
    """One recording: `run.log({"recording": step})`."""

    key: str
    step: int
    time: float
    bytes: int
    model: str = ""
    ops: int | None = None


class RecordedSteps(msgspec.Struct):
    steps: list[RecordedStep]
    """In the order logged, newest last."""
    omitted: int = 0
    """Number of older ones not listed."""


class ModelRequest(msgspec.Struct):
    run: str
    key: str | None = None
    """None: the newest recording of the run."""
    step: int | None = None
    """The step wanted: the newest recording at or before it; None for the newest of all."""
    backward: bool = False
    optimizer: bool = False


class ModuleRow(msgspec.Struct, omit_defaults=True):
    """One row of the module table."""

    path: str
    label: str
    level: int
    type: str = ""
    mark: str = ""
    """Remarks: 3 calls, shared, not called, failed."""
    input: list[list[int]] = []
    output: list[list[int]] = []
    dtype: str | None = None
    device: str | None = None
    params: int | None = None
    trainable: int | None = None
    flops: int | None = None
    macs: int | None = None
    forward_us: float | None = None
    backward_us: float | None = None
    time_us: float | None = None
    saved_bytes: int | None = None
    ops: int | None = None
    calls: int | None = None


class ModelPage(msgspec.Struct):
    key: str
    step: int
    time: float
    graph: GraphData
    modules: list[ModuleRow]
    time_us: float | None
    """Of all operations together: what the recording itself cost is not in it."""
    """Duration of the recorded step, including recording."""
    ops: int
    """In the whole step, drawn or not."""


@route("POST", "/api/steps")
def steps(ctx: Context, request: StepsRequest) -> RecordedSteps:
    """The recorded steps of a run."""
    found = [
        RecordedStep(
            key=one.key,
            step=one.step,
            time=one.time,
            bytes=one.size,
            model=str(one.meta.get("model", "")),
            ops=ops if isinstance(ops := one.meta.get("ops"), int) else None,
        )
        for one in _recordings(ctx.runs.get(request.run))
    ]
    return RecordedSteps(steps=found[-MAX_STEPS:], omitted=max(0, len(found) - MAX_STEPS))


@route("POST", "/api/model")
def model(ctx: Context, request: ModelRequest) -> ModelPage:
    """A recorded step as a graph of nested boxes, and the table of its modules."""
    folder = ctx.runs.get(request.run)
    found = [
        one
        for one in _recordings(folder)
        if (request.key is None or one.key == request.key) and (request.step is None or one.step <= request.step)
    ]
    if not found:
        asked = "" if request.key is None else f" under {request.key!r}"
        until = "" if request.step is None else f" up to step {request.step}"
        raise NotFound(f"the run has no recorded step{asked}{until}; log one with run.log({{'recording': step}})")
    chosen = found[-1]
    record = _read(folder, chosen)
    phases: list[Phase] = [*FORWARD]
    if request.backward:
        phases.append("backward")
    if request.optimizer:
        phases.append("optimizer")
    return ModelPage(
        key=chosen.key,
        step=chosen.step,
        time=chosen.time,
        graph=build_graph(record, phases),
        modules=[_row(row) for row in Step(record).table(by="module").rows],
        time_us=sum(took for op in record.ops if (took := op_time(op)) is not None) or None,
        ops=len(record.ops),
    )


def _recordings(folder: RunFolder) -> list[Media]:
    keys = [key for key, kind in folder.media_keys().items() if kind == STEP_KIND]
    found = [one for key in keys for one in folder.media(key) if one.kind == STEP_KIND]
    return sorted(found, key=lambda one: (one.step, one.time))


def _read(folder: RunFolder, one: Media) -> StepRecord:
    if one.size > MAX_BYTES:
        raise BadData(f"the recording {one.key!r} has {one.size:,} bytes; the page shows up to {MAX_BYTES:,}")
    return read_logged(folder.media_bytes(one), one.key)


def _row(row: Row) -> ModuleRow:
    known = {name: value for name, value in row.cells.items() if name in _CELLS and value is not None}
    return ModuleRow(path=str(row.cells["module"]), label=row.label, level=row.level, mark=row.mark, **known)


_CELLS = {field.name for field in msgspec.structs.fields(ModuleRow)} - {"path", "label", "level", "mark"}
