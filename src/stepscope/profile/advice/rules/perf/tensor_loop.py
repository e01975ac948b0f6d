from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from stepscope.common.ops import LAYERS
from stepscope.common.syntax import tree_of
from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip

_MANY, _FEW = 24, 6
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
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

    How it is found: one line made dozens of small torch calls in every step, none of them a matrix product; or a model
    is called many times in a step with parts of one tensor, and with nothing that it has computed before. The saving is
    the time of these calls, of the Python around them and of their backward, less two calls.

    Bad:
        for i in range(len(y)):
            if scores[i].argmax() == y[i]:
                right += 1
    Good:
        right = (scores.argmax(dim=1) == y).sum()
    """
    model_loops = [one for one in run.facts.get("model_loops", []) if one["calls"] >= _FEW]
    loops = {(one["file"], one["line"]): one["calls"] for one in model_loops}
    for calls in _by_function(run):
        of_model = next((number for where, number in loops.items() if _is_within(calls, where, number)), 0)
        if of_model:
            small = [one for one in calls if _is_small(one)]
        elif any(one["op"] in LAYERS for one in calls):
            continue  # a recurrence, or layers called in a loop: the loop is the model
        else:
            small = [one for one in calls if _is_small(one) and _is_looped(one)]
        if sum(one["calls"] for one in small) >= _MANY:
            yield _tip(run, small, of_model)


def _by_function(run: Measured) -> list[list[dict[str, Any]]]:
    """The calls that every step makes often, by the function they are in."""
    functions: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for call in run.calls(fetching=False):
        if call["file"] and call["every_step"] and call["calls"] >= _FEW:
            functions.setdefault((call["file"], call["in"]), []).append(call)
    return list(functions.values())


def _tip(run: Measured, small: list[dict[str, Any]], of_model: float) -> Tip:
    calls = sum(one["calls"] for one in small)
    lines = run.by_line(iter(small))
    where = max(lines, key=lambda place: sum(_cost(one) for one in lines[place]))
    took = _time_before_backward(run, small)
    if of_model:
        most = of_model
        took += _share_of_backward(run, small)
        message = f"the model is called {of_model:.0f} times a step for one batch"
        fix = "call the model once, on the whole batch"
    else:
        most = max(one["calls"] for one in small)
        took += _backward(run, small)
        ops = sorted({one["op"] for one in lines[where]})
        message = f"a Python loop makes {calls:.0f} small torch calls a step here"
        fix = f"do it with one call on the whole tensor, not with {most:.0f} ({', '.join(ops[:4])})"
    return Tip(
        where=where,
        message=message,
        fix=fix,
        share=run.share(took),
        saving_ns=int(took * (1 - 2 / most)),
        how="the calls and the Python between them, timed in a few steps",
        evidence={"calls": round(calls), "ms": round(took / 1e6, 3)},
        part="script",
    )


def _is_within(calls: list[dict[str, Any]], where: tuple[str, int], number: float) -> bool:
    """Whether a function calls the model in a loop, or is the model's own: each call made as often as the model is."""
    at_line = any((one["file"], one["line"]) == where for one in calls)
    return at_line or all(one["calls"] % number == 0 for one in calls)


def _is_small(call: dict[str, Any]) -> bool:
    """By the quickest of its calls: other programs of a busy machine hold some of them up."""
    return bool(min(call.get("least_ns", call["ns"]), call["ns"] / call["calls"]) < _SMALL_NS)


def _is_looped(call: dict[str, Any]) -> bool:
    """Whether one call of the function makes them all: a custom layer is called often, without a loop in it."""
    return bool(call["calls"] >= _MANY or (call["file"], call["line"]) in _lines_in_loops(call["file"]))


@lru_cache(maxsize=64)
def _lines_in_loops(file: str) -> frozenset[tuple[str, int]]:
    tree = tree_of(file)
    loops = [node for node in ast.walk(tree) if isinstance(node, _LOOPS)] if tree is not None else []
    return frozenset(
        (file, line) for node in loops for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )


def _time_before_backward(run: Measured, calls: list[dict[str, Any]]) -> int:
    """As much of the step as these calls are of all its calls: their own times leave out the Python inside of modules
    and the other programs of a busy machine."""
    took = sum(_cost(one) for one in calls)
    if not run.part("backward"):
        return run.of_look(took)
    in_step = run.part("forward") + run.part("other")
    return int(in_step * took / max(1, sum(_cost(one) for one in run.calls(fetching=False))))


def _share_of_backward(run: Measured, calls: list[dict[str, Any]]) -> int:
    """As much of backward as of the forward that leads there."""
    forward = sum(_cost(one) for one in run.calls(fetching=False) if one.get("graph_calls"))
    return int(run.part("backward") * sum(_cost(one) for one in calls if one.get("graph_calls")) / max(1, forward))


def _backward(run: Measured, calls: list[dict[str, Any]]) -> int:
    """What going back through these calls takes: an index of a large tensor makes a gradient as large, each time."""
    if not run.backward_nodes:  # no window
        return _share_of_backward(run, calls)
    total = 0.0
    for op in {one["op"] for one in calls}:
        names = _NODES.get(op) or ("".join(word.capitalize() for word in op.strip("_").split("_")),)
        nodes = sum(ns for node, ns in run.backward_nodes.items() if node.partition("Backward")[0] in names)
        everywhere = sum(one["calls"] for one in run.calls(op, fetching=False))
        total += nodes * sum(one["calls"] for one in calls if one["op"] == op) / max(1, everywhere)
    return int(total)


def _cost(call: dict[str, Any]) -> int:
    """Of a line that calls few times, one call held up by another program would outweigh all others."""
    if call["calls"] < _FEW and call.get("least_ns"):
        return int(call["calls"] * call["least_ns"])
    return int(call["ns"]) + int(call.get("around_ns", 0))
