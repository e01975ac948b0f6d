from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits.modes import train_before
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.forwards import Forward
from stepscope.evidence.modules import Module

_ENOUGH = 3


@rule("mode.train-not-restored", severity="error")
def train_not_restored(run: Evidence) -> Iterator[Proof]:
    """After an evaluation the model continues training in eval mode.

    Why it matters: dropout is off and batch norm uses frozen statistics from the second epoch on, so the model
    overfits, or learns something else than it is tested with.

    What to do: call `model.train()` at the start of every epoch (or after each evaluation).

    How it is found: a model that was trained in training mode is trained in eval mode now. `eval()` was called after
    its training had begun, an evaluation followed, and `train()` was never called again. Or an evaluation came before
    training (a baseline), and `train()` is never called at all, though the model has dropout or batch norm.

    Bad:
        model.train()
        for epoch in range(epochs):
            train_one_epoch(model)
            evaluate(model)            # calls model.eval()
    Good:
        for epoch in range(epochs):
            model.train()
            train_one_epoch(model)
            evaluate(model)
    """
    models: dict[int, list[Forward]] = {}
    for forward in run.forwards.all:
        if not forward.forced and forward.visit.parent is None:
            models.setdefault(id(forward.module), []).append(forward)
    for forwards in models.values():
        before = [f for f in forwards if f.visit.training and f.layers and _trains(f)]
        after = [f for f in forwards if not f.visit.training and _trains(f)]
        if not before:
            yield from _never_called(run, forwards, after)
            continue
        if len(after) < _ENOUGH or before[0].visit.time > after[0].visit.time:
            continue
        switch = after[0].last_train
        # Frozen from the start, or on purpose, at a line of its own: eval() that nothing was evaluated after.
        if switch is None or switch.on or switch.place is None or switch.backwards == 0:
            continue
        between = [f for f in forwards if before[-1].visit.time < f.visit.time < after[0].visit.time]
        if not any(not f.visit.training and not _trains(f) for f in between):
            continue
        if any(f.visit.training and _trains(f) and f.visit.time > after[0].visit.time for f in forwards):
            continue
        place = after[0].visit.place
        kinds = (["dropout"] if before[0].droppers else []) + (["batch norm"] if before[0].norms else [])
        yield Proof(
            where=switch.place,
            message=f"{after[0].model} is never put back into training mode: from here on it trains with "
            f"{' and '.join(kinds)} in eval mode",
            label="eval mode stays on for the training that follows",
            evidence={"layers": before[0].layers[:12], "trained_in_eval_mode": len(after)},
            edit=train_before(switch.place, place),
            fix="call model.train() before training continues",
            related=[(place, "trained here, in eval mode")] if place is not None else (),
        )


def _never_called(run: Evidence, forwards: list[Forward], after: list[Forward]) -> Iterator[Proof]:
    """The first evaluation came before the first step, and nothing ever calls `train()`."""
    if len(after) < _ENOUGH:
        return
    module, first, switch = after[0].module, after[0].visit, after[0].last_train
    if switch is None or switch.on or module.loaded or any(call.on for call in run.modes.calls if call.kind == "train"):
        return
    earlier = [f for f in forwards if f.visit.time < first.time]
    if not earlier or any(f.visit.training or f.visit.grad for f in earlier):
        return  # nothing was evaluated: eval() may be meant for the training
    drops = any(part.is_a("_DropoutNd") and part.attributes.get("p") for part in module.modules())
    norms = any(part.is_a("_BatchNorm") and _is_trained(run, part) for part in module.modules())
    if not drops and not norms:
        return
    kinds = (["dropout"] if drops else []) + (["batch norm"] if norms else [])
    yield Proof(
        where=first.place,
        message=f"{after[0].model} is trained in eval mode, with {' and '.join(kinds)} switched off: an evaluation "
        "came first, and train() is never called",
        label="trained here, in eval mode",
        evidence={"trained_in_eval_mode": len(after)},
        fix="call model.train() before this loop",
        related=[(switch.place, "put into eval mode here")] if switch.place is not None else (),
    )


def _is_trained(run: Evidence, part: Module) -> bool:
    return any(run.optimizers.holding(parameter) for parameter in part.own.values())


def _trains(forward: Forward) -> bool:
    """A loss came of it; where that was not followed, a backward came right after it."""
    return forward.visit.grad and (forward.used or (forward.led and not forward.followed))
