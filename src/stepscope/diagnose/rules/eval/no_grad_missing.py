from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits.loop import with_no_grad
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_TIMES = 2


@rule("eval.no-grad-missing", severity="info")
def no_grad_missing(run: Evidence) -> Iterator[Proof]:
    """The evaluation builds a graph for gradients that nothing uses.

    Why it matters: every activation is kept for a backward that never comes, which costs memory and time.

    What to do: evaluate under `with torch.no_grad():` or `torch.inference_mode():`.

    How it is found: a model in eval mode was called with gradients on, and no backward used the result. Methods that
    ask for gradients of the inputs are left alone.

    Bad:
        model.eval()
        for x, y in val_loader: ...
    Good:
        model.eval()
        with torch.no_grad():
            for x, y in val_loader: ...
    """
    for diet in run.batches.diets:
        if not diet.trained_calls:
            continue
        for place, count in diet.idle.items():
            if count < _TIMES:
                continue
            yield Proof(
                where=place,
                message=f"{diet.type} is evaluated with gradients on, and no backward uses the result",
                label=f"{count} calls in eval mode built a graph that nothing uses",
                evidence={"calls": count},
                edit=with_no_grad(place),
                fix="wrap the evaluation in `with torch.no_grad():`",
            )
