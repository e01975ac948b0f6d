from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import VIEWS
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import source, where_applied
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall
from stepscope.evidence.origins import Origin


@rule("loss.softmax-before-ce", severity="error", follows=("math.softmax-batch-dim", "model.final-softmax-1col"))
def softmax_before_ce(run: Evidence) -> Iterator[Proof]:
    """Cross-entropy gets probabilities where it expects raw scores: softmax is applied twice.

    Why it matters: cross-entropy takes the softmax itself. Of numbers between 0 and 1 it makes an almost flat
    distribution: the loss cannot fall below a floor far from zero, and the gradients are tiny.

    What to do: give the loss the raw scores (logits) of the last layer. Take the softmax only where probabilities are
    shown or compared.

    How it is found: every call of `cross_entropy` knows which op made its input. Here it was a softmax, with nothing
    but views between, and each row adds up to 1.

    Bad:
        probabilities = torch.softmax(model(x), dim=1)
        loss = F.cross_entropy(probabilities, y)
    Good:
        loss = F.cross_entropy(model(x), y)
    """
    for calls in run.losses.by_place("cross_entropy", "nll_loss", "multi_margin_loss"):
        found = [(call, made) for call in calls if (made := _softmax_before(call)) is not None]
        if len(found) < min(2, len(calls)) or len(found) < len(calls) or (len(calls) < 2 and not run.over):
            continue
        call, made = found[0]
        if made.op == "sigmoid" and len(found) < 3 and not run.over:
            continue
        where = where_applied(run, made)
        what = (
            f"the output of {made.op}, values between {call.look.low:.2g} and {call.look.high:.2g}" if call.look else ""
        )
        yield Proof(
            where=where,
            message=f"{made.op} is applied here, and {_name(call)} applies softmax again",
            label=what or f"this goes into {_name(call)}",
            evidence={"calls": len(found), "row_sums": call.look.sums if call.look else None, "loss": call.value},
            edit=tensors.left_out(where) if call.name == "cross_entropy" else None,
            fix=f"give {_name(call)} the raw scores: leave out this {made.op} in training",
            related=[(call.place, f"{_name(call)} expects logits")],
        )


def _name(call: LossCall) -> str:
    if call.name == "nll_loss":
        return "the log_softmax before nll_loss"
    return call.name


def _softmax_before(call: LossCall) -> Origin | None:
    if call.input is None:
        return None
    first = source(call.input)
    if call.name == "nll_loss":
        inner = _inside_log(first)
        if inner is None:
            return None
        first = inner
    if first.op not in ("softmax", "sigmoid", "softmax_"):
        return None
    probabilities = call.look is None or call.name == "nll_loss" or (call.look.low >= 0 and call.look.high <= 1.0001)
    return first if probabilities and (first.op == "sigmoid" or _along_classes(call, first)) else None


def _inside_log(origin: Origin) -> Origin | None:
    """The softmax inside `log_softmax(softmax(x))` or `log(softmax(softmax(x)))`."""
    if origin.op == "log_softmax":
        inner = source(origin.inputs[0])
        return inner if inner.op == "softmax" else None
    if origin.op == "log":
        inner = origin.back_through(VIEWS | {"log", "add", "clamp"})
        if inner.op == "softmax":
            before = source(inner.inputs[0])
            return before if before.op == "softmax" else None
    return None


def _along_classes(call: LossCall, softmax: Origin) -> bool:
    """A softmax along another axis is a fault of its own, and has its own rule."""
    look = call.look
    return call.name == "nll_loss" or look is None or look.sums is None or abs(look.sums[1] - 1) < 0.01
