"""A step printed op by op: what ran where, on which tensors, with their statistics and the cost."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.common.units import bytes_text, micros_text
from stepscope.inspect.arguments import argument_text
from stepscope.inspect.figures import count, shape
from stepscope.inspect.tally import Tally, footnotes
from stepscope.inspect.visit import OpView, describe_stats, place
from stepscope.plain_text import clean

if TYPE_CHECKING:
    from stepscope.inspect.step import Step
    from stepscope.records.step import Stats, TensorInfo


def print_step(step: Step, *, summary: bool, forward: bool, backward: bool) -> None:
    """Print to stdout; in color on a terminal."""
    lines = step_lines(step, summary=summary, forward=forward, backward=backward)
    if not sys.stdout.isatty():
        sys.stdout.writelines(f"{line}\n" for line, _ in lines)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    for line, style in lines:
        for part in textwrap.wrap(line, console.width, subsequent_indent=" " * 9, break_on_hyphens=False) or [""]:
            console.print(Text(part, style), no_wrap=True, overflow="ellipsis")


def step_lines(step: Step, *, summary: bool, forward: bool, backward: bool) -> Iterator[tuple[str, str]]:
    """(line, style): a heading where the phase or module changes, then the ops below it."""
    heading = None
    for view in step:
        if not (backward if view.phase == "backward" else forward):
            continue
        here = (view.phase, view.module, view.call)
        if here != heading:
            heading = here
            yield _heading(view), "bold cyan"
        yield from _op_lines(view)
    if summary:
        yield from _summary(step)


def _heading(view: OpView) -> str:
    path = view.module
    if path is None:
        return view.phase
    again = f", call {view.call + 1}" if view.call else ""
    kind = f" ({clean(view.module_type)})" if view.module_type else ""
    return f"{view.phase}  {clean(path) or 'model'}{kind}{again}"


def _op_lines(view: OpView) -> Iterator[tuple[str, str]]:
    facts = [f"  {view.index:>4} {clean(view.name)}"]
    if said := argument_text(view.args):
        facts.append(f"({said})")
    cost = view.cost
    took = cost.device_us if cost.device_us is not None else cost.host_us
    if cost.flops:
        facts.append(f"{count(cost.flops)} FLOPs")
    if took is not None:
        facts.append(micros_text(took))
    if cost.saved_bytes:
        facts.append(f"saves {bytes_text(cost.saved_bytes)}")
    if view.inplace:
        facts.append("in place")
    elif view.view:
        facts.append("view")
    if (site := view.site) is not None:
        facts.append(place(site))
    if view.phase == "backward" and (first := view.forward) is not None:
        facts.append(f"of op {first.index} {clean(first.name)}")
    yield "  ".join(facts), ""
    yield from _tensor_lines("in ", view, view.inputs, view.input_stats)
    yield from _tensor_lines("out", view, view.outputs, view.output_stats)
    if view.error:
        yield f"       failed: {clean(view.error)}", "bold red"


def _tensor_lines(
    word: str, view: OpView, tensors: tuple[TensorInfo, ...], stats: tuple[Stats | None, ...] | None
) -> Iterator[tuple[str, str]]:
    for place_, tensor in enumerate(tensors):
        held = stats[place_] if stats is not None and place_ < len(stats) else None
        bad = held is not None and bool(held.nan or held.pos_inf or held.neg_inf)
        kind = "" if tensor.name or tensor.kind in ("intermediate", "constant") else f" {tensor.kind}"
        strides = f" strides {shape(tensor.strides)}" if tensor.strides is not None else ""
        text = f"       {word}  {view.describe(tensor)}{kind}{strides}"
        yield text + (f"  {describe_stats(held)}" if held is not None else ""), "bold red" if bad else "dim"


def _summary(step: Step) -> Iterator[tuple[str, str]]:
    record = step.record
    total = Tally(record.ops)
    parameters = sum(module.parameters for module in record.modules)
    trainable = sum(module.trainable for module in record.modules)
    yield "", ""
    yield (
        f"{clean(record.model) or 'recorded code'}: {count(len(record.ops))} ops in {micros_text(record.wall_us)}"
        " with the recording",
        "bold",
    )
    if record.modules:
        yield f"  {count(parameters)} parameters, {count(trainable)} trainable", ""
    facts = []
    forward = Tally(op for op in record.ops if op.phase not in ("backward", "optimizer"))
    if forward.flops is not None:
        facts.append(f"{count(forward.flops)} FLOPs forward")
    if total.forward_us is not None:
        facts.append(f"forward {micros_text(total.forward_us)}")
    if total.backward_us is not None:
        facts.append(f"backward {micros_text(total.backward_us)}")
    if total.saved_bytes:
        facts.append(f"{bytes_text(total.saved_bytes)} saved for backward")
    if facts:
        yield "  " + ", ".join(facts), ""
    for note in footnotes(total):
        yield f"  {note}", "dim"
    for one in record.unseen:
        yield f"  not seen: {clean(one.what)} {clean(one.where)}".rstrip(), "dim"
    if record.error:
        yield f"  the step ended with {clean(record.error)}", "bold red"
