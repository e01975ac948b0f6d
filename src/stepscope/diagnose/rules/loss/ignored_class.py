from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import source
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall

_CALLS = 3
_SHARE = 0.02


@rule("loss.ignored-class", severity="warning")
def ignored_class(run: Evidence) -> Iterator[Proof]:
    """`ignore_index` is the number of a real class, so samples of that class are never trained on.

    Why it matters: `ignore_index` is for padding and unlabeled positions. Given a class number, the loss leaves out
    every sample of that class, and the model never predicts it.

    What to do: remove `ignore_index`, or give it a number that is not a class (-100 is the default).

    How it is found: the loss has one label per sample (no sequence, no image), `ignore_index` is a class the model has
    an output for, and labels of that class keep coming.

    Bad:
        criterion = nn.CrossEntropyLoss(ignore_index=0)      # digits 0 to 9
    Good:
        criterion = nn.CrossEntropyLoss()
    """
    for calls in run.losses.by_place("cross_entropy", "nll_loss"):
        calls = [call for call in calls if call.trains]
        ignored = [call for call in calls if _is_ignored(call)]
        if len(ignored) < max(_CALLS, 0.5 * len(calls)):
            continue
        labels = sum(sum(call.counts.values()) for call in ignored if call.counts)
        lost = sum(call.counts[call.ignore_index] for call in ignored if call.counts and call.ignore_index is not None)
        first = ignored[0]
        if lost < _SHARE * labels:
            continue
        visit = first.visit
        yield Proof(
            where=visit.module.made if visit is not None and visit.module.is_a("_Loss") else first.place,
            message=f"class {first.ignore_index} is ignored: {lost} of {labels} samples do not count in the loss",
            label=f"ignore_index={first.ignore_index} is one of the {first.shapes['input'][1]} classes",
            evidence={"ignore_index": first.ignore_index, "ignored": lost, "labels": labels},
            fix="remove ignore_index, or use a number that is not a class (-100)",
            related=[(first.place, "the loss is computed here")],
        )


def _is_ignored(call: LossCall) -> bool:
    if call.ignore_index is None or call.counts is None or call.input is None or call.target is None:
        return False
    shape = call.shapes.get("input", ())
    if len(shape) != 2 or not 0 <= call.ignore_index < shape[1] or not call.counts.get(call.ignore_index):
        return False
    return len(source(call.target).shape) == 1 and len(source(call.input).shape) == 2
