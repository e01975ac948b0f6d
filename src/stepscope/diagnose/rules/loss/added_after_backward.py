from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import Term, terms
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.steps import Backward
from stepscope.records.place import Place

_ENOUGH = 3


@rule("loss.added-after-backward", severity="error")
def added_after_backward(run: Evidence) -> Iterator[Proof]:
    """A term is added to the loss after `backward()` has run, so it is printed and never trained.

    Why it matters: `backward()` sees the loss as it is when it is called. A penalty added later changes the number in
    the log and leaves the weights as they are.

    What to do: add all terms first, then call `backward()`.

    How it is found: in at least three steps a value that was read is the loss of the last backward plus a term with a
    gradient that no backward has started from or gone through, and the sum takes the name of that loss.

    Bad:
        loss = F.mse_loss(out, x)
        loss.backward()
        loss = loss + 0.01 * code.abs().mean()
    Good:
        loss = F.mse_loss(out, x) + 0.01 * code.abs().mean()
        loss.backward()
    """
    found: dict[Place, list[tuple[Term, Backward]]] = {}
    roots = {id(one.origin): one for one in run.steps.backwards if one.origin is not None}
    for read in run.host_reads.all:
        sum_of = read.origin
        if id(sum_of) in roots or not sum_of.requires_grad or sum_of.shape not in ((), (1,)):
            continue
        parts = list(terms(sum_of, until=lambda one: id(one) in roots))
        trained = [roots[id(part.origin)] for part in parts if id(part.origin) in roots]
        late = [part for part in parts if _is_new(part, trained)]
        if len(trained) != 1 or not late or not late[0].joins:
            continue
        place = late[0].joins[-1].place
        if place is not None and _name_of(run, trained[0]) in _names_at(run, place):
            found.setdefault(place, []).append((late[0], trained[0]))
    for place, several in found.items():
        if len({id(backward) for _, backward in several}) < _ENOUGH:
            continue
        term, backward = several[0]
        yield Proof(
            where=place,
            message="this term is added to the loss after backward() has run: it is reported but never trained",
            label=f"adds {term.value:.3g} to the number only" if term.value is not None else "adds to the number only",
            evidence={"steps": len(several), "term": term.value},
            fix="move this line before backward()",
            related=[(backward.place, "backward runs here")] if backward.place is not None else (),
        )


def _is_new(part: Term, trained: list[Backward]) -> bool:
    """It has a gradient that could be followed, and the backward did not go through it."""
    origin = part.origin
    if not trained or not origin.requires_grad or not origin.op or origin.op.startswith("unseen:"):
        return False
    root = trained[0].origin
    is_of_step = origin.step == trained[0].step
    return is_of_step and root is not None and not any(past is origin for past in root.ancestors(400))


def _name_of(run: Evidence, backward: Backward) -> str:
    call = run.source.call(backward.place)
    return ast.unparse(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else "?"


def _names_at(run: Evidence, place: Place) -> list[str]:
    """The names that the statement at a place assigns to."""
    file = run.source.file(place.site.file)
    found: list[str] = []
    for node in file.walk(ast.Assign, ast.AugAssign) if file is not None else ():
        if node.lineno <= place.line <= (node.end_lineno or node.lineno):
            found += [ast.unparse(one) for one in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    return found
