from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.gradient_reach import Reach
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_ROUNDS = 3
_DISCOUNT = re.compile(r"\b\w*(gamma|discount)\w*\b|\br(ew(ard)?s?)?\b.*\b0?\.9\d*\b", re.I)
_LOG_PROB = re.compile(r"log_?p(rob|i)?s?\b|log_prob", re.I)
_ADVANTAGE = re.compile(
    r"\b\w*(adv|advantage|delta|td_error|td_err)\w*\b|(returns?|rewards?|ret|R|G)\s*-\s*\w*(value|baseline|critic)",
    re.I,
)
_DIFFERENCES = frozenset({"sub", "rsub", "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"})


@rule("grad.missing-detach", severity="warning")
def missing_detach(run: Evidence) -> Iterator[Proof]:
    """A target, an advantage or a fake sample is not detached, so the gradient goes where it should not.

    Why it matters: the network is pulled toward its own moving target from both sides, or a generator is
    differentiated for nothing in every step of its critic.

    What to do: `target.detach()`, `fake.detach()`, or compute it under `torch.no_grad()`.

    How it is found: backward gave gradients to a network whose optimizer threw them away each time, although it comes
    before the one that used them; or a discounted value, or an advantage next to a log-probability, carries a gradient.

    Bad:
        d_loss = criterion(discriminator(fake), zeros)
    Good:
        d_loss = criterion(discriminator(fake.detach()), zeros)
    """
    yield from _thrown_away(run)
    yield from _moving_targets(run)


def _thrown_away(run: Evidence) -> Iterator[Proof]:
    """Gradients for the layers before the trained network, cleared unused every time."""
    rounds: dict[tuple[Place | None, int, int], list[Reach]] = {}
    for reach in run.gradient_reach.all:
        for before, after in reach.feeds:
            if not {before, after} <= reach.optimizers or not _used(run, reach, after):
                continue
            if not _used(run, reach, before) or _mixed(run, reach, before, after):
                rounds.setdefault((reach.backward.place, before, after), []).append(reach)
    for (place, before, after), reaches in rounds.items():
        at_place = [r for r in run.gradient_reach.all if r.backward.place == place]
        settled = [r for r in at_place if r.backward.index < run.steps.backward_count - 2]
        if len(reaches) < _ROUNDS or len(reaches) < len(settled):
            continue
        visit = reaches[-1].feeds[before, after]
        mixed = _mixed(run, reaches[0], before, after)
        fate = "its optimizer steps with them" if mixed else "they are discarded"
        yield Proof(
            where=visit.place,
            severity=None if mixed else "info",
            message=f"the input of {visit.type} is not detached: backward also computes gradients for what made it, "
            f"and {fate}",
            label=f"{len(reaches)} times: gradients of a loss it is not trained for",
            evidence={"rounds": len(reaches), "backward_line": None if place is None else place.site.line},
            edit=tensors.argument_appended(visit.place, 0, "input", ".detach()"),
            fix="pass it .detach()ed, or make it under torch.no_grad()",
            related=[(place, "this backward reaches it")],
        )


def _mixed(run: Evidence, reach: Reach, before: int, after: int) -> bool:
    """Whether the step of the one before uses this gradient together with that of another loss through the same
    network, one that the network after it does not learn from: a generator's step, its critic's gradient."""
    step = next((s.time for s in run.steps.steps if s.optimizer == before and s.time > reach.backward.time), None)
    return (
        step is not None
        and _used(run, reach, before)
        and any(
            {before, after} <= other.optimizers
            and reach.backward.time < other.backward.time < step
            and other.backward.place != reach.backward.place
            and not _used(run, other, after)
            for other in run.gradient_reach.all
        )
    )


def _used(run: Evidence, reach: Reach, number: int) -> bool:
    """Whether the optimizer stepped before its gradients were cleared."""
    after = reach.backward.time
    step = next((s.time for s in run.steps.steps if s.optimizer == number and s.time > after), None)
    cleared = next(
        (z.time for z in run.optimizers.zeroings if z.optimizer in (number, None) and z.time > after), float("inf")
    )
    return step is not None and step < cleared


def _moving_targets(run: Evidence) -> Iterator[Proof]:
    seen: dict[tuple[Place, str], int] = {}
    for backward in list(run.steps.backwards)[1:6]:
        if backward.origin is None or not backward.accumulates:
            continue
        for origin in backward.origin.ancestors(3000, through=lambda o: o.requires_grad):
            kind = _suspect(run, origin)
            if kind is not None and origin.place is not None:
                seen[origin.place, kind] = seen.get((origin.place, kind), 0) + 1
    for (place, kind), times in seen.items():
        if times < _ROUNDS:
            continue
        target = kind == "target"
        yield Proof(
            where=place,
            message="the discounted target carries a gradient: the network is also trained to move its target"
            if target
            else "the advantage carries a gradient: the policy's loss also trains the critic",
            label="both sides of this difference have gradients" if target else "both factors have gradients",
            evidence={"kind": kind, "backwards": times},
            fix="compute the target under torch.no_grad(), or .detach() it"
            if target
            else "use advantage.detach() here",
        )
        return


def _suspect(run: Evidence, origin: Origin) -> str | None:
    if origin.place is None or len(origin.inputs) < 2 or not all(o.requires_grad for o in origin.inputs[:2]):
        return None
    if origin.op in _DIFFERENCES and any(_is_discounted(side) for side in origin.inputs[:2]):
        return "target"
    if origin.op == "mul" and not _are_of_one(*origin.inputs[:2]):
        text = origin.place.site.text
        if _LOG_PROB.search(text) and _ADVANTAGE.search(text):
            return "advantage"
    return None


def _are_of_one(one: Origin, other: Origin) -> bool:
    """Whether both factors were computed from the same tensor alone, as in the entropy `-(p * p.log())`."""
    behind = list(_line_of(one))
    return any(past is known for past in _line_of(other) for known in behind)


def _line_of(origin: Origin) -> Iterator[Origin]:
    """It and what it was made of, as long as that is one tensor with a gradient."""
    for _ in range(8):
        yield origin
        learned = [past for past in origin.inputs if past.requires_grad]
        if len(learned) != 1:
            return
        origin = learned[0]


def _is_discounted(side: Origin) -> bool:
    """Computed as `reward + gamma * value`, with the gradient of the value."""
    for past in side.ancestors(8, through=lambda o: o.requires_grad and o.op in ("add", "mul", "rsub", "sub", "")):
        if past.op == "mul" and past.requires_grad and past.place is not None:
            return bool(_DISCOUNT.search(past.place.site.text))
    return False
