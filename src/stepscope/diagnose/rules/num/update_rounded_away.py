from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.optimizers import Made

_STEPS = 10
_SHARE = 0.5
_TORCHS = frozenset(("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adamax", "NAdam", "RAdam", "Adadelta", "ASGD"))
"""Others may keep what was rounded away, or round at random."""


@rule("num.update-rounded-away", follows=("opt.lr-too-low", "opt.scheduler-per-micro"), is_symptom=True)
def update_rounded_away(run: Evidence) -> Iterator[Proof]:
    """The weights are kept in 16 bits, and most updates are too small to change them.

    Why it matters: a bfloat16 number has 8 significant bits. An update below half of its last bit, about 0.2% of the
    weight, is rounded away, step after step, so the weight never moves however long it trains.

    What to do: keep the weights in float32 and compute in 16 bits (`torch.autocast`), or use an optimizer that keeps a
    float32 copy.

    How it is found: in at least ten steps with a learning rate above zero, at least half of the 16-bit weights that had
    a gradient were exactly the same after the step.

    Bad:
        model = Model().to(torch.bfloat16)
        optimizer = torch.optim.SGD(model.parameters(), lr=5e-4)
    Good:
        model = Model()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
    """
    for made in run.optimizers.made:
        moves = [one for one in run.weight_updates.of_optimizer(made.number) if one.stuck is not None and one.lr]
        shares = [one.stuck for one in moves if one.stuck is not None]
        if len(shares) < _STEPS or made.type not in _TORCHS:
            continue
        typical = sorted(shares)[len(shares) // 2]
        if typical < _SHARE or shares[-1] < _SHARE:
            continue
        kind = _kind(made)
        yield Proof(
            where=made.place,
            message=f"the weights are {kind}, and {typical:.0%} of them do not change in a step: their updates are "
            "rounded away",
            label=f"at a learning rate of {moves[-1].lr:.3g}",
            evidence={"dtype": kind, "unchanged_share": typical, "steps": len(shares), "lr": moves[-1].lr},
            fix=f"keep the weights in float32 and run the model under torch.autocast(dtype=torch.{kind})",
        )


def _kind(made: Made) -> str:
    kinds = [parameter.dtype for parameter in made.parameters if parameter.dtype in ("bfloat16", "float16")]
    return kinds[0] if kinds else "16-bit"
