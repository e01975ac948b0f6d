from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.array_provenance import binding_of
from stepscope.diagnose.carried_models import carried_from
from stepscope.diagnose.data_sources import held_out, loader_names, names_in, of_training, words_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.held_out_lines import REPEATED, training_line
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile
from stepscope.evidence.batches import Diet, Evaluated
from stepscope.evidence.loaders import Loader
from stepscope.records.dtypes import is_floating
from stepscope.records.place import Place

_SHARE = 0.05
_SHARE_UNNAMED = 0.1
_FEWEST_ROWS = 8
_NARROWEST = 3
_BITS = 40
_OVER = 4
_TRAINING_ROWS = re.compile(r"train(ing)?_?(mask|idx|index|indices|ids|nodes|rows)|(mask|idx)_train", re.I)
_ALL = 0.95
_FOLD = re.compile(r"fold(?!er)", re.I)


@rule("data.test-in-train", severity="error")
def test_in_train(run: Evidence) -> Iterator[Proof]:
    """Rows the model is tested on were trained on before.

    Why it matters: the test measures data the model knows, so the result is too good and says nothing about new data.

    What to do: split once, train on one part, test on the other; make both parts from the same split.

    How it is found: rows that go into the model are marked by their values. Rows evaluated under a name such as `test`
    or `val` (or made from such a variable), or in a trainer's validation, that this very model had been trained on
    before are a leak; so is an evaluation where part of the rows were trained on and part were not. Evaluating the
    training data as such, folds with a model each, and plain repeats in the data are fine.

    Bad:
        fit(model, X, y); evaluate(model, X_test, y_test)         # X_test is part of X
    Good:
        fit(model, X_train, y_train); evaluate(model, X_test, y_test)
    """
    for diet in run.batches.diets:
        if diet.trained_calls < 3:
            continue
        for evaluated in diet.evaluated:
            share = _share(diet, evaluated)
            if share is None or _is_training(diet, evaluated) or _is_drawn_from(run, evaluated):
                continue
            named = _told(run, diet, evaluated) or _says(run, evaluated)
            behind = "" if named or _starts_again(run, evaluated) else _says_behind(run, evaluated)
            if named == "training":
                continue
            if share < _ALL and carried_from(run, diet, evaluated) is not None:
                yield _proof(run, diet, evaluated, share, sure=True)
                continue
            if named == "held out" and share >= _SHARE:
                yield _proof(run, diet, evaluated, share, sure=True)
                continue
            is_kept_away = behind == "held out" and share >= _SHARE_UNNAMED
            if is_kept_away or (_is_known(run, diet) and _is_partial(diet, evaluated, share)):
                yield _proof(run, diet, evaluated, share, sure=False)
    yield from _all_nodes(run)


def _is_training(diet: Diet, evaluated: Evaluated) -> bool:
    """The line that trains, on the data that trains: a model left in eval mode, or a loss that was not used."""
    trains = bool(evaluated.places) and evaluated.places[0] in diet.places
    return trains and (evaluated.loader is None or evaluated.loader in diet.loaders)


def _is_drawn_from(run: Evidence, evaluated: Evaluated) -> bool:
    """Whether the same function gives the model rows that it draws from the tensor evaluated: `net(x[i])`, `net(x)`."""
    place = evaluated.places[0] if evaluated.places else None
    file, call = (None, None) if place is None else (run.source.file(place.file), run.source.expression(place))
    if file is None or not isinstance(call, ast.Call) or not call.args or not isinstance(call.args[0], ast.Name):
        return False
    return any(
        ast.unparse(other.func) == ast.unparse(call.func)
        and file.enclosing(other, ast.FunctionDef) is file.enclosing(call, ast.FunctionDef)
        and any(_draws_from(given, call.args[0].id) for given in other.args[:1])
        for other in file.walk(ast.Call)
    )


def _draws_from(given: ast.expr, name: str) -> bool:
    """`x[picked]`"""
    is_picked = isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Name)
    return is_picked and isinstance(given.value, ast.Name) and given.value.id == name  # type: ignore[attr-defined]


def _share(diet: Diet, evaluated: Evaluated) -> float | None:
    """Which share of the evaluated rows was trained on; None when it can be chance or is not so."""
    rows = evaluated.rows
    if rows < _FEWEST_ROWS or not evaluated.seen:
        return None
    look = evaluated.look
    if look is None or look.width < _NARROWEST:
        return None  # a curve or a picture is fitted and looked at on the same grid
    share = evaluated.seen / rows
    few = look.bits < _BITS or not is_floating(look.dtype)
    if few and (share < 0.5 or evaluated.repeats or diet.repeats):
        return None  # codes and tokens repeat by themselves
    return share if share >= _SHARE else None


def _is_known(run: Evidence, diet: Diet) -> bool:
    """Whether nearly all rows of the training were seen: in every step, or each of them several times over."""
    return diet.trained_calls >= 0.95 * run.steps.backward_count or diet.rows >= _OVER * diet.trained


def _is_partial(diet: Diet, evaluated: Evaluated, share: float) -> bool:
    if evaluated.look is None or evaluated.look.whole or evaluated.look.bits < _BITS:
        return False
    if diet.missed or evaluated.unseen:  # the rows that seem new may have been trained on too
        return False
    many_left_out = evaluated.left_out >= 0.05 * diet.trained
    return _SHARE_UNNAMED <= share <= 0.95 and many_left_out and evaluated.rows >= 16


def _says(run: Evidence, evaluated: Evaluated) -> str:
    """What the names at the places of the call say about the data: the innermost that says anything."""
    chains = [words_of(run, place) for place in evaluated.places]
    if evaluated.loader is not None:
        if _is_of_training(run, evaluated.loader):
            return "held out"
        chains.insert(0, loader_names(run, evaluated.loader))
    for names in chains:
        if of_training(names):
            return "training"
        if held_out(names):
            return "held out"
    return ""


def _is_of_training(run: Evidence, loader: Loader) -> bool:
    """`val_loader = DataLoader(train_set)`: its own name is the promise, and the data is that of the training."""
    own = loader_names(run, loader, made_from=False)
    is_promised = held_out(name for name in own if "eval" not in name.lower()) and not of_training(own)
    return is_promised and of_training(words_of(run, loader.made))


def _says_behind(run: Evidence, evaluated: Evaluated) -> str:
    """What the variables say that the evaluated data was made from: `xv = torch.from_numpy(X_test)`."""
    for place in evaluated.places:
        file, node = run.source.file(place.file), run.source.expression(place)
        if file is None or not isinstance(node, ast.Call):
            continue
        names = {part.id for argument in node.args for part in ast.walk(argument) if isinstance(part, ast.Name)}
        behind = {word for name in names for word in _behind(file, name, node)}
        if held_out(behind) != of_training(behind):
            return "held out" if held_out(behind) else "training"
    return ""


def _behind(file: SourceFile, name: str, at: ast.AST, depth: int = 2) -> set[str]:
    binding = binding_of(file, name, at)
    if binding is None or binding.value is None:
        return set()
    found = set(names_in(binding.value))
    if depth:
        found |= {word for other in found for word in _behind(file, other, binding.statement, depth - 1)}
    return found


def _starts_again(run: Evidence, evaluated: Evaluated) -> bool:
    """Whether the model may get its first weights back in each fold."""
    for place in evaluated.places:
        file = run.source.file(place.file)
        if file is not None and any(file.calls("load_state_dict", "reset_parameters", "apply")):
            return True
    return False


def _told(run: Evidence, diet: Diet, evaluated: Evaluated) -> str:
    """What a trainer says that it evaluates, with a loader of its own making: no name in the script tells of that one.

    Given the training data itself, or data under such a name, it does what it was asked to.
    """
    loader = evaluated.loader
    if loader is None or loader.told not in ("validation", "test") or loader.made != loader.iterated:
        return ""
    if loader.data is not None and any(one.data is loader.data for one in diet.loaders):
        return "training"
    words = words_of(run, loader.made)  # `trainer.train()` says nothing; `model.evaluate(x, y)` may mean any data
    return "held out" if not words else "training" if of_training(words) else ""


def _proof(run: Evidence, diet: Diet, evaluated: Evaluated, share: float, *, sure: bool) -> Proof:
    seen, rows = evaluated.seen, evaluated.rows
    folds = any(_FOLD.search(name) for place in evaluated.places for name in words_of(run, place))
    carried = carried_from(run, diet, evaluated)
    where, how = (carried, "made once, before the folds") if carried else training_line(run, diet, evaluated)
    related: list[tuple[Any, str]] = []
    if share >= _ALL and evaluated.loader is not None and _is_of_training(run, evaluated.loader):
        where, how = evaluated.loader.made, "made of the training data"
    if evaluated.places:
        related.append((evaluated.places[0], "evaluated here"))
    return Proof(
        where=where,
        message=f"{seen} of the {rows} rows {diet.type} is evaluated on were trained on before"
        + (": it goes on from fold to fold" if carried else ""),
        label=how or f"{share:.0%} of the evaluated rows are in the training data",
        evidence={"rows": rows, "trained_on": seen, "share": round(share, 3)},
        fix="make the model and its optimizer inside the loop, new for each fold"
        if carried
        else "split first, then repeat rows of the training part only"
        if how == REPEATED
        else "split the data once and keep the evaluation rows out of training",
        related=related,
        severity="info" if folds and not carried else None if sure else "warning",
    )


def _all_nodes(run: Evidence) -> Iterator[Proof]:
    """One graph is given whole; the loss takes all of its nodes although some are kept for the test."""
    for picked in run.metrics.picked:
        if not held_out(words_of(run, picked.place) or ()) and not _is_in_test(run, picked.place):
            continue
        for target in run.targets.all:
            if target.whole and target.whole == target.looks >= 3 and target.rows == picked.rows:
                yield Proof(
                    where=target.place,
                    message=f"the loss takes all {target.rows} rows, including those selected for the test",
                    label="the test rows are in the loss",
                    evidence={"rows": target.rows, "test_rows": picked.count},
                    fix="compute the loss only on the training rows: loss(out[train_mask], y[train_mask])",
                    related=[(picked.place, "the test rows are picked here")],
                )


def _is_in_test(run: Evidence, place: Place | None) -> bool:
    """Whether a function that is named for testing picks the rows, in a file that knows which rows train."""
    file = None if place is None else run.source.file(place.file)
    if place is None or file is None or not held_out([place.function]):
        return False
    names = (one.id if isinstance(one, ast.Name) else one.attr for one in file.walk(ast.Name, ast.Attribute))
    return any(_TRAINING_ROWS.fullmatch(name) for name in names)
