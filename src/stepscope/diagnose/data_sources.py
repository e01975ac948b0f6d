"""Where data comes from in the user's source: the line that made an array, the names it goes by, its dataset's code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from stepscope.common.code_owner import is_own_file
from stepscope.diagnose.array_provenance import story_of
from stepscope.diagnose.source import SourceFile, dotted
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

_HOST = frozenset({"tensor", "from_numpy", "as_tensor", "frombuffer", "asarray", "from_dlpack"})
_COLLATING = frozenset({"stack", "cat", "to", "float", "cpu", "pin_memory", "clone", "detach"})


def birth(run: Evidence, origin: Origin | None) -> Site | None:
    """The line that made this data: where it left numpy or Python for torch, else its first op in the user's code."""
    if origin is None:
        return None
    first: Place | None = None
    for past in origin.ancestors(300):
        if past.op and past.place is not None and is_own_file(past.place.file):
            if past.op in _HOST:
                return past.place.site
            if past.op not in _COLLATING:
                first = past.place
    return None if first is None else first.site


def host_call(run: Evidence, origin: Origin | None) -> Origin | None:
    """The op that took this data from numpy or Python."""
    if origin is None:
        return None
    return next((past for past in origin.ancestors(300) if past.op in _HOST and past.place is not None), None)


def statement_of(file: SourceFile, node: ast.AST) -> ast.stmt | None:
    found = node if isinstance(node, ast.stmt) else file.enclosing(node, ast.stmt)
    return found if isinstance(found, ast.stmt) else None


def names_in(node: ast.AST) -> list[str]:
    """The variables an expression reads, `self.x` as one name; not the functions it calls."""
    called = {id(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
    found: list[str] = []
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and id(part) not in called and dotted(part).startswith("self."):
            found.append(dotted(part))
        elif isinstance(part, ast.Name) and id(part) not in called and part.id not in ("torch", "np", "numpy", "self"):
            found.append(part.id)
    return list(dict.fromkeys(found))


def words_of(run: Evidence, place: Place | Site | None) -> list[str]:
    """The names in the arguments of the call that ran at a place."""
    node = run.source.expression(place)
    if node is None:
        return []
    if isinstance(node, ast.Call):
        parts: Iterable[ast.AST] = (*node.args, *(word.value for word in node.keywords))
    else:
        parts = (node,)
    return [part.attr if isinstance(part, ast.Attribute) else part.id for arg in parts for part in ast.walk(arg)
            if isinstance(part, (ast.Name, ast.Attribute))]  # fmt: skip


def loader_call(run: Evidence, loader: Loader) -> tuple[SourceFile, ast.Call] | None:
    """The call that made a loader."""
    call = run.source.call(loader.made)
    if call is None or loader.made is None:
        return None
    file = run.source.file(loader.made.site.file)
    return None if file is None else (file, call)


def dataset_line(run: Evidence, loader: Loader) -> Site | None:
    """Where a loader's dataset was made: the statement behind its variable, else the loader's own line."""
    made = loader_call(run, loader)
    if made is None:
        return None if loader.made is None else loader.made.site
    file, call = made
    words = {word.arg: word.value for word in call.keywords}
    dataset = words.get("dataset") or (call.args[0] if call.args else None)
    if dataset is None or not dotted(dataset):
        return file.site(call)
    behind = story_of(run, file, dataset)
    return behind[0] if behind else file.site(call)


def loader_names(run: Evidence, loader: Loader, *, made_from: bool = True) -> list[str]:
    """What the script calls a loader: the variable it is bound to and (unless told not to) those it is made from."""
    found: list[str] = []
    made = loader_call(run, loader)
    if made is not None:
        file, call = made
        statement = statement_of(file, call)
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found += _targets_of(targets, statement.value, call)
        if made_from:
            found += words_of(run, loader.made)
    looped = _looped_over(run, loader.iterated)
    return found if looped is None else found + [name.rpartition(".")[2] for name in names_in(looped)]


def _looped_over(run: Evidence, place: Place | None) -> ast.AST | None:
    """What a `for` goes through: Python gives the place of its beginning as that of the whole statement."""
    node = run.source.expression(place)
    file = None if node is not None or place is None else run.source.file(place.site.file)
    if file is None or place is None:
        return node
    line = place.site.line
    return next((loop.iter for loop in file.walk(ast.For) if loop.lineno == line), None)


def _targets_of(targets: list[Any], value: ast.expr | None, call: ast.Call) -> list[str]:
    """The names a call's value goes to, also in `a, b = f(), g()`."""
    for target in targets:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = zip(target.elts, value.elts, strict=True)
            return [dotted(one).rpartition(".")[2] for one, made in pairs if call in list(ast.walk(made))]
    return [dotted(one).rpartition(".")[2] for target in targets for one in getattr(target, "elts", [target])]


_HELD_OUT = re.compile(r"^(test|tst|val|valid|validation|eval|holdout|heldout|unseen)(?!u)", re.I)
_SHORT = re.compile(r"^[xy]?_?(te|tst|va|val|dev|test)(_?(x|y|dl|ds|set|loader|idx|data|mask))?$", re.I)
_TRAINING = re.compile(r"(^|_)(x|y)?_?(train|tr|trn|fit)|train", re.I)


def held_out(names: Iterable[str]) -> bool:
    """Whether one of these names says: kept away from training.

    >>> held_out(["X_test"]), held_out(["testloader"]), held_out(["values"]), held_out(["device"])
    (True, True, False, False)
    """
    for name in names:
        parts = [part for part in re.split(r"[_\d.]+|(?<=[a-z])(?=[A-Z])", name) if part]
        if _SHORT.match(name) or any(_HELD_OUT.match(part) for part in parts):
            return True
    return False


def of_training(names: Iterable[str]) -> bool:
    """Whether one of these names says: for training.

    >>> of_training(["train_loader"]), of_training(["Xtr"]), of_training(["x"])
    (True, True, False)
    """
    return any(_TRAINING.search(name) for name in names)


def function_at(run: Evidence, place: Place | None) -> tuple[SourceFile, ast.FunctionDef] | None:
    """The source of a function of the user's own, by the place where it begins."""
    file = None if place is None else run.source.file(place.file)
    if file is None or place is None:
        return None
    for node in file.walk(ast.FunctionDef):
        first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
        if node.name == place.name and place.first_line in (first, node.lineno):
            return file, node
    return None
