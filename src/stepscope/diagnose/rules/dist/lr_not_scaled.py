from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import Source
from stepscope.evidence.optimizers import Made
from stepscope.evidence.ranks import Delivered, Spot

_FEWEST = 4
"""Of two ranks a batch twice as large is seldom worth a word."""


@rule("dist.lr-not-scaled", severity="info", needs="end")
def lr_not_scaled(run: Evidence) -> Iterator[Proof]:
    """The learning rate is a fixed number, though the batch grows with the number of ranks.

    Why it matters: gradients are averaged over the ranks, so a step sees as many times more samples as there are ranks,
    and an epoch has as many times fewer steps. With the learning rate of a single GPU, SGD then learns more slowly.

    What to do: multiply the learning rate by the number of ranks, with a warm-up over the first epochs, or tune it again.
    If this rate was tuned for this number of ranks, mute the rule.

    How it is found: the model is DistributedDataParallel over four ranks or more, and both the `lr` of SGD and the
    `batch_size` of the loader that trains are plain numbers in the script. Whether the rate was tuned for this many
    ranks cannot be known, so this is only a note.

    Bad:
        loader = DataLoader(dataset, batch_size=32, sampler=DistributedSampler(dataset))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    Good:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * dist.get_world_size())
    """
    size = max((wrap.size for one in run.ranks.all for wrap in one.wraps), default=0)
    batch = next((found for one in run.ranks.all if (found := _trained_on(one.delivered, one.trained))), None)
    if size < _FEWEST or batch is None or not _is_number(run.source, batch.made, "DataLoader", "batch_size"):
        return
    for made in run.optimizers.made:
        rate = made.defaults.get("lr")
        if made.type == "SGD" and isinstance(rate, float) and _has_fixed_rate(run.source, made):
            yield Proof(
                where=made.place,
                message=f"lr={rate:g} does not depend on the number of ranks, though {size} ranks make the batch "
                f"{size * batch.length} samples large",
                label=f"{size} ranks of {batch.length} samples",
                evidence={"lr": rate, "ranks": size, "batch_per_rank": batch.length},
                fix=f"try lr={rate:g} * dist.get_world_size() with a warm-up, if {rate:g} was chosen for one rank",
            )
            return


def _trained_on(delivered: dict[int, list[Delivered]], trained: set[int]) -> Delivered | None:
    return next((delivered[number][0] for number in sorted(trained) if delivered.get(number)), None)


def _has_fixed_rate(source: Source, made: Made) -> bool:
    call = source.call(made.place)
    return call is not None and _is_constant(call, "lr")


def _is_number(source: Source, where: Spot | None, function: str, argument: str) -> bool:
    file = None if where is None else source.file(where[0])
    if where is None or file is None:
        return False
    return any(_is_constant(call, argument) for call in file.calls(function) if call.lineno == where[1])


def _is_constant(call: ast.Call, argument: str) -> bool:
    return any(one.arg == argument and isinstance(one.value, ast.Constant) for one in call.keywords)
