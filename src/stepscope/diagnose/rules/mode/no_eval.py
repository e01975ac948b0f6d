from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.edits.modes import mode_calls
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name
from stepscope.evidence.forwards import Forward
from stepscope.evidence.modules import Module
from stepscope.evidence.origins import Origin


@rule("mode.no-eval", severity="warning", follows=("mode.teacher-train",))
def no_eval(run: Evidence) -> Iterator[Proof]:
    """The model is evaluated in training mode.

    Why it matters: dropout keeps deleting values, so the result is random and too low; batch norm normalizes with the
    evaluation batch, and takes its statistics into the model.

    What to do: `model.eval()` before evaluating, `model.train()` before training continues.

    How it is found: a model that is being trained was called with gradients off, or on the batches of a loader that
    trains nothing, while dropout or batch norm were in training mode. No loss came of it, and no `train()` was called
    for it.

    Bad:
        with torch.no_grad():
            accuracy = evaluate(model, val_loader)
    Good:
        model.eval()
        with torch.no_grad():
            accuracy = evaluate(model, val_loader)
    """
    switched = _switched_by_user(run)
    yield from _in_a_trainer(run, switched)
    candidates = [f for f in run.forwards.all if f not in switched and not f.used and _evaluates(run, f)]
    if not candidates:
        return
    training = [f.module for f in run.forwards.all if f.visit.grad and (f.used or (f.led and not f.followed))]
    trained = {id(p) for module in training for p in module.parameters()}
    places: dict[Any, list[Forward]] = {}
    for forward in candidates:
        if _has_any(forward.module, trained):
            places.setdefault(forward.visit.place, []).append(forward)
    for place, forwards in places.items():
        first = forwards[0]
        at_place = [f for f in run.forwards.all if f.visit.place == place]
        # The same line trains, or has been called in eval mode: it is not a separate line for evaluation.
        if place is None or any(f.used for f in at_place) or len(forwards) < len([f for f in at_place if f.backwards]):
            continue
        if not run.over and run.steps.backward_count <= forwards[-1].backwards:
            continue  # what it computed may yet become part of a loss
        if len(forwards) < 2 and not run.over:
            continue
        missing = _without_parentheses(run, place)
        what = _kinds(first)
        yield Proof(
            where=missing or place,
            message=f"{first.model} is evaluated in training mode: {what} behave{'' if ' and ' in what else 's'} as in "
            "training",
            label="`.eval` without parentheses does nothing" if missing else f"{_layers(first)} in train mode",
            evidence={"layers": first.layers[:12], "calls": len(forwards), "gradients": first.visit.grad},
            edit=tensors.called(missing) if missing else mode_calls(first.module.made, place),
            fix="write .eval() with parentheses"
            if missing
            else "call model.eval() before this, and model.train() after it",
            related=[(place, "the model is called here")] if missing else (),
            severity="info" if not missing and _is_generator(run, first) else None,
        )


def _is_generator(run: Evidence, forward: Forward) -> bool:
    """Whether the model turns noise into samples that another model judges, and drops nothing. Samples are often drawn
    with the statistics of their own batch, on purpose."""
    calls = [one for one in run.forwards.all if one.module is forward.module and one.visit.grad and one.visit.step]
    if forward.droppers or not calls or not all(one.drawn for one in calls):
        return False
    others = [one for one in run.forwards.all if one.module is not forward.module and any(one.module.parameters())]
    return any(_comes_from(origin, forward.module) for one in others for origin in one.visit.inputs)


def _comes_from(origin: Origin, module: Module) -> bool:
    """Whether this is what the module gave, as it is or detached."""
    given = origin.back_through({"detach"})
    return given.visit is not None and given.visit.root.module is module


def _layers(forward: Forward) -> str:
    few = forward.layers[:3]
    return f"layer {few[0]} is" if len(few) == 1 else f"layers {', '.join(few)} are"


def _switched_by_user(run: Evidence) -> list[Forward]:
    """Calls in a trainer's validation for which the user's own code has put the whole model into training mode."""
    found = []
    for forward in run.forwards.all:
        if forward.stage not in ("validation", "test", "sanity check") or not forward.layers or forward.visit.parent:
            continue
        call, module = forward.last_train, forward.module
        if call is None or not call.on or call.place is None or call.place == run.trainer.called:
            continue
        if call.module is not None and any(part is module for part in call.module.modules()):
            found.append(forward)
    return found


def _in_a_trainer(run: Evidence, switched: list[Forward]) -> Iterator[Proof]:
    """A trainer switches modes itself: `train()` within its validation undoes that."""
    places = {forward.last_train.place: forward for forward in reversed(switched) if forward.last_train is not None}
    for place, first in places.items():
        what, stage = _kinds(first), "test" if first.stage == "test" else "validation"
        yield Proof(
            where=place,
            message=f"the model is put into training mode during {stage}: {what} "
            f"behave{'' if ' and ' in what else 's'} as in training",
            label=f"{_layers(first)} in train mode",
            evidence={"layers": first.layers[:12], "stage": stage},
            fix=f"remove this train(): {run.trainer.name} switches the model to eval mode and back",
            related=[(first.visit.place, "the model is called here")] if first.visit.place is not None else (),
        )


def _evaluates(run: Evidence, forward: Forward) -> bool:
    visit = forward.visit
    if not visit.training or not forward.layers or forward.drawn or forward.backwards == 0 or visit.error:
        return False
    if visit.parent is not None:
        return False
    if forward.last_train is not None and forward.last_train.on and forward.last_train.backwards >= forward.backwards:
        return False  # train() was called after the last backward: they want it so
    call = run.source.call(visit.place)
    if call is not None and called_name(call) == "update_bn":
        return False
    loader = forward.loader
    last = run.over and forward.backwards == run.steps.backward_count
    if not visit.grad and (forward.followed or last):
        return True
    return loader is not None and loader.trains == 0 and loader.batches >= 1 and any(o.trains for o in run.loaders.all)


def _has_any(module: Module, parameters: set[int]) -> bool:
    return any(id(p) in parameters for p in module.parameters())


def _kinds(forward: Forward) -> str:
    words = (["dropout"] if forward.droppers else []) + (["batch norm"] if forward.norms else [])
    return " and ".join(words)


def _without_parentheses(run: Evidence, place: Any) -> Any:
    """A statement `model.eval` in the same file, near the place or in a function it is called from."""
    file = run.source.file(place.file)
    for node in file.walk(ast.Expr) if file is not None else ():
        if isinstance(node.value, ast.Attribute) and node.value.attr == "eval":
            return file.site(node) if file is not None else None
    return None
