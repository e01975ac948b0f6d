from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.common.ops import LAYERS
from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip

_MANY = 24
_SMALL_NS = 50_000
_NODES = {"getitem": ("Select", "Slice", "Index", "Unsqueeze"), "setitem_": ("CopySlices",), "select": ("Select",)}


@rule("perf.tensor-loop", needs="profile")
def tensor_loop(run: Measured) -> Iterator[Tip]:
    """A Python loop calls torch for single elements or rows.

    Why it matters: a torch call costs microseconds however little it does, ten or more on an accelerator; a
    thousand of them cost more than the model.

    What to do: one call on the whole tensor: masks and `torch.where` instead of `if`, `index_add_` and
    `scatter_` instead of assignments, `(a == b).sum()` instead of counting, `torch._foreach_*` over lists of
    tensors.

    How it is found: one line made dozens of small torch calls in every step, none of them a matrix product. The saving
    is the time of these calls, of the Python around them and of their backward, less two calls.

    Bad:
        for i in range(len(y)):
            if scores[i].argmax() == y[i]:
                right += 1
    Good:
        right = (scores.argmax(dim=1) == y).sum()
    """
    functions: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for call in run.calls(fetching=False):
        if call["file"] and call["every_step"] and call["calls"] >= _MANY:
            functions.setdefault((call["file"], call["in"]), []).append(call)
    for calls in functions.values():
        if any(one["op"] in LAYERS for one in calls):
            continue  # a recurrence, or layers called in a loop: the loop is the model
        small = [one for one in calls if one["ns"] / one["calls"] < _SMALL_NS]
        if not small:
            continue
        took = run.of_look(sum(_cost(one) for one in small)) + _backward(run, small)
        most = max(one["calls"] for one in small)
        lines = run.by_line(iter(small))
        where = max(lines, key=lambda place: sum(_cost(one) for one in lines[place]))
        ops = sorted({one["op"] for one in lines[where]})
        yield Tip(
            where=where,
            message=f"a Python loop makes {sum(one['calls'] for one in small):.0f} small torch calls a step here",
            fix=f"do it with one call on the whole tensor, not with {most:.0f} ({', '.join(ops[:4])})",
            share=run.share(took),
            saving_ns=int(took * (1 - 2 / most)),
            how="the calls and the Python between them, timed in a few steps",
            evidence={"calls": round(sum(one["calls"] for one in small)), "ms": round(took / 1e6, 3)},
            part="script",
        )


def _backward(run: Measured, calls: list[dict[str, Any]]) -> int:
    """What going back through these calls takes: an index of a large tensor makes a gradient as large, each time."""
    if not run.backward_nodes:  # no window: as much of backward as of the forward that leads there
        forward = sum(_cost(one) for one in run.calls(fetching=False) if one.get("graph_calls"))
        return int(run.part("backward") * sum(_cost(one) for one in calls if one.get("graph_calls")) / max(1, forward))
    total = 0.0
    for op in {one["op"] for one in calls}:
        names = _NODES.get(op) or ("".join(word.capitalize() for word in op.strip("_").split("_")),)
        nodes = sum(ns for node, ns in run.backward_nodes.items() if node.partition("Backward")[0] in names)
        everywhere = sum(one["calls"] for one in run.calls(op, fetching=False))
        total += nodes * sum(one["calls"] for one in calls if one["op"] == op) / max(1, everywhere)
    return int(total)


def _cost(call: dict[str, Any]) -> int:
    return int(call["ns"]) + int(call.get("around_ns", 0))
