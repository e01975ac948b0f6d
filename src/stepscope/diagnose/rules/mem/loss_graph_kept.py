from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.evaluation_graphs import EvaluationGraphs

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
                where=one.place,
                message="the evaluation keeps the graph of every batch: gradients are on, and this line holds the "
                "results",
                label=f"{one.longest} batches with their activations, and no backward uses them",
                evidence={"batches": one.longest, "passes": one.passes},
                fix="evaluate inside `with torch.no_grad():`, and collect .item() or .detach()",
            )


def _longest_run(steps: list[int]) -> int:
    longest = current = 1
    for before, now in pairwise(steps):
        current = current + 1 if now - before == 1 else 1
        longest = max(longest, current)
    return longest
