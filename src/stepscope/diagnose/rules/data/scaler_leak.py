from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.array_provenance import binding_of
from stepscope.diagnose.crash.bindings import body_nodes
from stepscope.diagnose.data_sources import names_in
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name, dotted

_FITS = ("fit", "fit_transform")
_SPLITS = ("train_test_split", "random_split", "split")


@rule("data.scaler-leak", severity="info", needs="source")
def scaler_leak(run: Evidence) -> Iterator[Proof]:
    """The scaling is computed, or the features are chosen, from all data, the test part included.

    Why it matters: means and deviations of the test rows flow into training, so the test result is a little too good.
    With features chosen by the labels of all rows it is far too good: even pure noise then seems to predict them.

    What to do: split first, fit the scaler (or the selection) on the training part, apply it to both.

    How it is found: the source fits a scaler (or takes mean and deviation) on an array that is split afterward. It is a
    warning where the labels are fitted too (`SelectKBest(...).fit_transform(X, y)`), and the script has trained.

    Bad:
        X = StandardScaler().fit_transform(X)
        X_train, X_test = train_test_split(X)
    Good:
        X_train, X_test = train_test_split(X)
        scaler = StandardScaler().fit(X_train)
    """
    for file in run.source.files():
        for scope in file.walk(ast.Module, ast.FunctionDef):
            yield from _in_scope(file, scope)


def _in_scope(file: SourceFile, scope: ast.AST) -> Iterator[Proof]:
    nodes = list(body_nodes(scope))
    splits = [
        (call.lineno, _given(call)) for call in nodes if isinstance(call, ast.Call) and called_name(call) in _SPLITS
    ]
    cuts = [
        (node.lineno, [dotted(node.value)])
        for node in nodes
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load)
        and (node.slice.upper is None) != (node.slice.lower is None)
    ]  # fmt: skip
    for statement in nodes:
        if not isinstance(statement, (ast.Assign, ast.Expr)):
            continue
        with_labels = _fitted_with_labels(statement, nodes)
        chosen = with_labels[0] if with_labels else _chosen(file, statement)
        fitted = chosen or _fitted(statement)
        if fitted is None:
            continue
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        results = [name for target in targets for name in names_in_target(target)] or [fitted]
        results += with_labels
        where = next(
            (line for line, names in splits if line > statement.lineno and set(names) & {*results, fitted}), None
        ) or _both_sides(cuts, statement.lineno, {*results, fitted})
        if where is None:
            continue
        if chosen is not None:
            yield Proof(
                where=file.site(statement),
                severity="warning",
                message=f"the features are made with the labels of all of {fitted}, which is split into training and "
                "test only later",
                label=f"sees the labels of the test rows; the split is in line {where}",
                evidence={"array": fitted, "split_line": where},
                fix="split first, choose the features with the training part only and apply the choice to both",
            )
            continue
        yield Proof(
            where=file.site(statement),
            message=f"the scaling is computed from all of {fitted}, which is split into training and test only later",
            label=f"sees the test rows too; the split is in line {where}",
            evidence={"array": fitted, "split_line": where},
            fix="split first, fit the scaler on the training part only and apply it to both",
        )


def _given(call: ast.Call) -> list[str]:
    """What a splitter is given; `x.split(32)` cuts batches."""
    return [name for part in (*call.args, *(word.value for word in call.keywords)) for name in names_in(part)]


def _chosen(file: SourceFile, statement: ast.Assign | ast.Expr) -> str | None:
    """The array that a transformer is fitted on together with the labels, or whose columns are chosen by them."""
    value = statement.value
    for call in ast.walk(value):
        if isinstance(call, ast.Call) and called_name(call) == "fit_transform" and len(call.args) == 2:
            return dotted(call.args[0]) or None
    cut = value.slice if isinstance(value, ast.Subscript) else None
    if not isinstance(statement, ast.Assign) or not isinstance(cut, ast.Tuple) or len(cut.elts) != 2:
        return None
    rows, columns = cut.elts
    assert isinstance(value, ast.Subscript)
    array = dotted(value.value).removesuffix(".iloc").removesuffix(".loc")
    if not array or not isinstance(rows, ast.Slice) or rows.lower or rows.upper or not isinstance(columns, ast.Name):
        return None
    behind = _behind(file, columns)
    labels = {name for call in file.calls("train_test_split") for name in _given(call)} - {array}
    return array if array in behind and behind & labels else None


def _fitted_with_labels(statement: ast.Assign | ast.Expr, nodes: list[ast.AST]) -> list[str]:
    """Of `selector.fit(X, y)` the X, and what the selector makes of all of X: `chosen = selector.transform(X)`."""
    call = statement.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "fit":
        return []
    array = dotted(call.args[0]) if len(call.args) == 2 else ""
    owners = {dotted(target) for target in getattr(statement, "targets", ())} | {dotted(call.func.value)} - {""}
    for node in nodes if array else ():
        if not isinstance(node, ast.Assign) or node.lineno <= statement.lineno:
            continue
        made = node.value
        if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or made.func.attr != "transform":
            continue
        if dotted(made.func.value) in owners and [dotted(one) for one in made.args] == [array]:
            return [array, *(name for target in node.targets for name in names_in_target(target))]
    return []


def _behind(file: SourceFile, name: ast.Name, depth: int = 4) -> set[str]:
    """The variables that a value was computed from."""
    found: set[str] = set()
    binding = binding_of(file, name.id, name)
    for part in ast.walk(binding.value) if binding is not None and binding.value is not None else ():
        if isinstance(part, ast.Name):
            found.add(part.id)
            if depth:
                found |= _behind(file, part, depth - 1)
    return found


def names_in_target(target: ast.expr) -> list[str]:
    return [dotted(part) for part in getattr(target, "elts", [target]) if dotted(part)]


def _fitted(statement: ast.Assign | ast.Expr) -> str | None:
    """The array whose statistics this statement takes for a scaling."""
    value = statement.value
    for call in ast.walk(value):
        if not isinstance(call, ast.Call) or called_name(call) not in _FITS or len(call.args) != 1:
            continue
        scaler = ast.unparse(call.func).lower()
        if any(word in scaler for word in ("scal", "norm", "pca", "imputer", "sc.", "targetencoder")):
            return dotted(call.args[0]) or None
    if isinstance(statement, ast.Assign) and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
        means = {_asked(node, "mean", "min") for node in ast.walk(value.left)}
        spreads = {_asked(node, "std", "max") for node in ast.walk(value.right)}
        both = (means & spreads) - {""}
        return next(iter(both), None)
    return None


def _asked(node: ast.AST, *names: str) -> str:
    """Of `x.mean(0)` the x."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
        return dotted(node.func.value)
    return ""


def _both_sides(cuts: list[tuple[int, list[str]]], after: int, names: set[str]) -> int | None:
    """The line of the first of two cuts (`x[:n]` and `x[n:]`) of one of the arrays."""
    lines = [line for line, cut in cuts if line > after and set(cut) & names]
    return lines[0] if len(lines) >= 2 else None
