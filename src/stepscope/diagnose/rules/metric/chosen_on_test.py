from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose.best_tracking import Best, best_trackers
from stepscope.diagnose.data_sources import loader_names, names_in, words_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name

_TEST = re.compile(r"(^|_)te?st(_|\d|$)|(^|_)te(_|$)", re.I)
_VALIDATION = re.compile(r"(^|_)(val|valid|validation|dev)(_|\d|$)|^[xy]_?v(al)?$", re.I)
_KEEPS = frozenset(("save", "state_dict", "deepcopy", "save_checkpoint", "save_model", "save_pretrained"))
_TIMES = 3


@rule("metric.chosen-on-test", severity="warning", needs="end")
def chosen_on_test(run: Evidence) -> Iterator[Proof]:
    """The weights that are kept are those with the best result on the test set, and there is a validation set.

    Why it matters: the test result is then the best of many tries on the same data, so it is too good. A validation set
    is there to choose with, and the test set to look at once, at the end.

    What to do: compare the validation result, and evaluate the test set after the training.

    How it is found: the value that decides which weights are kept is computed from data called test, the script has
    other data called validation, and the test set was evaluated several times while the model was trained.

    Bad:
        accuracy = evaluate(model, test_loader)
        if accuracy > best:
            best = accuracy
            torch.save(model.state_dict(), "best.pt")
    Good:
        accuracy = evaluate(model, val_loader)
    """
    if not _evaluated_often(run):
        return
    files = run.source.files()
    for file in files:
        names = {node.id for node in file.walk(ast.Name)}
        if not any(map(_VALIDATION.search, names)):
            continue
        for best in best_trackers(file, files):
            made = _made(best)
            if made is None or not _keeps(best):
                continue
            read = set(names_in(made.value))
            if any(map(_TEST.search, read)) and not any(map(_VALIDATION.search, read)):
                yield Proof(
                    where=file.site(made.value),
                    message="the weights to keep are chosen by the result on the test set, although there is a "
                    "validation set",
                    label="computed from the test set",
                    evidence={"value": ast.unparse(made.value)[:80], "best": best.name},
                    fix="compute it from the validation set, and evaluate the test set once, after the training",
                    related=[(file.site(best.branch), "it decides here which weights are kept")],
                )
                return


def _evaluated_often(run: Evidence) -> bool:
    """Whether data called test was evaluated again and again while the model was trained."""
    for loader in run.loaders.all:
        if loader.epochs >= _TIMES and not loader.trains and any(map(_TEST.search, loader_names(run, loader))):
            return True
    for diet in run.batches.diets:
        for evaluated in diet.evaluated:
            words = {word for place in evaluated.places for word in words_of(run, place)}
            if evaluated.calls >= _TIMES and any(map(_TEST.search, words)):
                return True
    return False


def _made(best: Best) -> ast.Assign | None:
    """The one statement that computes the value which is compared."""
    names = {part.id for part in ast.walk(best.test) if isinstance(part, ast.Name)} - {best.name}
    if len(names) != 1:
        return None
    name = next(iter(names))
    scope = best.file.enclosing(best.branch, ast.FunctionDef, ast.AsyncFunctionDef) or best.file.tree
    made = [
        one
        for one in ast.walk(scope)
        if isinstance(one, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in one.targets)
    ]
    loop = best.file.enclosing(best.branch, ast.For, ast.While)
    inside = [one for one in made if loop is not None and loop in best.file.up(one)]
    return inside[0] if len(inside) == 1 else None


def _keeps(best: Best) -> bool:
    """Whether weights are put away when a better value is found."""
    calls = [one for part in best.body for one in ast.walk(part) if isinstance(one, ast.Call)]
    return any(called_name(call) in _KEEPS for call in calls)
