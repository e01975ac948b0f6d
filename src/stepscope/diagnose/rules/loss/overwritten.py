from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.name_use import NameUse, fate_of_name
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.starving import never_fed
from stepscope.evidence.unused_results import Unused

_STEPS = 3
_SAID = {
    "unread": "is computed in every step and never used",
    "overwritten": "is replaced by another value before anything uses it",
    "loop": "is replaced in the next iteration: only the last one counts",
}
_STATISTICS = frozenset({"max", "min", "amax", "amin", "median", "std", "var"})
"""Numbers that people look at; a loss ends in a sum, a mean or a product."""


@rule("loss.overwritten", severity="warning", follows=("autograd.*", "grad.detached-needed", "opt.no-backward"))
def overwritten(run: Evidence) -> Iterator[Proof]:
    """A loss, or a term of it, is computed and thrown away before `backward()`.

    Why it matters: this part of the objective has no effect. A head that only it trains stays random.

    What to do: add the terms up (`loss = loss + term`) instead of assigning the name again, and call `backward()` on
    the sum.

    How it is found: a single number with a gradient was computed in at least three steps and discarded without any
    operation or `backward()` having used it; and either parameters of the optimizer never got a gradient for that
    reason, or the source shows that its name is never read or is assigned again first.

    Bad:
        for name, value in losses.items():
            loss = weights[name] * value
        loss.backward()
    Good:
        loss = sum(weights[name] * value for name, value in losses.items())
        loss.backward()
    """
    learned = {id(backward.origin) for backward in run.steps.backwards}
    for unused in run.unused_results.all:
        if unused.steps < _STEPS or unused.origin.shape not in ((), (1,)) or not unused.origin.requires_grad:
            continue
        if unused.origin.inputs and all(id(term) in learned for term in unused.origin.inputs):
            continue  # the sum of terms that had a backward each, for the log: `errD = errD_real + errD_fake`
        use = fate_of_name(run.source, unused.place)
        starved = never_fed(run, unused.starving)
        if use is not None or starved:
            yield _proof(unused, use, [parameter.title for parameter in starved])


def _proof(unused: Unused, use: NameUse | None, starved: list[str]) -> Proof:
    said = _SAID["unread" if use is None else use.fate]
    lost = f", so {', '.join(starved[:3])}{' ...' if len(starved) > 3 else ''} never learn" if starved else ""
    is_sum = use is not None and use.fate != "unread"
    return Proof(
        where=unused.place,
        severity="info" if unused.origin.op in _STATISTICS and not starved else None,
        message=f"this part of the loss {said}{lost}",
        label=f"{unused.count} results of this line were discarded in {unused.steps} steps",
        evidence={"steps": unused.steps, "results": unused.count, "parameters": starved[:20]},
        fix=f"add it up: {use.name} = {use.name} + ..." if is_sum and use else "add it to the loss, or remove it",
    )
