from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import CASTS, VIEWS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.evidence.steps import Backward
from stepscope.records.place import Place

_ENOUGH = 4
_REUSED = 3
_MOST = 40


@rule("rl.ratio-always-one", severity="error")
def ratio_always_one(run: Evidence) -> Iterator[Proof]:
    """The old log-probabilities are those of the current policy, so the ratio is always 1.

    Why it matters: an importance ratio compares the policy that acted with the one that is being trained. Recomputed
    in every update it is exactly 1, the clipping never works, and reusing the batch pushes the policy too far.

    What to do: compute the old log-probabilities once, when the actions are taken, and keep them for all updates.

    How it is found: the exponential of new minus old log-probabilities weighs the same advantages in at least three
    optimizer steps, and each time the old ones were computed after the last step: by the policy as it is.

    Bad:
        for _ in range(epochs):
            new = policy(states).log_prob(actions)
            ratio = torch.exp(new - new.detach())
    Good:
        old = policy(states).log_prob(actions).detach()
        for _ in range(epochs):
            ratio = torch.exp(policy(states).log_prob(actions) - old)
    """
    found: dict[Place | None, list[tuple[Origin, Origin, int]]] = {}
    for backward in list(run.steps.backwards)[:_MOST]:
        for ratio, old, weight in _ratios(backward):
            found.setdefault(ratio.place, []).append((old, weight, backward.step))
    for place, several in found.items():
        fresh = [one for one in several if _is_current(one[0], one[2])]
        steps: dict[int, set[int]] = {}
        for _, weight, step in fresh:
            steps.setdefault(id(weight), set()).add(step)
        reused = max((len(one) for one in steps.values()), default=0)
        if place is None or len(fresh) < _ENOUGH or len(fresh) < len(several) or reused < _REUSED:
            continue
        old = fresh[0][0]
        yield Proof(
            where=place,
            message="the ratio is always 1: the old log-probabilities are computed by the current policy",
            label="new and old come from the same weights",
            evidence={"updates": len(fresh), "reused": reused},
            fix="compute the old log-probabilities once, before the updates",
            related=[(old.place, "the old ones")] if old.place is not None and old.place != place else (),
        )


def _ratios(backward: Backward) -> Iterator[tuple[Origin, Origin, Origin]]:
    """exp(new - old) times something given: the ratio, old, and what it weighs."""
    loss = backward.origin
    near = [] if loss is None else list(loss.ancestors(120))
    for product in (one for one in near if one.op in ("mul", "multiply") and len(one.inputs) == 2):
        learned, given = sorted(product.inputs, key=lambda one: not one.requires_grad)
        ratio = learned.back_through(VIEWS)
        difference = ratio.inputs[0].back_through(CASTS) if ratio.op == "exp" and ratio.inputs else None
        if given.requires_grad or not given.shape or difference is None or difference.op != "sub":
            continue
        if (
            len(difference.inputs) == 2
            and difference.inputs[0].requires_grad
            and not difference.inputs[1].requires_grad
        ):
            yield ratio, difference.inputs[1], given.back_through(VIEWS)


def _is_current(old: Origin, step: int) -> bool:
    """It was computed from parameters after the optimizer's last step, behind copies and selections."""
    made = old.back_through(VIEWS)
    return made.step == step and bool(made.inputs) and made.op != "exp" and _of_policy(old)


def _of_policy(old: Origin) -> bool:
    return any(one.kind == "parameter" for one in old.ancestors(400))
