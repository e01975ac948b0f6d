from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name, dotted
from stepscope.evidence.evaluation_graphs import EvaluationGraphs

if TYPE_CHECKING:
    from stepscope.records.place import Place
    from stepscope.records.step import Site

_STEPS = 8


@rule("mem.loss-graph-kept", severity="warning", follows=("autograd.graph-freed",))
def loss_graph_kept(run: Evidence) -> Iterator[Proof]:
    """A running total of losses keeps the graph of every step, so memory grows until the epoch ends.

    Why it matters: each step's graph hangs on the total and is never freed; long epochs run out of memory.

    What to do: add the number, not the tensor: `total += loss.item()`, or `loss.detach()`.

    How it is found: step after step a line takes up what it made itself in an earlier step, together with its graph. Or
    an evaluation in eval mode, with gradients left on, adds up or stacks the results of at least eight batches with
    their graphs, and no backward uses them.

    Bad:
        total += loss
    Good:
        total += loss.item()
    """
    for place, steps in run.retained_graphs.dragged.items():
        longest = _longest_run(sorted(steps))
        if longest < _STEPS:
            continue
        yield Proof(
            where=place,
            message="this line keeps the graph of every step alive",
            label=f"in {longest} consecutive steps its own earlier result came back with its graph",
            evidence={"steps_in_a_row": longest},
            edit=tensors.last_added(place, ".item()"),
            fix="use loss.item() or loss.detach() here",
        )
    yield from _of_evaluations(run)


def _of_evaluations(run: Evidence) -> Iterator[Proof]:
    for one in run[EvaluationGraphs].all:
        if one.longest >= _STEPS:
            yield Proof(
                where=_collected(run, one.place) or one.place,
                message="the evaluation keeps the graph of every batch: gradients are on, and this line holds the "
                "results",
                label=f"{one.longest} batches with their activations, and no backward uses them",
                evidence={"batches": one.longest, "passes": one.passes},
                fix="evaluate inside `with torch.no_grad():`, and collect .item() or .detach()",
            )


def _collected(run: Evidence, place: Place) -> Site | None:
    """The line that puts each result into the list which is joined at this place."""
    file, joined = run.source.file(place.file), run.source.call(place)
    scope = None if file is None or joined is None else file.enclosing(joined, ast.FunctionDef, ast.Module)
    if file is None or joined is None or scope is None or not joined.args:
        return None
    name = dotted(joined.args[0])
    appends = (node for node in ast.walk(scope) if called_name(node) == "append" and isinstance(node, ast.Call))
    lines = [node for node in appends if name and dotted(node.func) == f"{name}.append"]
    return file.site(lines[0]) if len(lines) == 1 else None


def _longest_run(steps: list[int]) -> int:
    longest = current = 1
    for before, now in pairwise(steps):
        current = current + 1 if now - before == 1 else 1
        longest = max(longest, current)
    return longest
