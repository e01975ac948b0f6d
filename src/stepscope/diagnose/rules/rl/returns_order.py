from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.return_order import ReturnOrders
from stepscope.records.place import Place
from stepscope.records.step import Site

_TIMES = 2


@rule("rl.returns-order", severity="error")
def returns_order(run: Evidence) -> Iterator[Proof]:
    """Discounted returns are in the wrong order: an action is credited with the past, or with another step's return.

    Why it matters: the return of a step is the sum of the later rewards. Summed up from the first reward, or left in
    the order of the backward loop, it belongs to another action, and the policy learns from noise.

    What to do: go through the rewards from the end and put each return in front:
    `returns.insert(0, running)`, or reverse the list afterwards.

    How it is found: a list of returns and the rewards they were made of are set side by side. Each return is its reward
    plus the discounted return before it, not after it.

    Bad:
        for r in reversed(rewards):
            running = r + gamma * running
            returns.append(running)
    Good:
        for r in reversed(rewards):
            running = r + gamma * running
            returns.insert(0, running)
    """
    for found in run[ReturnOrders].all:
        wrong = found.reversed + found.forward
        if wrong < _TIMES or found.right:
            continue
        loop = _loop(run, found.place)
        forward = found.forward > found.reversed and not (loop is not None and loop[2])
        yield Proof(
            where=found.place if loop is None else loop[0] if forward else loop[1],
            message="the returns are summed up from the first reward: each action is credited with what came before it"
            if forward
            else "the returns are in the order of the backward loop: the first action gets the last return",
            label=f"discount {found.discount:g}, the wrong way round",
            evidence={"episodes": wrong, "discount": found.discount, "returns": found.first},
            fix="go through reversed(rewards), and put each return in front: returns.insert(0, running)"
            if forward
            else "put each return in front (returns.insert(0, running)), or reverse the list before it is used",
            related=[(found.place, "used here")],
        )
        return


def _loop(run: Evidence, place: Place) -> tuple[Site, Site, bool] | None:
    """The loop that fills the list: its first line, the line that appends, and whether it goes backward."""
    file = run.source.file(place.file)
    if file is None:
        return None
    best: tuple[int, ast.For, ast.Call] | None = None
    for call in file.calls("append"):
        loop = file.enclosing(call, ast.For)
        sums = [] if loop is None else [node for node in ast.walk(loop) if _is_discounted_sum(node)]
        if loop is not None and sums and (best is None or abs(call.lineno - place.line) < best[0]):
            best = abs(call.lineno - place.line), loop, call
    if best is None:
        return None
    backward = "reversed" in ast.unparse(best[1].iter) or "::-1" in ast.unparse(best[1].iter)
    return file.site(best[1].iter), file.site(best[2]), backward


def _is_discounted_sum(node: ast.AST) -> bool:
    """a + b * c"""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return False
    return any(isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult) for side in (node.left, node.right))
