from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_STEPS = 5


@rule("mem.retain-graph", severity="info")
def retain_graph(run: Evidence) -> Iterator[Proof]:
    """`retain_graph=True` keeps every step's graph although nothing uses it again.

    Why it matters: activations stay in memory until the loss is freed, which can double what a step needs.

    What to do: leave `retain_graph` out; if backward then complains, a tensor of an earlier step should be detached.

    How it is found: in each of the last steps one single backward ran, with `retain_graph=True`.

    Bad:
        loss.backward(retain_graph=True)
    Good:
        loss.backward()
    """
    steps = list(run.steps.steps)[-_STEPS:]
    if len(steps) < _STEPS or len({step.optimizer for step in steps}) > 1:
        return
    if not all(len(step.backwards) == 1 and step.backwards[0].retain_graph for step in steps):
        return
    if any(step.backwards[0].create_graph for step in steps):
        return
    yield Proof(
        where=steps[-1].backwards[0].place,
        message="the graph is retained after backward, and nothing runs through it again",
        label=f"one backward a step, {_STEPS} steps in a row",
        evidence={"steps": _STEPS},
        edit=edits.not_keyword(steps[-1].backwards[0].place, "retain_graph"),
        fix="leave out retain_graph=True",
    )
