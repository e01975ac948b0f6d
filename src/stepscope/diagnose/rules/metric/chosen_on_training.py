from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose.best_tracking import Best, best_trackers
from stepscope.diagnose.data_sources import loader_names, words_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name
from stepscope.evidence.batches import Evaluated

_VALIDATION = re.compile(r"(^|_)(val|valid|validation|dev|held|holdout)(_|\d|$)|^[xy]_?v(al)?$", re.I)
_KEEPS = frozenset(("save", "state_dict", "deepcopy", "save_checkpoint", "save_model", "save_pretrained"))
_TIMES = 3


@rule("metric.chosen-on-training", severity="warning", needs="end")
def chosen_on_training(run: Evidence) -> Iterator[Proof]:
    """The weights that are kept are those with the best training loss, although a validation set is evaluated.

    Why it matters: the training loss goes on falling while the model overfits, so the last weights are nearly always
    "the best", and the validation set chooses nothing.

    What to do: compare the validation result.

    How it is found: the value that decides which weights are kept is computed in the loop that trains, by nothing but
    the training batches. Data called validation, none of which was trained on, is evaluated again and again.

    Bad:
        if train_loss < best:
            best = train_loss
            torch.save(model.state_dict(), "best.pt")
    Good:
        if val_loss < best:
            best = val_loss
            torch.save(model.state_dict(), "best.pt")
    """
    if not any(_validates(run, one) for diet in run.batches.diets for one in diet.evaluated):
        return
    files = run.source.files()
    for file in files:
        for best in best_trackers(file, files):
            made = _trained_value(file, files, best)
            if made is None or not _keeps(best):
                continue
            yield Proof(
                where=file.site(best.branch),
                message=f"the weights to keep are chosen by the training loss ({best.what}), although a validation set "
                "is evaluated",
                label="compares the training loss",
                evidence={"value": best.what, "best": best.name},
                fix="compare the result on the validation set here",
                related=[(file.site(made), "computed from the training batches")],
            )
            return


def _validates(run: Evidence, one: Evaluated) -> bool:
    if one.calls < _TIMES or one.seen:
        return False
    words = {word for place in one.places for word in words_of(run, place)}
    names = loader_names(run, one.loader) if one.loader is not None else ()
    return any(map(_VALIDATION.search, (*words, *names)))


def _keeps(best: Best) -> bool:
    nodes = [node for statement in best.body for node in ast.walk(statement)]
    return any(isinstance(node, ast.Call) and called_name(node) in _KEEPS for node in nodes)


def _trained_value(file: SourceFile, files: list[SourceFile], best: Best) -> ast.stmt | None:
    """The statement of the training that computes the compared value; None where it may come from elsewhere."""
    scope = file.enclosing(best.branch, ast.FunctionDef, ast.AsyncFunctionDef) or file.tree
    names = {part.id for part in ast.walk(best.test) if isinstance(part, ast.Name)} - {best.name}
    if len(names) != 1:
        return None
    found: ast.stmt | None = None
    wanted, seen = list(names), set[str]()
    for name in wanted:
        seen.add(name)
        for made in ast.walk(scope):
            if not isinstance(made, (ast.Assign, ast.AugAssign)) or name not in _set_by(made):
                continue
            if _calls_training(files, made.value):
                found = found or made
            elif _asks_own_function(files, made.value) and not _is_learned_from(file, made, name):
                return None
            elif _trains_here(file, made):
                found = found or made
            else:
                wanted += [one for one in _read(made.value) if one not in seen and one not in wanted]
    return found


def _set_by(made: ast.Assign | ast.AugAssign) -> set[str]:
    targets = made.targets if isinstance(made, ast.Assign) else [made.target]
    parts = [part for target in targets for part in getattr(target, "elts", [target])]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _read(value: ast.expr) -> list[str]:
    return [part.id for part in ast.walk(value) if isinstance(part, ast.Name)]


def _asks_own_function(files: list[SourceFile], value: ast.expr) -> bool:
    """It may have evaluated a model."""
    called = {called_name(call) for call in ast.walk(value) if isinstance(call, ast.Call)}
    return any(one.name in called for file in files for one in file.walk(ast.FunctionDef))


def _is_learned_from(file: SourceFile, made: ast.stmt, name: str) -> bool:
    """`name.backward()` in the same function."""
    home = file.enclosing(made, ast.FunctionDef, ast.AsyncFunctionDef)
    for call in file.walk(ast.Call):
        if called_name(call) != "backward" or not isinstance(call.func, ast.Attribute):
            continue
        is_here = file.enclosing(call, ast.FunctionDef, ast.AsyncFunctionDef) is home
        if is_here and isinstance(call.func.value, ast.Name) and call.func.value.id == name:
            return True
    return False


def _trains_here(file: SourceFile, made: ast.stmt) -> bool:
    """Whether it stands in a loop that trains, and is not the loop over the epochs."""
    for loop in file.up(made):
        if isinstance(loop, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        if isinstance(loop, (ast.For, ast.While)):
            inner = [node for node in ast.walk(loop) if isinstance(node, (ast.For, ast.While)) and node is not loop]
            return _trains(loop) and not any(map(_trains, inner))
    return False


def _calls_training(files: list[SourceFile], value: ast.expr) -> bool:
    """`loss = train_epoch(model, loader)`"""
    called = called_name(value) if isinstance(value, ast.Call) else ""
    functions = [one for file in files for one in file.walk(ast.FunctionDef) if called and one.name == called]
    return bool(functions) and all(map(_trains, functions)) and not any(map(_is_switched, functions))


def _trains(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) and called_name(one) == "backward" for one in ast.walk(node))


def _is_switched(function: ast.FunctionDef) -> bool:
    """It trains only if it is told to: `if optimizer is not None: loss.backward()`."""
    return any(isinstance(one, ast.If) and _trains(one) for one in ast.walk(function))
