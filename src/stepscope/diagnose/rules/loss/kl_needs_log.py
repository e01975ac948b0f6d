from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import source, where_applied
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall


@rule("loss.kl-needs-log", severity="error", follows=("loss.swapped-args",))
def kl_needs_log(run: Evidence) -> Iterator[Proof]:
    """`kl_div` gets probabilities or raw scores where it expects log-probabilities.

    Why it matters: `kl_div(input, target)` computes `target * (log(target) - input)`. With probabilities as input the
    value is not a divergence: it can be negative, is not zero when both agree, and its gradient does not match the two.

    What to do: pass `log_softmax(...)` as the first argument and probabilities as the second (or log-probabilities with
    `log_target=True`).

    How it is found: the values of each call are checked: the rows of the input are all between 0 and 1 and add up to
    1, or come straight from a layer; or the target holds logarithms though `log_target` is False.

    Bad:
        F.kl_div(student.softmax(1), teacher.softmax(1))
    Good:
        F.kl_div(student.log_softmax(1), teacher.softmax(1), reduction="batchmean")
    """
    for calls in run.losses.by_place("kl_div"):
        looked = [call for call in calls if call.look is not None]
        for what, check in (("input", _input_fault), ("target", _target_fault)):
            wrong = [(call, said) for call in looked if (said := check(call))]
            if not wrong or len(wrong) < len(looked) or (len(wrong) < 2 and not run.over):
                continue
            call, said = wrong[0]
            made = source(call.origins[what])
            at_source = what == "input" and made.op == "softmax"
            yield Proof(
                where=where_applied(run, made) if at_source else call.place,
                message=f"kl_div expects {_EXPECTED[what]} as its {what} and gets {said}",
                label=_label(call, what),
                evidence={"calls": len(wrong), "value": call.value, "row_sums": call.look.sums if call.look else None},
                edit=tensors.called_otherwise(where_applied(run, made), tensors.LOGS) if at_source else None,
                fix=_FIXES[what] if at_source else _FIXES[what].replace("this softmax", "softmax"),
                related=[(call.place, "kl_div takes logarithms first")] if at_source else [(made.place, "made here")],
            )
            break


_EXPECTED = {"input": "log-probabilities", "target": "probabilities (log_target is False)"}
_FIXES = {
    "input": "use log_softmax in place of this softmax for the first argument",
    "target": "pass log_target=True, or give probabilities (softmax) as the second argument",
}


def _label(call: LossCall, what: str) -> str:
    look = call.look
    if look is None:
        return ""
    low, high = (look.low, look.high) if what == "input" else (look.target_low or 0.0, look.target_high or 0.0)
    return f"values between {low:.2g} and {high:.2g}" + (f"; the loss is {call.value:.3g}" if call.value else "")


def _input_fault(call: LossCall) -> str:
    look = call.look
    if look is None or call.input is None:
        return ""
    made = source(call.input)
    if made.op == "softmax" and look.low >= 0 and look.high <= 1.0001:
        return "the output of softmax"
    if look.rows_are_probabilities:
        return "probabilities"
    if made.op in ("linear", "conv2d", "addmm") and look.logsumexp is not None and max(look.logsumexp) > 0.5:
        return "raw scores"
    return ""


def _target_fault(call: LossCall) -> str:
    look, target = call.look, call.target
    if look is None or target is None or call.arguments.get("log_target") or look.target_high is None:
        return ""
    is_log = source(target).op == "log_softmax"
    return "log-probabilities" if is_log and look.target_high <= 0 else ""
