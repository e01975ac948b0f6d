from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import source
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LOSSES, LossCall

_ONE_WAY = ("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "poisson_nll_loss")
_RANKED = ("triplet_margin_loss", "triplet_margin_with_distance_loss", "margin_ranking_loss")
_POSITIVE, _NEGATIVE = re.compile(r"(^|_)(pos|positives?)(_|\d|$)"), re.compile(r"(^|_)(neg|negatives?)(_|\d|$)")


@rule("loss.swapped-args", severity="error", needs="steps, crash")
def swapped_args(run: Evidence) -> Iterator[Proof]:
    """The arguments of a loss are in the wrong order.

    Why it matters: a loss treats its arguments differently. With target and prediction swapped the gradient flows into
    the target; with positive and negative swapped the model learns the opposite.

    What to do: predictions first, then targets; `triplet_margin_loss(anchor, positive, negative)`.

    How it is found: the first argument needs no gradient and the second, which should be data, comes from the model; or
    the names at the call say that the positive stands where the negative belongs.

    Bad:
        loss = F.binary_cross_entropy(y, model(x))
    Good:
        loss = F.binary_cross_entropy(model(x), y)
    """
    if run.crash is not None:
        yield from _in_crash(run)
        return
    for calls in run.losses.by_place(*_ONE_WAY, "kl_div"):
        wrong = [call for call in calls if _is_swapped(call)]
        if wrong and len(wrong) == len(calls):
            yield _proof(run, wrong[0], len(wrong))
    for calls in run.losses.by_place(*_RANKED):
        names = _ranked_names(run, calls[0])
        if names is not None:
            first, second = names
            yield Proof(
                where=calls[0].place,
                message=f"{calls[0].name} gets {first} where the positive belongs and {second} where the negative does",
                label="positive and negative are swapped",
                evidence={"calls": len(calls), "loss": [call.value for call in calls[:4]]},
                edit=edits.swap(calls[0].place, 1, 2),
                fix=f"swap the two: {second} first, then {first}",
            )


def _proof(run: Evidence, call: LossCall, times: int) -> Proof:
    written = run.source.call(call.place)
    names = [ast.unparse(argument) for argument in written.args[:2]] if written is not None else []
    shown = f"{names[1]}, {names[0]}" if len(names) == 2 and all(len(name) < 40 for name in names) else "the two"
    return Proof(
        where=call.place,
        message=f"{call.name} gets the target first and the prediction second",
        label="the second argument comes from the model, the first does not",
        evidence={"calls": times, "input_requires_grad": False, "target_requires_grad": True, "loss": call.value},
        edit=edits.swap(call.place) if len(names) == 2 else None,
        fix=f"swap them: ({shown})" if len(names) == 2 else "swap the two arguments",
    )


def _is_swapped(call: LossCall) -> bool:
    if call.input is None or call.input.requires_grad or not call.target_requires_grad or call.target is None:
        return False
    if call.name != "kl_div":
        return True
    # KL the other way round is a choice, when each side is of the right kind.
    return source(call.input).op == "softmax" or source(call.target).op == "log_softmax"


def _ranked_names(run: Evidence, call: LossCall) -> tuple[str, str] | None:
    written = run.source.call(call.place)
    if written is None:
        return None
    words = {word.arg: word.value for word in written.keywords if word.arg}
    if call.name == "margin_ranking_loss":
        if call.counts is None or set(call.counts) != {1}:
            return None
        pair = [words.get(name) for name in ("input1", "input2")]
        places = (0, 1)
    else:
        pair = [words.get(name) for name in ("positive", "negative")]
        places = (1, 2)
    for number, place in enumerate(places):
        if pair[number] is None and len(written.args) > place:
            pair[number] = written.args[place]
    first, second = pair
    if first is None or second is None:
        return None
    if _says(first) == "negative" and _says(second) == "positive":
        return ast.unparse(first), ast.unparse(second)
    return None


def _says(expression: ast.expr) -> str:
    """Whether the names in an expression speak of the positive or of the negative; "" when of both or none."""
    names = [node.id for node in ast.walk(expression) if isinstance(node, ast.Name)]
    names += [node.attr for node in ast.walk(expression) if isinstance(node, ast.Attribute)]
    positive = any(_POSITIVE.search(name.lower()) for name in names)
    negative = any(_NEGATIVE.search(name.lower()) for name in names)
    return ("positive" if positive else "negative") if positive != negative else ""


def _in_crash(run: Evidence) -> Iterator[Proof]:
    failed = run.tensor_history.failed
    if failed is None or failed.op not in LOSSES or len(failed.origins) < 2:
        return
    first, second = failed.origins[:2]
    if first.requires_grad or not second.requires_grad or not failed.op.startswith(("cross", "nll", "binary")):
        return
    yield Proof(
        where=failed.place,
        message=f"{failed.op} gets the targets first and the predictions second",
        label=f"{list(first.shape)} {first.dtype} comes first, the model's output second",
        evidence={"first": list(first.shape), "second": list(second.shape), "error": failed.said},
        edit=edits.swap(failed.place),
        fix="swap the two arguments: predictions first",
    )
