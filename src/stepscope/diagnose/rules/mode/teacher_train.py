from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.edits.modes import put_in_eval
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.forwards import Forward
from stepscope.evidence.modules import Module

_ENOUGH, _ENOUGH_AT_END = 3, 2


@rule("mode.teacher-train", severity="warning")
def teacher_train(run: Evidence) -> Iterator[Proof]:
    """A network that only gives targets runs in training mode.

    Why it matters: its dropout makes the targets random, and its batch norm drifts with every batch it sees.

    What to do: `teacher.eval()` once, after it is made.

    How it is found: the model was only ever called with gradients off, or with all its parameters frozen, with dropout
    or batch norm in training mode, and losses were computed from its results. Copies that follow by a moving average
    may be meant to run like that.

    Bad:
        teacher = build_teacher()
        with torch.no_grad():
            target = teacher(x)
    Good:
        teacher = build_teacher().eval()
    """
    models: dict[int, list[Forward]] = {}
    for forward in run.forwards.all:
        models.setdefault(id(forward.module), []).append(forward)
    for forwards in models.values():
        first, module = forwards[0], forwards[0].module
        noisy = [f for f in _of_teacher(forwards) if f.visit.training and f.layers and f.used]
        # A network trained earlier in the script is a teacher from then on.
        frozen = not any(p.requires_grad for p in module.parameters())
        taught = [f for f in forwards if f.visit.grad and not frozen]
        if len(noisy) < (_ENOUGH_AT_END if run.over else _ENOUGH) or any(
            f.visit.time > noisy[0].visit.time for f in taught
        ):
            continue
        last = noisy[-1].last_train
        if last is not None and last.on and not taught and last.module is module:
            continue  # train() was called on it: they want it so
        if not (frozen and _is_trained(module)) and not _is_still(module, first):
            continue
        made = _named(run, noisy[0]) or module.made
        kinds = (["dropout"] if noisy[0].droppers else []) + (["batch norm"] if noisy[0].norms else [])
        yield Proof(
            where=made or noisy[0].visit.place,
            message=f"{noisy[0].model} {'is frozen' if noisy[0].visit.grad else 'only gives targets'}, but runs in "
            f"training mode: {' and '.join(kinds)} {'change' if kinds[1:] else 'changes'} its output from call to call",
            label=f"never put into eval mode; {', '.join(noisy[0].layers[:3])}",
            evidence={"layers": noisy[0].layers[:12], "calls": len(noisy)},
            edit=put_in_eval(made, noisy[0].visit.place),
            fix="call .eval() on it after creating it",
            related=[(noisy[0].visit.place, "it is called here, and never learns")],
        )


def _named(run: Evidence, forward: Forward) -> Any:
    """Where the name it is called by got its value: `teacher = build(128)`."""
    place = forward.visit.place
    call = run.source.call(place)
    file = None if place is None else run.source.file(place.file)
    if call is None or file is None or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return None
    name = ast.unparse(call.func)
    found = [n for n in file.walk(ast.Assign) if any(ast.unparse(t) == name for t in n.targets)]
    return file.site(found[0]) if len(found) == 1 else None


def _of_teacher(forwards: list[Forward]) -> list[Forward]:
    """Of a network that was trained before: only its calls without gradients after the last one with them."""
    if not _is_trained(forwards[0].module):
        return forwards
    learned = max((f.visit.time for f in forwards if f.visit.grad), default=0.0)
    return [f for f in forwards if not f.visit.grad and f.visit.time > learned]


def _is_trained(module: Module) -> bool:
    """An optimizer that steps has its parameters, and they have had gradients."""
    return any(p.gradients for p in module.parameters())


def _is_still(module: Module, first: Forward) -> bool:
    """Whether it neither learns, nor follows another network, nor has new weights loaded now and then."""
    moves = _moves(module)
    return not _is_trained(module) and (moves == "never" or (moves == "loaded" and bool(first.droppers)))


def _moves(module: Module) -> str:
    """How its parameters change: not at all, by loading, or by an average that follows another network."""
    parameters = [p for p in module.parameters() if p.is_floating]
    if not parameters or all(p.changed is False for p in parameters):
        return "never"
    return "loaded" if module.loaded else "little by little"
