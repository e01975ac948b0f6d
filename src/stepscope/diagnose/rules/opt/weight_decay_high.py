from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits.literals import set_argument
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("opt.weight-decay-high", severity="warning")
def weight_decay_high(run: Evidence) -> Iterator[Proof]:
    """Weight decay is so strong that it pulls the weights to zero against the gradient.

    Why it matters: the model forgets faster than it learns, and ends by predicting a constant.

    What to do: values between 1e-4 and 1e-2 are usual (up to 0.1 for AdamW).

    How it is found: the weights have lost most of their size since the first step, and in the first steps the pull of
    weight decay was several times stronger than that of the gradient.

    Bad:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=5.0)
    Good:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=5e-4)
    """
    for made in run.optimizers.made:
        moves = run.weight_updates.of_optimizer(made.number)
        if len(moves) < 10 or not moves[0].weight or not moves[0].decay:
            continue
        early = moves[:5]
        if made.type == "AdamW":  # it decays beside the gradient: compare what each of the two moves
            pulls = [(one.lr or 0.0) * one.decay for one in early]
            others = [max(one.moved - pull, 1e-12) for one, pull in zip(early, pulls, strict=True)]
        else:
            pulls, others = [one.decay for one in early], [one.gradient for one in early]
        stronger = sum(pull > 3 * other for pull, other in zip(pulls, others, strict=True))
        left = min(one.weight for one in moves) / moves[0].weight
        if stronger < 3 or left > 0.3 or moves[-1].weight > 0.4 * moves[0].weight:
            continue
        rate = made.defaults.get("weight_decay")
        yield Proof(
            where=made.place,
            message=f"weight_decay={rate} pulls the weights to zero: {left:.0%} of their size is left",
            label=f"decay pulls {pulls[0] / max(others[0], 1e-12):.0f} times stronger than the gradient",
            evidence={
                "weight_decay": rate,
                "weight_norm": [one.weight for one in moves[:: max(1, len(moves) // 8)]],
                "decay": pulls,
                "gradient": others,
            },
            trials=[
                (f"weight_decay={value:g}", set_argument(made.place, None, "weight_decay", f"{value:g}"))
                for value in (1e-2, 1e-3, 1e-4)
            ],
            fix="use a weight decay between 1e-4 and 1e-2",
        )
