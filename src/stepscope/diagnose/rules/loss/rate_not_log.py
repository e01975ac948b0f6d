from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import source, where_applied
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall

_NEVER_NEGATIVE = frozenset({"softplus", "relu", "relu_", "exp", "square", "abs", "relu6"})
_UNBOUNDED = frozenset({"linear", "addmm", "tanh", "conv1d", "conv2d"})


@rule("loss.rate-not-log", severity="error", follows=("loss.swapped-args",))
def rate_not_log(run: Evidence) -> Iterator[Proof]:
    """`poisson_nll_loss` gets a rate where it expects its logarithm, or vice versa.

    Why it matters: with `log_input=True`, the default, the input is exponentiated. A model that ends in softplus or exp
    gives the rate itself, so the loss fits the exponential of it; every prediction is far off, and no rate below 1 can
    be learned. With `log_input=False` a raw score that is negative is not a rate at all.

    What to do: pass `log_input=False`, or let the model give the logarithm: no activation at the end.

    How it is found: what the loss gets comes straight from an activation that is never negative while `log_input` is
    on; or from a linear layer, with negative values among it, while it is off.

    Bad:
        loss = nn.PoissonNLLLoss()(F.softplus(model(x)), y)
    Good:
        loss = nn.PoissonNLLLoss(log_input=False)(F.softplus(model(x)), y)
    """
    for calls in run.losses.by_place("poisson_nll_loss"):
        wrong = [(call, said) for call in calls if (said := _fault(call))]
        looked = [call for call in calls if call.look is not None]
        if not wrong or len(wrong) < 0.8 * len(looked) or (len(wrong) < 2 and not run.over):
            continue
        call, said = wrong[0]
        made = None if call.input is None else source(call.input)
        is_log = bool(call.arguments.get("log_input", True))
        built = None if call.visit is None or not call.visit.module.is_torchs else call.visit.module.made
        yield Proof(
            where=built or call.place,
            message=f"poisson_nll_loss expects {'the logarithm of the rate' if is_log else 'the rate'} and gets {said}",
            label=f"log_input is {is_log}",
            evidence={"calls": len(wrong), "low": call.look.low if call.look else None, "log_input": is_log},
            fix=f"pass log_input={not is_log}" + (", or leave out the last activation" if is_log else ""),
            related=[(where_applied(run, made), "this is the rate")] if is_log and made is not None else (),
        )


def _fault(call: LossCall) -> str:
    look, made = call.look, None if call.input is None else source(call.input)
    if look is None or made is None:
        return ""
    if call.arguments.get("log_input", True):
        return f"the output of {made.op.rstrip('_')}, a rate" if made.op in _NEVER_NEGATIVE and look.low >= 0 else ""
    return "raw scores, some of them negative" if made.op in _UNBOUNDED and look.low < 0 else ""
