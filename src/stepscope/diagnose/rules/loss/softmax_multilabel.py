from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import source, where_applied
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall


@rule(
    "loss.softmax-multilabel",
    severity="error",
    follows=("model.final-softmax-1col", "loss.double-sigmoid", "loss.swapped-args"),
)
def softmax_multilabel(run: Evidence) -> Iterator[Proof]:
    """Samples with several labels are compared with a softmax, whose scores add up to 1.

    Why it matters: a softmax makes the classes compete. A sample with three labels can give each at most a third, and
    one with none must still give all of it away, so the binary loss has a floor that no training lowers.

    What to do: use a sigmoid, or better `binary_cross_entropy_with_logits` on the raw scores.

    How it is found: `binary_cross_entropy` gets the output of a softmax, whose rows add up to 1, and the rows of the
    targets do not.

    Bad:
        loss = F.binary_cross_entropy(model(x).softmax(1), tags)
    Good:
        loss = F.binary_cross_entropy_with_logits(model(x), tags)
    """
    for calls in run.losses.by_place("binary_cross_entropy"):
        looked = [call for call in calls if call.look is not None]
        wrong = [call for call in looked if _competes(call)]
        if not wrong or len(wrong) < len(looked) or (len(wrong) < 2 and not run.over):
            continue
        call = wrong[0]
        made = source(call.origins["input"])
        sums = call.look.target_sums if call.look is not None else None
        low, high = sums or (0.0, 0.0)
        yield Proof(
            where=where_applied(run, made),
            message="softmax makes the scores of a sample add up to 1, but the samples have "
            f"{low:g} to {high:g} labels each",
            label="the classes compete here",
            evidence={"calls": len(wrong), "labels_per_sample": [low, high]},
            fix="use sigmoid in place of softmax, or binary_cross_entropy_with_logits on the raw scores",
            related=[(call.place, "each label is scored independently here")],
        )


def _competes(call: LossCall) -> bool:
    look, given = call.look, call.input
    if look is None or given is None or look.target_sums is None or not look.integral:
        return False
    is_softmax = source(given).op == "softmax" and look.rows_are_probabilities
    return is_softmax and (look.target_sums[0] < 0.5 or look.target_sums[1] > 1.5)
