from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import Term, terms
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_STEPS = 3


@rule("rl.entropy-sign", severity="error")
def entropy_sign(run: Evidence) -> Iterator[Proof]:
    """The entropy of a policy is added to the loss, so training makes the policy less random.

    Why it matters: the entropy bonus is there to keep the policy exploring. With a plus in a loss that is minimized it
    does the opposite: the policy settles on one action early.

    What to do: subtract it: `loss = policy_loss + 0.5 * value_loss - 0.01 * entropy`.

    How it is found: the loss is taken apart. It has a log-probability of a `torch.distributions` object, and what its
    `entropy()` returned enters with a plus.

    Bad:
        loss = policy_loss + 0.01 * dist.entropy().mean()
    Good:
        loss = policy_loss - 0.01 * dist.entropy().mean()
    """
    if run.optimizers.maximize:
        return
    wrong: list[Term] = []
    for backward in list(run.steps.backwards)[:20]:
        if backward.origin is None:
            continue
        parts = list(terms(backward.origin, inside_reductions=True, until=lambda one: _calls(run, one, "entropy")))
        found = [part for part in parts if _calls(run, part.origin, "entropy") and part.origin.requires_grad]
        if not found or not any(_calls(run, one, "log_prob") for one in backward.origin.ancestors(600)):
            continue
        if any(part.factor < 0 for part in found):
            return
        wrong += [part for part in found if part.factor > 0][:1]
    if len(wrong) < _STEPS:
        return
    join = wrong[0].joins[-1] if wrong[0].joins else wrong[0].origin
    where = next((one for one in wrong[0].joins if _is_outside(run, one)), join)
    yield Proof(
        where=where.place,
        message="the policy's entropy enters the loss with a plus: training makes the policy less random",
        label="a bonus in a loss has a minus",
        evidence={"steps": len(wrong), "factor": wrong[0].factor},
        edit=tensors.sign_turned(where.place),
        fix="subtract the entropy: loss = policy_loss - coefficient * entropy",
        related=[(wrong[0].origin.place, "computed here")],
    )


def _is_outside(run: Evidence, origin: Origin) -> bool:
    return not _calls(run, origin, "entropy") and not _calls(run, origin, "log_prob")


def _calls(run: Evidence, origin: Origin, method: str) -> bool:
    """Whether the user's expression that led to this op is a call of such a method."""
    return origin.place is not None and _called(run, origin.place) == method


def _called(run: Evidence, place: Place) -> str:
    call = run.source.call(place)
    return "" if call is None else getattr(call.func, "attr", "")
