from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import LAYERS
from stepscope.diagnose import edits
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import source, where_applied
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall
from stepscope.evidence.origins import Origin

_LOGS = frozenset({"log_softmax", "log", "logsigmoid", "logsumexp", "log1p", "log2", "log10", "xlogy", "logaddexp"})


@rule("loss.nll-on-logits", severity="error")
def nll_on_logits(run: Evidence) -> Iterator[Proof]:
    """`nll_loss` gets raw scores or probabilities where it expects log-probabilities.

    Why it matters: `nll_loss` only picks the value at the target and turns its sign. Of raw scores it is negative and
    has no bound below: the model learns to make all scores large. Of probabilities its gradient is far too weak.

    What to do: apply `log_softmax` to the output, or use `cross_entropy`, which takes raw scores.

    How it is found: the exponentials of log-probabilities add up to 1 in each row. Here they do not, and no logarithm
    was taken between the last layer and the loss.

    Bad:
        loss = F.nll_loss(model(x), y)
    Good:
        loss = F.nll_loss(F.log_softmax(model(x), dim=1), y)
    """
    for calls in run.losses.by_place("nll_loss", "ctc_loss"):
        looked = [call for call in calls if call.look is not None]
        wrong = [call for call in looked if _is_wrong(call)]
        if not wrong or len(wrong) < len(looked) or (len(wrong) < 2 and not run.over):
            continue
        call = wrong[0]
        look, made = call.look, source(call.input) if call.input is not None else None
        if look is None or made is None:
            continue
        squashed = made.op in ("softmax", "sigmoid")
        what = f"probabilities ({made.op})" if squashed else "raw scores"
        applied = where_applied(run, made)
        built = None if call.visit is None or not call.visit.module.is_torchs else call.visit.module.made
        yield Proof(
            where=applied if squashed else built or call.place,
            message=f"{call.name} gets {what} where it expects log-probabilities",
            label=f"values between {look.low:.2g} and {look.high:.2g}; of log-probabilities none is above 0",
            evidence={"calls": len(wrong), "input": [look.low, look.high], "logsumexp": look.logsumexp},
            edit=tensors.called_otherwise(applied, tensors.LOGS) if squashed else _cross_entropy(call),
            fix="use log_softmax instead of softmax here" if squashed else _fix(call),
            related=[
                (call.place if squashed else applied, f"{call.name} takes logarithms" if squashed else "made here"),
                *([(call.place, "the loss is computed here")] if built is not None and not squashed else []),
            ],
        )


def _fix(call: LossCall) -> str:
    if call.name == "ctc_loss":
        return "apply .log_softmax(2) to the scores first"
    return "use cross_entropy (nn.CrossEntropyLoss) instead, or apply F.log_softmax(..., dim=1) first"


def _is_wrong(call: LossCall) -> bool:
    look = call.look
    if look is None or look.logsumexp is None or call.input is None:
        return False
    if max(map(abs, look.logsumexp)) < 0.1:
        return False
    return not _has_log(call.input)


def _has_log(origin: Origin) -> bool:
    """A logarithm lies between the last layer and here."""
    found = origin.ancestors(200, through=lambda one: one.op not in LAYERS)
    return any(one.op in _LOGS or one.op.startswith("unseen") for one in found)


def _cross_entropy(call: LossCall) -> edits.Plan | None:
    if call.name != "nll_loss":
        return None
    made = None if call.visit is None else call.visit.module.made
    names = {"nll_loss": "cross_entropy", "NLLLoss": "CrossEntropyLoss"}
    return edits.first_of(tensors.called_otherwise(call.place, names), tensors.called_otherwise(made, names))
