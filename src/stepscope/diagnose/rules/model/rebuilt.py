from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name
from stepscope.evidence.modules import Module
from stepscope.records.place import Place

_EPOCH = re.compile(r"^(_?i?_?epochs?(_?(i|idx|num|number|no|id))?|ep|e)$", re.I)
_FEWEST = 3


@rule("model.rebuilt", severity="error", needs="end")
def rebuilt(run: Evidence) -> Iterator[Proof]:
    """A new model is built in every epoch, so that each epoch starts from random weights.

    Why it matters: what an epoch has learned is thrown away; the last model was trained for one epoch only.

    What to do: build the model and its optimizer before the loop over epochs.

    How it is found: one call, inside a loop over epochs, trained at least three different models of the same class and
    the same size, each in one epoch only; a statement of that loop assigns the model's name.

    Bad:
        for epoch in range(epochs):
            model = Net()
            train(model)
    Good:
        model = Net()
        for epoch in range(epochs):
            train(model)
    """
    trained: dict[Place, list[Module]] = {}
    for fed in run.batches.first:
        place, module = fed.visit.place, fed.visit.module
        if place is not None and module not in trained.setdefault(place, []):
            trained[place].append(module)
    for place, modules in trained.items():
        if len(modules) < _FEWEST or len({_shape(module) for module in modules}) > 1:
            continue
        found = _made_in_epochs(run, place)
        if found is None:
            continue
        file, statement, name = found
        yield Proof(
            where=file.site(statement),
            message=f"a new {name} is built in every epoch: {len(modules)} models were trained, each from random "
            "weights",
            label="inside the loop over epochs",
            evidence={"models": len(modules), "class": modules[0].type},
            fix="build the model and its optimizer once, before the loop over epochs",
            related=[(place, "each of them is trained here")],
        )
        return


def _shape(module: Module) -> tuple[str, tuple[tuple[int, ...], ...]]:
    return module.type, tuple(parameter.shape for parameter in module.parameters())


def _made_in_epochs(run: Evidence, place: Place) -> tuple[SourceFile, ast.stmt, str] | None:
    """The statement of a loop over epochs that assigns the name of what is called there."""
    file, node = run.source.file(place.file), run.source.call(place)
    if file is None or node is None or not isinstance(node.func, ast.Name):
        return None
    loops = [outer for outer in file.up(node) if isinstance(outer, ast.For)]
    epochs = next((loop for loop in loops if isinstance(loop.target, ast.Name) and _EPOCH.match(loop.target.id)), None)
    if epochs is None or not _counts(epochs.iter):
        return None
    for statement in epochs.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = [part.id for one in targets for part in ast.walk(one) if isinstance(part, ast.Name)]
        if node.func.id in names:
            return file, statement, node.func.id
    return None


def _counts(looped: ast.expr) -> bool:
    return called_name(looped) in ("range", "trange", "tqdm")
