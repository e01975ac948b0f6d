from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import CASTS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.evidence.steps import Backward
from stepscope.records.place import Place

_SAMPLES = frozenset({"multinomial", "normal"})
_FAR, _NEAR = 4000, 60
_ENOUGH, _MOST = 4, 40


@rule("rl.resampled-actions", severity="error")
def resampled_actions(run: Evidence) -> Iterator[Proof]:
    """The policy is updated with the log-probability of new actions, not of those that were taken.

    Why it matters: the advantage says how good the action was that the agent took. Another one, sampled during the
    update, has nothing to do with it, nor with the old log-probability: the policy is pushed at random.

    What to do: store the actions of the rollout: `new = policy(states).log_prob(actions)`.

    How it is found: an importance ratio, the exponential of new minus old log-probabilities, weighs something given.
    In at least four updates the new ones belong to samples that were drawn after the last optimizer step and that the
    old ones do not depend on.

    Bad:
        dist = policy(states)
        ratio = (dist.log_prob(dist.sample()) - old).exp()
    Good:
        ratio = (policy(states).log_prob(actions) - old).exp()
    """
    found: dict[Place, list[Origin]] = {}
    right: set[Place] = set()
    for backward in list(run.steps.backwards)[:_MOST]:
        for place, sample in _ratios(backward):
            if sample is None:
                right.add(place)
            else:
                found.setdefault(place, []).append(sample)
    for place, samples in found.items():
        if len(samples) < _ENOUGH or place in right:
            continue
        yield Proof(
            where=samples[0].place or place,
            message="the policy's new log-probability is that of actions sampled just now, not of the actions that "
            "were taken and rewarded",
            label="samples new actions during the update",
            evidence={"updates": len(samples), "op": samples[0].op},
            fix="store the actions with the rollout, and use them here: dist.log_prob(actions)",
            related=[(place, "compared with the log-probability of the actions taken")],
        )


def _ratios(backward: Backward) -> Iterator[tuple[Place, Origin | None]]:
    """(line of a ratio, the fresh sample its new log-probability is of)"""
    for ratio in () if backward.origin is None else backward.origin.ancestors(120):
        difference = ratio.inputs[0].back_through(CASTS) if ratio.op in ("exp", "exp_") and ratio.inputs else None
        if difference is None or difference.op != "sub" or len(difference.inputs) != 2 or ratio.place is None:
            continue
        new, old = difference.inputs
        if not new.requires_grad or old.requires_grad or not old.shape:
            continue
        before = {id(one) for one in old.ancestors(_FAR)}
        fresh = (
            one
            for one in new.ancestors(_NEAR)
            if one.op in _SAMPLES and one.step == backward.step and id(one) not in before
        )
        yield ratio.place, next((one for one in fresh if one.shape[:1] == new.shape[:1]), None)
