"""Inside one recorded step."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from stepscope.agents.tool import Answer, Limit, Offset, RunRef, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import name, table
from stepscope.common.units import number
from stepscope.views.step.op import BirthStory, OpRow, OpTensor
from stepscope.views.step.open_steps import recordings_of
from stepscope.views.step.step import RecordedRequest, StepHead, StepOpsRequest, recorded, step_ops

AtStep = Annotated[int | None, Field(description="The recorded step; default: the newest.")]
Search = Annotated[str, Field(description="Only operations with these words in name, layer, source or arguments.")]
Sort = Annotated[Literal["order", "time_us", "flops", "saved_bytes"], Field(description="`order` is execution order.")]


@tool("Inside a recorded step")
def get_step(
    desk: Desk,
    run: RunRef = "last",
    step: AtStep = None,
    search: Search = "",
    only_not_finite: bool = False,
    sort: Sort = "order",
    limit: Limit = 15,
    offset: Offset = 0,
) -> Answer:
    """One recorded training step, operation by operation: shapes, values, cost, source line, and where the first NaN or
    infinity was born.

    Only runs that logged a recording have one; why_did_it_fail tells the birth of a NaN for others.
    """
    folder = desk.open(run)
    head = recorded(desk.ctx, RecordedRequest(run=folder.id, step=step))
    ops = step_ops(
        desk.ctx,
        StepOpsRequest(
            run=folder.id, key=head.key, step=head.step, start=offset, count=limit, search=search, bad=only_not_finite,
            sort=sort, descending=sort != "order",
        ),
    )  # fmt: skip
    steps = [one.step for one in recordings_of(folder)]
    parts = [
        _head(head, folder.name, steps),
        *(_birth(one) for one in head.births[:3]),
        _ops(ops.rows, ops.total, offset),
    ]
    if head.error:
        parts.insert(1, f"it failed: {name(head.error, 400)}")
    data = {"run": folder.id, "step": head.step, "recorded_steps": steps[-50:], "ops": head.ops, "not_finite": head.bad}
    data["births"] = [{"place": one.place, "headline": one.headline, "reaches": one.reaches} for one in head.births[:3]]
    data["rows"] = [_row_data(one) for one in ops.rows]
    return Answer("\n\n".join(part for part in parts if part), {**data, "total": ops.total})


def _head(head: StepHead, run: str, steps: list[int]) -> str:
    others = f" (recorded steps: {', '.join(map(str, steps[-12:]))})" if len(steps) > 1 else ""
    odd = f"{head.bad} of them with a result that is not finite" if head.bad else "all results finite"
    seen = odd if head.has_stats else "values were not recorded"
    return (
        f"Step {head.step} of run {name(run)}{others}: {name(head.model)} on {name(head.device)}, "
        f"{head.ops} operations, {seen}, {head.parameters:,} parameters, {head.wall_us / 1000:.3g} ms.\n"
        + "; ".join(f"{one.name} {one.count}" for one in head.phases)
    )


def _birth(one: BirthStory) -> str:
    read = "; ".join(_tensor(tensor) for tensor in one.read[:3])
    reaches = f"reaches {name(one.reaches)}" if one.reaches else "reaches neither loss nor gradient"
    lines = [f"Not finite from operation {one.index}: {name(one.headline, 400)}, {reaches}"]
    if one.place:
        lines.append(f"at {name(one.place)}: {name(one.text, 300)}")
    lines.append(f"read {read}; made {_tensor(one.made)}")
    lines.append(
        "chain: " + " → ".join(f"{name(link.name)}{f' ({link.bad})' if link.bad else ''}" for link in one.chain)
    )
    return "\n".join(lines)


def _tensor(one: OpTensor | None) -> str:
    if one is None:
        return "-"
    words = f"{one.dtype} {one.shape}"
    if one.stats is not None:
        odd = f", {one.stats.nan} NaN, {one.stats.inf} infinite" if one.stats.nan or one.stats.inf else ""
        words += f" {number(one.stats.min)} to {number(one.stats.max)}{odd}"
    return words


def _ops(rows: list[OpRow], total: int, offset: int) -> str:
    if not rows:
        return "No operation passes the filters."
    cells = [
        [str(one.index), one.phase, name(one.name), name(one.module or "-"), name(one.place or "-", 80),
         "; ".join(_tensor(tensor) for tensor in one.output) or "-",
         "-" if one.time_us is None else f"{one.time_us:.3g} us"]
        for one in rows
    ]  # fmt: skip
    more = f"\nMore: offset={offset + len(rows)}." if offset + len(rows) < total else ""
    return f"{total} operations:\n" + table(["op", "phase", "name", "layer", "line", "made", "time"], cells) + more


def _row_data(one: OpRow) -> dict[str, Any]:
    return {
        "index": one.index,
        "name": one.name,
        "phase": one.phase,
        "module": one.module,
        "place": one.place,
        "output": [_tensor(tensor) for tensor in one.output],
        "time_us": one.time_us,
        "not_finite": one.bad,
    }
