from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import Plan
from stepscope.diagnose.edits.literals import set_argument
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.optimizers import Made

_TINY = 1e-6
_ENOUGH = 40
_FEW = 10
"""Steps at a rate of exactly 0; a warm-up has one."""


@rule(
    "opt.lr-too-low",
    severity="warning",
    follows=("opt.lambda-absolute-lr", "opt.scheduler-per-micro", "amp.*", "grad.*", "init.*"),
)
def lr_too_low(run: Evidence) -> Iterator[Proof]:
    """The learning rate is so low that the weights hardly move.

    Why it matters: changes of a millionth of a weight are near the precision of 32-bit numbers; training will not get
    anywhere in a human time.

    What to do: raise the learning rate until a step moves the weights by about a thousandth of their size.

    How it is found: from the first step on, no step moves the weights by more than a millionth of their size, the
    learning rate is not being warmed up, and the loss has not moved. A rate of exactly 0 for ten steps is an error.

    Bad:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    Good:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    """
    for made in run.optimizers.made:
        moves = run.weight_updates.of_optimizer(made.number)
        if len(moves) >= _FEW and all(one.lr == 0 and not one.moved and one.gradient for one in moves):
            yield Proof(
                where=made.place,
                message=f"the learning rate is 0: {len(moves)} steps have moved no weight",
                label="nothing is learned",
                evidence={"lr": 0.0, "steps": len(moves)},
                fix="give the optimizer a learning rate above 0, or check its scheduler",
                severity="error",
            )
            continue
        if len(moves) < _ENOUGH or any(one.ratio > _TINY for one in moves) or not any(one.moved for one in moves):
            continue
        rates = [one.lr for one in moves if one.lr is not None]
        if not rates or rates[-1] > rates[0] or any(one.gradient == 0 for one in moves[:10]):
            continue
        steps = run.steps.of_optimizer(made.number)
        losses = [step.backwards[-1].loss for step in steps if step.backwards and step.backwards[-1].loss is not None]
        third = len(losses) // 3
        if third < 5:
            continue
        first, last = sum(losses[:third]) / third, sum(losses[-third:]) / third
        spread = max(losses[:third]) - min(losses[:third])
        if first - last > max(0.02 * abs(first), 0.5 * spread):
            continue  # it learns nevertheless
        largest = max(one.ratio for one in moves)
        yield Proof(
            where=made.place,
            message=f"the learning rate {rates[0]:.3g} is too low: no step moves the weights by more than "
            f"{largest:.1g} of their size",
            label=f"{len(steps)} steps, and the loss stays at {last:.3g}",
            evidence={"lr": rates[0], "largest_update_to_weight": largest, "loss_first": first, "loss_last": last},
            trials=_rates(made, rates[0]),
            fix="increase the learning rate a thousandfold and watch the loss",
        )


def _rates(made: Made, rate: float) -> list[tuple[str, Plan]]:
    """Powers of ten between this one and 1."""
    values = [value for value in (1e-4, 1e-3, 1e-2, 1e-1) if value > 10 * rate]
    return [(f"lr={value:g}", set_argument(made.place, 1, "lr", f"{value:g}")) for value in values]
