from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.eval-with-grad", needs="profile")
def eval_with_grad(run: Measured) -> Iterator[Tip]:
    """Evaluation builds graphs for gradients that nothing uses.

    Why it matters: every activation is kept until the loss is gone, which takes memory (a smaller batch fits)
    and a fifth of the time.

    What to do: `with torch.inference_mode():` (or `torch.no_grad()`) around the evaluation.

    How it is found: batches after which no optimizer step came, through a model whose output required
    gradients. The saving is a fifth of the time of evaluation, spread over the training steps.

    Bad:
        model.eval()
        for x, y in val_loader: correct += (model(x).argmax(1) == y).sum()
    Good:
        model.eval()
        with torch.inference_mode():
            for x, y in val_loader: correct += (model(x).argmax(1) == y).sum()
    """
    steps = max(1, int(run.facts.get("steps", {}).get("count", 0)))
    for loader in run.loaders:
        if not loader.get("evaluated_with_grad") or int(loader.get("evaluated", 0)) < 3:
            continue
        spent = int(loader["evaluated_ns"])
        total = spent + steps * run.step_ns
        yield Tip(
            where=run.where(loader, "iterated", "made"),
            message=f"{loader['evaluated']} batches were evaluated with gradients switched on",
            fix="with torch.inference_mode(): around the evaluation",
            share=spent / total if total else 0.0,
            saving_ns=int(spent * 0.2 / steps),
            how="a fifth of the time of evaluation, spread over the steps",
            evidence={
                "batches": loader["evaluated"],
                "ms": round(spent / 1e6, 1),
                "gain": "less memory, faster evaluation",
            },
            part="evaluation",
        )
