from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.common.ops import CASTS
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_sign import pulls
from stepscope.diagnose.loss_terms import constant_of, terms
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.evidence.steps import Backward
from stepscope.records.place import Place

_ERRORS = frozenset({"mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"})
_LAST = frozenset({"linear", "addmm", "matmul", "min", "minimum"})
_COST = re.compile(r"cost|penalt|energy|risk", re.I)
_LOWEST = 0.5
_ENOUGH, _FAR = 3, 3000


@rule("rl.actor-sign", severity="error")
def actor_sign(run: Evidence) -> Iterator[Proof]:
    """The actor is trained to choose the actions that its critic values least: the minus is missing.

    Why it matters: an optimizer makes a loss smaller. With `critic(s, actor(s)).mean()` as the loss, the actor looks
    for the worst action, and the return falls while both losses look fine.

    What to do: `loss = -critic(s, actor(s)).mean()`.

    How it is found: one optimizer trains a network on targets with a discounted next value (`r + gamma * q`). Another
    one, which does not step that network, steps on the network's plain output with a plus, in at least three steps.
    Targets that the script calls a cost are left out.

    Bad:
        actor_loss = critic(state, actor(state)).mean()
    Good:
        actor_loss = -critic(state, actor(state)).mean()
    """
    if run.optimizers.maximize:
        return
    critics = _critics(run)
    found: dict[Place, list[Backward]] = {}
    for number, backward in _stepped(run):
        weights = [those for other, those in critics if other != number]
        where = _raised(backward.origin, weights) if backward.origin is not None and weights else None
        if where is not None:
            found.setdefault(where, []).append(backward)
    for place, several in found.items():
        if len(several) < _ENOUGH:
            continue
        yield Proof(
            where=place,
            message="the actor's loss is the critic's value with a plus: training makes the actor choose the actions "
            "that the critic values least",
            label="a smaller loss is a worse action here",
            evidence={"steps": len(several), "loss": [one.loss for one in several[:4]]},
            edit=tensors.negated(place),
            fix="negate it",
        )


def _stepped(run: Evidence) -> Iterator[tuple[int, Backward]]:
    """The backward right before each step, with the number of the optimizer."""
    for step in run.steps.steps:
        if step.backwards and step.backwards[-1].accumulates:
            yield step.optimizer, step.backwards[-1]


def _critics(run: Evidence) -> list[tuple[int, frozenset[int]]]:
    """Networks that learn discounted values: the number of their optimizer, and their weights."""
    found: dict[tuple[int, frozenset[int]], int] = {}
    for number, backward in _stepped(run):
        for learned, target in _errors(backward.origin) if backward.origin is not None else ():
            if _is_discounted(target) and not _is_cost(run, target):
                key = number, frozenset(map(id, _weights(learned)))
                found[key] = found.get(key, 0) + 1
    return [key for key, times in found.items() if times >= _ENOUGH and key[1]]


def _errors(loss: Origin) -> Iterator[tuple[Origin, Origin]]:
    """(what is learned, its target) of the squared errors in a loss."""
    for term in terms(loss, inside_reductions=True):
        if term.origin.op in _ERRORS and len(term.origin.inputs) >= 2 and term.factor > 0:
            yield term.origin.inputs[0], term.origin.inputs[1]
    for error, signs in pulls(loss).values():
        inner = error.inputs[0].back_through(CASTS)
        if signs == {1} and len(inner.inputs) == 2:
            first, second = inner.inputs
            yield (first, second) if first.requires_grad else (second, first)


def _is_discounted(target: Origin) -> bool:
    """`r + gamma * (1 - done) * next_value`"""
    for past in target.ancestors(12):
        if past.op in ("add", "add_") and len(past.inputs) == 2:
            for part in past.inputs:
                factors = (
                    constant_of(one) for one in part.ancestors(6) if one.op in ("mul", "mul_") and len(one.inputs) == 1
                )
                if any(one is not None and _LOWEST <= one < 1 for one in factors) and _weights(part):
                    return True
    return False


def _is_cost(run: Evidence, target: Origin) -> bool:
    for past in target.ancestors(8):
        file = None if past.place is None else run.source.file(past.place.file)
        line = "" if file is None or past.place is None else file.lines[past.place.line - 1]
        if _COST.search(line):
            return True
    return False


def _weights(origin: Origin) -> list[Origin]:
    return [past for past in origin.ancestors(_FAR) if past.kind == "parameter"]


def _raised(loss: Origin, critics: list[frozenset[int]]) -> Place | None:
    """The line of a loss that has the plain output of one of these networks in it, with a plus."""
    for term in terms(loss, inside_reductions=True):
        last = term.origin.inputs[0] if term.origin.op in ("min", "minimum") and term.origin.inputs else term.origin
        if term.factor <= 0 or term.origin.op not in _LAST or not last.requires_grad or not term.reductions:
            continue
        near = {id(one) for one in last.inputs if one.kind == "parameter"}
        weights = {id(one) for one in _weights(last)}
        for critic in critics:
            if critic < weights and (near <= critic):
                return term.reductions[0].place
    return None
