from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose import edits
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.idle_terms import idle_terms
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.gradient_flow import Severed
from stepscope.evidence.origins import Origin

_ENOUGH = 5
_MANY = 100
_SAID = {
    "detach": "is cut off from the graph here",
    "no_grad": "runs with gradients off here",
    "rebuilt": "is copied into a new tensor here, which has no history",
    "host": "leaves torch and comes back as a new tensor here",
    "steps": "goes through an op without a derivative here",
}
_FIXES = {
    "detach": "remove the .detach() (or .data) on this line",
    "no_grad": "run this part outside torch.no_grad(), or remove its parameters from the optimizer",
    "rebuilt": "use the tensor itself instead of a new one made from it",
    "host": "stay in torch: numpy() and item() end the graph",
    "steps": "compute the loss from the values before this op (the scores, not their argmax); keep the op for metrics",
}


@rule(
    "grad.detached-needed",
    severity="error",
    follows=("opt.wrong-params", "opt.stale-params", "opt.step-before-backward", "autograd.*"),
)
def detached_needed(run: Evidence) -> Iterator[Proof]:
    """The gradient is cut off before a part of the model that the optimizer should train.

    Why it matters: that part stays at its random start while the rest trains on top of it, and no error is raised.

    What to do: remove the `detach()`, `.data`, `no_grad()` or the round trip through NumPy; if the part is meant to
    stay as it is, leave it out of the optimizer.

    How it is found: parameters of an optimizer never got a gradient and never changed, though the loss was computed
    from them; on the way between lies an op that read something with a gradient and gave something without. Or a term
    that is added to the loss changes its value and has no gradient in at least three backwards, for the same reason.

    Bad:
        z = encoder(x).detach()
        loss = F.mse_loss(decoder(z), x)
    Good:
        z = encoder(x)
        loss = F.mse_loss(decoder(z), x)
    """
    yield from _of_terms(run)
    count = run.steps.backward_count
    if count < _ENOUGH or not (run.over or count >= _MANY):
        return
    groups: dict[Any, list[Severed]] = {}
    for cut in run.gradient_flow.cuts:
        parameter = cut.parameter
        if not parameter.alive or parameter.gradients or parameter.changed is not False:
            continue
        if not any(made.holds(parameter) and run.steps.count_of(made.number) >= 3 for made in run.optimizers.made):
            continue
        if _is_of_another_step(run, cut):
            continue
        groups.setdefault(_where(cut), []).append(cut)
    seen: set[int] = set()
    for where, cuts in groups.items():
        fresh = {id(cut.parameter): cut.parameter for cut in cuts if id(cut.parameter) not in seen}
        lost = list(fresh.values())
        seen.update(map(id, lost))
        if not lost:
            continue
        names = [p.title for p in lost]
        owners = [owner[0] for p in lost if (owner := run.models.owner_of(p)) is not None]
        way = cuts[0].way
        yield Proof(
            where=where,
            message=f"no gradient reaches {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}: what comes "
            f"from there {_SAID[way]}",
            label=f"{len(lost)} parameters of the optimizer never change",
            evidence={"parameters": names[:20], "op": cuts[0].origin.op, "backwards": count},
            edit=_joined_again(where, way),
            fix=_FIXES[way],
            related=[(cuts[0].loss, "backward starts here")] if cuts[0].loss is not None else (),
            severity="info" if owners and all(owner.loaded for owner in owners) else None,
        )


def _is_of_another_step(run: Evidence, cut: Severed) -> bool:
    """Whether the backward belongs to the step of another optimizer, and one of its own was cut as well: a GAN's
    discriminator must not train the generator, but the generator's own loss must."""
    mine = {
        step.backwards[-1].index
        for made in run.optimizers.holding(cut.parameter)
        for step in run.steps.of_optimizer(made.number)
        if step.backwards
    }
    others = run.gradient_flow.cut_of(cut.parameter)
    return cut.backward not in mine and any(one.backward in mine for one in others)


def _of_terms(run: Evidence) -> Iterator[Proof]:
    """A part of the loss that counts when it is printed, and not when it is trained."""
    for term in idle_terms(run):
        if term.way not in _SAID or term.way == "steps":
            continue
        yield Proof(
            where=term.place if term.way != "no_grad" else _around(term.cut),
            message=f"a term of the loss trains nothing: its input {_SAID[term.way]}",
            label="no gradient beyond this",
            evidence={"op": term.cut.op, "backwards": term.backwards},
            fix=_FIXES[term.way],
            related=[(term.loss, "backward starts here")] if term.loss is not None else (),
            severity="warning",
        )


def _where(cut: Severed) -> Any:
    """The line of the cut; for a `no_grad`, the block or decorator itself."""
    return cut.origin.place if cut.way != "no_grad" else _around(cut.origin)


def _around(origin: Origin) -> Any:
    """The `no_grad` block or decorator around an op, seen from the outermost module inside it."""
    from stepscope.diagnose.crash.graph import no_grad_around

    visit, place = origin.visit, origin.place
    while visit is not None and not visit.grad:
        place = visit.place or place
        visit = visit.parent
    found = None if place is None else no_grad_around(place.site)
    return (found.file, found.line) if found is not None else place


def _joined_again(where: Any, way: str) -> edits.Plan | None:
    if way == "detach":
        return tensors.without_method(where, ("detach", "data"))
    return tensors.without_no_grad(where) if way == "no_grad" else None
