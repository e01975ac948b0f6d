from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import VIEWS
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import source, where_applied
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall
from stepscope.evidence.origins import Origin

_SQUASHING = ("sigmoid", "softmax")


@rule("loss.double-sigmoid", severity="error", follows=("model.final-softmax-1col", "math.softmax-batch-dim"))
def double_sigmoid(run: Evidence) -> Iterator[Proof]:
    """A binary cross-entropy with logits gets probabilities: the sigmoid is applied twice.

    Why it matters: the second sigmoid turns values between 0 and 1 into values between 0.5 and 0.73. The model can
    never say "no" with confidence, the loss stays high and the gradients small.

    What to do: take the sigmoid out of the model (and threshold the logits at 0, or apply it where probabilities are
    read), or use `BCELoss`.

    How it is found: every call of `binary_cross_entropy_with_logits` knows which op made its input. Here it was a
    sigmoid, with nothing but views between.

    Bad:
        loss = nn.BCEWithLogitsLoss()(torch.sigmoid(model(x)), y)
    Good:
        loss = nn.BCEWithLogitsLoss()(model(x), y)
    """
    names = ("binary_cross_entropy_with_logits", "multilabel_soft_margin_loss", "binary_cross_entropy")
    for calls in run.losses.by_place(*names):
        found = [(call, made) for call in calls if (made := _first_sigmoid(call)) is not None]
        if not found or len(found) < len(calls) or (len(calls) < 2 and not run.over):
            continue
        call, made = found[0]
        where = where_applied(run, made)
        again = "a second sigmoid follows" if call.name == "binary_cross_entropy" else f"{call.name} applies it again"
        look = call.look
        yield Proof(
            where=where,
            message=f"{made.op} is applied here, and {again}",
            label=f"the loss gets values between {look.low:.2g} and {look.high:.2g}" if look else "",
            evidence={"calls": len(found), "input": [look.low, look.high] if look else None, "loss": call.value},
            edit=tensors.left_out(where) if call.name != "binary_cross_entropy" else None,
            fix=f"leave out this {made.op}: give the loss the raw scores",
            related=[(call.place, "the loss applies the sigmoid itself")],
        )


def _first_sigmoid(call: LossCall) -> Origin | None:
    if call.input is None:
        return None
    made = source(call.input)
    if call.name != "binary_cross_entropy":
        return made if made.op in _SQUASHING and _within(call) else None
    if made.op == "sigmoid":
        inner = made.inputs[0].back_through(VIEWS)
        return inner if inner.op == "sigmoid" else None
    return None


def _within(call: LossCall) -> bool:
    return call.look is None or (call.look.low >= 0 and call.look.high <= 1)
