from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import takewhile

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import Source
from stepscope.evidence.optimizers import Made

_STATELESS = frozenset(("SGD", "ASGD"))
_OFTEN = 3


@rule("opt.recreated", severity="warning")
def recreated(run: Evidence) -> Iterator[Proof]:
    """A new optimizer is created repeatedly for the same parameters.

    Why it matters: momentum and the running averages of Adam start from nothing each time, and a scheduler keeps
    changing the learning rate of the old one.

    What to do: create the optimizer once, before the loop.

    How it is found: the same line has made at least three optimizers with the same settings over the same parameters,
    each of them stepped, and nothing else wrote to the parameters in between.

    Bad:
        for epoch in range(epochs):
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
            train(model, optimizer)
    Good:
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for epoch in range(epochs):
            train(model, optimizer)
    """
    groups: dict[object, list[Made]] = {}
    for made in run.optimizers.made:
        if made.place is not None and made.parameters and run.steps.count_of(made.number):
            key = (made.place, made.type, tuple(id(p) for p in made.parameters[:8]), len(made.parameters))
            groups.setdefault(key, []).append(made)
    for group in groups.values():
        first = group[0]
        if _in_a_row(group) < _OFTEN or not all(p.alive for p in first.parameters):
            continue
        updates = run.steps.count_of(first.number)
        stateless = first.type in _STATELESS and not first.defaults.get("momentum")
        yield Proof(
            where=first.place,
            message=f"a new {first.type} for the same parameters is created repeatedly: its state is lost each time",
            label=f"made {len(group)} times, each for {updates} step{'s' if updates > 1 else ''}",
            evidence={"made": len(group), "steps_each": updates, "settings": dict(first.defaults)},
            edit=_once(run, first),
            fix="create the optimizer once, before the loop",
            severity="info" if stateless else None,
        )


def _in_a_row(group: list[Made]) -> int:
    """How many, from the first on, have the same settings and found the weights as the one before had left them.

    Later ones may only seem to be different: steps that were not looked at have moved the weights.
    """
    first = group[0]
    others = takewhile(lambda made: made.defaults == first.defaults and not made.touched, group[1:])
    return 1 + sum(1 for _ in others)


def _once(run: Evidence, made: Made) -> edits.Plan:
    """Moved before the outermost loop around it, in its own function."""

    def plan(source: Source) -> Sequence[edits.Span] | None:
        found = edits.find(source, made.place)
        if found is None:
            return None
        file, node = found
        loops = []
        for outer in file.up(node):
            if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                break
            if isinstance(outer, ast.For | ast.While):
                loops.append(outer)
        return edits.move_before(made.place, (file, loops[-1]))(source) if loops else None

    return plan
