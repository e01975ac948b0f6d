from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.array_provenance import binding_of, returned_by
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name

_RANKING = frozenset({
    "roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve", "det_curve", "log_loss",
    "brier_score_loss", "binary_auroc", "auroc",
})  # fmt: skip
_SCORES = ("y_score", "y_prob", "y_proba", "y_pred", "probas_pred")
_SAME = frozenset({
    "float", "double", "half", "int", "long", "bool", "to", "type", "astype", "cpu", "detach", "numpy", "tolist",
    "squeeze", "flatten", "ravel", "reshape", "view", "unsqueeze", "clone", "copy", "item",
})  # fmt: skip
_GATHER = frozenset({
    "concatenate", "cat", "concat", "stack", "hstack", "vstack", "array", "asarray", "tensor", "as_tensor", "list",
})  # fmt: skip
_DECIDE = frozenset({"argmax", "round", "predict", "gt", "ge", "heaviside", "sign", "rint"})
_DEEPEST = 10


@rule("metric.hard-scores", severity="warning", needs="end")
def hard_scores(run: Evidence) -> Iterator[Proof]:
    """A metric that ranks scores gets decisions: only 0 and 1.

    Why it matters: the area under the ROC curve, average precision and the log loss ask how well scores sort the
    samples. After `> 0.5` there are only two scores left, so the result is another number, usually a lower one.

    What to do: give the metric the probabilities (or the raw scores), and keep the decisions for accuracy and F1.

    How it is found: the scores of such a metric go back, in the source, to a comparison or an `argmax` of what a model
    returned, and that line has run.

    Bad:
        preds.append((model(x).sigmoid() > 0.5).float())
        roc_auc_score(y, torch.cat(preds))
    Good:
        preds.append(model(x).sigmoid())
        roc_auc_score(y, torch.cat(preds))
    """
    decided = {_line(one.place) for one in run.metrics.decisions if one.place is not None}
    called = {_line(visit.place) for visit in run.visits.roots if visit.place is not None}
    for file in run.source.files():
        for call in file.calls(*_RANKING):
            scores = _scores(call)
            decision = None if scores is None else _decision(file, scores)
            if decision is None or not _has_run(file, decision, decided | called):
                continue
            yield Proof(
                where=file.site(decision),
                message=f"{called_name(call)} gets decisions, 0 or 1, where it needs scores to sort the samples by",
                label="only two values are left here",
                evidence={"metric": called_name(call), "decision": ast.unparse(decision)[:80]},
                fix=f"give {called_name(call)} the scores from before this decision",
                related=[(file.site(call), "the metric")],
            )


def _line(place: object) -> tuple[str, int]:
    site = place.site  # type: ignore[attr-defined]
    return site.file, site.line


def _scores(call: ast.Call) -> ast.expr | None:
    named = next((word.value for word in call.keywords if word.arg in _SCORES), None)
    return named or (call.args[1] if len(call.args) > 1 and not isinstance(call.args[1], ast.Starred) else None)


def _decision(file: SourceFile, node: ast.expr, depth: int = 0) -> ast.expr | None:
    """The comparison or `argmax` that all of these values are the results of."""
    if depth > _DEEPEST:
        return None
    if isinstance(node, ast.Compare):
        return node
    if isinstance(node, ast.Call):
        name = called_name(node)
        own = [one for one in file.walk(ast.FunctionDef) if one.name == name]
        if own:  # `predict` may well return probabilities
            ends = [_decision(file, value, depth + 1) for one in own for value in returned_by(one)]
            return ends[0] if ends and all(end is not None for end in ends) else None
        if name in _DECIDE:
            return node
        if name in _SAME and isinstance(node.func, ast.Attribute):
            return _decision(file, node.func.value, depth + 1)
        return _decision(file, node.args[0], depth + 1) if name in _GATHER and node.args else None
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return _decision(file, node.elt, depth + 1)
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return node if called_name(node.value) == "max" and _is_second(node) else None
    return _of_name(file, node, depth) if isinstance(node, ast.Name) else None


def _is_second(node: ast.Subscript | ast.Attribute) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "indices"
    return isinstance(node.slice, ast.Constant) and node.slice.value == 1


def _of_name(file: SourceFile, node: ast.Name, depth: int) -> ast.expr | None:
    binding = binding_of(file, node.id, node)
    if binding is None or binding.value is None or binding.value is node:
        return None
    value = binding.value
    if isinstance(value, ast.List) and not value.elts:
        return _of_list(file, node, depth)
    if isinstance(value, ast.Call) and called_name(value) == "max":
        return value if binding.index == 1 else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return _returned(file, value.func.id, binding.index, depth) or _decision(file, value, depth + 1)
    return None if binding.index is not None else _decision(file, value, depth + 1)


def _returned(file: SourceFile, name: str, index: int | None, depth: int) -> ast.expr | None:
    """What a function of the same file gives back, where it has one return."""
    function = next((one for one in file.walk(ast.FunctionDef) if one.name == name), None)
    given = [] if function is None else returned_by(function)
    if len(given) != 1:
        return None
    value = given[0]
    if index is not None:
        value = value.elts[index] if isinstance(value, ast.Tuple) and index < len(value.elts) else value
        if value is given[0]:
            return None
    return _decision(file, value, depth + 1)


def _of_list(file: SourceFile, node: ast.Name, depth: int) -> ast.expr | None:
    """What is put into a list: decisions only."""
    scope = file.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
    given = [
        call.args[0]
        for call in (one for one in ast.walk(scope) if isinstance(one, ast.Call) and one.args)
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "extend")
        and isinstance(call.func.value, ast.Name) and call.func.value.id == node.id
    ]  # fmt: skip
    found = [_decision(file, one, depth + 1) for one in given]
    return found[0] if found and all(one is not None for one in found) else None


def _has_run(file: SourceFile, node: ast.expr, lines: set[tuple[str, int]]) -> bool:
    """Whether values of a model became decisions on this line, or a model was called in the same function."""
    if any((file.path, line) in lines for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)):
        return True
    scope = file.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    if scope is None:
        return False
    return any(path == file.path and scope.lineno <= line <= (scope.end_lineno or 0) for path, line in lines)
