from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.array_provenance import binding_of, story_at, story_of
from stepscope.diagnose.data_sources import birth, host_call, statement_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, dotted
from stepscope.diagnose.target_lines import cut_at
from stepscope.evidence.targets import Target
from stepscope.records.step import Site

_FEWEST_ROWS = 48
_LONGER = 4


@rule("data.target-leak", severity="error")
def target_leak(run: Evidence) -> Iterator[Proof]:
    """The target is among the model's input features.

    Why it matters: the model reads the target off its input. The loss looks excellent, but in use, where the target is
    unknown, the model is worthless.

    What to do: take the target's column out of the features; end the window one step before the value to predict.

    How it is found: one column of the data (or the last step of the window) equals the target in every row of every
    batch.

    Bad:
        X, y = table[:, :], table[:, -1]
    Good:
        X, y = table[:, :-1], table[:, -1]
    """
    for target in run.targets.all:
        if not target.leaking or target.leak_calls < 2 or target.leak_rows < _FEWEST_ROWS:
            continue
        columns = {column: how for column, how in target.leaking.items() if _counts(target, column, how)}
        if not columns:
            continue
        column, how = next(iter(columns.items()))
        where = _where(run, target)
        what = _named(target, column)
        same = "is the target itself" if how == "same" else "is the target, only scaled"
        yield Proof(
            where=where or target.place,
            message=f"the target is among the inputs: {what} {same} in all {target.leak_rows} rows checked",
            label=f"{what} {same}",
            evidence={"column": column, "rows": target.leak_rows, "batches": target.leak_calls, "how": how},
            fix=f"remove {what} from the model's inputs"
            + ("" if _steps(target) is None else ", or take the value after the window as the target"),
            related=[(target.place, "the loss compares with it here")],
            severity=None if how == "same" else "warning",
        )


def _counts(target: Target, column: int, how: str) -> bool:
    """Whether this match is a leak and no accident of a toy problem."""
    if len(target.distinct) < 2 or (how == "scaled" and _size(target) < 3):
        return False
    if _steps(target) is None:
        return True
    # Of a sequence only the last step counts: recalling an earlier one is a task by itself.
    return how == "same" and _is_last_step(target, column)


def _is_last_step(target: Target, column: int) -> bool:
    """Of [steps, features]; or of [channels, steps] where those are many more."""
    first, second = target.width
    return column // second == first - 1 or (second >= _LONGER * first and column % second == second - 1)


def _size(target: Target) -> int:
    size = 1
    for one in target.width:
        size *= one
    return size


def _steps(target: Target) -> int | None:
    return target.width[0] if len(target.width) == 2 else None


def _named(target: Target, column: int) -> str:
    steps = _steps(target)
    return f"column {column}" if steps is None else "the last step of the window"


def _where(run: Evidence, target: Target) -> Site | None:
    """Where the features were put together: in the dataset's own code, else behind the hand-over to torch."""
    given = _given_by(run, target)
    if given is not None:
        return given
    made = host_call(run, target.data)
    if made is None or made.place is None:
        return _behind_loop(run, target, cut_at(run, target.data) or birth(run, target.data))
    behind = story_at(run, made.place)
    return behind[-1] if behind else made.place.site


def _given_by(run: Evidence, target: Target) -> Site | None:
    """Where the `__getitem__` of the only dataset that is trained on cuts the target out, if it cuts the inputs too."""
    trained = {loader.data for loader in run.loaders.all if run.batches.trains_on(loader)}
    dataset = next(iter(trained)) if len(trained) == 1 else None
    place = None if dataset is None else dataset.methods.get("__getitem__")
    file = None if place is None else run.source.file(place.file)
    if place is None or file is None:
        return None
    method = next((one for one in file.walk(ast.FunctionDef) if _begins(one, place.site.line)), None)
    returns = [] if method is None else [one for one in ast.walk(method) if isinstance(one, ast.Return)]
    parts = returns[0].value.elts if len(returns) == 1 and isinstance(returns[0].value, ast.Tuple) else []
    cuts = [_cut_in(file, part) for part in parts]
    return file.site(cuts[-1]) if len(cuts) > 1 and cuts[-1] is not None and None not in cuts else None


def _cut_in(file: SourceFile, part: ast.expr) -> ast.stmt | None:
    """The statement that picks what is returned: `torch.from_numpy(x).float()` of `x = self.series[i:j]`."""
    node = part
    while not isinstance(node, ast.Subscript):
        if isinstance(node, ast.Name):
            bound = binding_of(file, node.id, node)
            inner = None if bound is None else bound.value
        elif isinstance(node, ast.Call):
            function = node.func
            is_method = isinstance(function, ast.Attribute) and dotted(function.value) not in ("torch", "np", "numpy")
            given = node.args[0] if node.args else None
            inner = function.value if isinstance(function, ast.Attribute) and is_method else given
        else:
            inner = node.elts[0] if isinstance(node, ast.List) and len(node.elts) == 1 else None
        if inner is None:
            return None
        node = inner
    return statement_of(file, node)


def _begins(function: ast.FunctionDef, line: int) -> bool:
    return line in (function.lineno, *(mark.lineno for mark in function.decorator_list))


def _behind_loop(run: Evidence, target: Target, site: Site | None) -> Site | None:
    """A line of the training loop only takes the data: the function that made it is where the mistake is."""
    loss = None if target.place is None else target.place.site
    file = None if site is None else run.source.file(site.file)
    if site is None or loss is None or file is None or (site.file, site.function) != (loss.file, loss.function):
        return site
    loops: list[ast.expr] = [one.iter for one in file.walk(ast.For) if one.lineno == site.line]
    taken: list[ast.expr] = [one.value for one in file.walk(ast.Subscript) if one.lineno == site.line]
    taken.sort(key=lambda node: node.col_offset)  # what the model is given stands before the target
    stories = [story_of(run, file, node) for node in loops or taken]
    return next((story[-1] for story in stories if story), site)
