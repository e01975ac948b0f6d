from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.array_provenance import binding_of
from stepscope.diagnose.data_sources import names_in
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name

_METRICS = frozenset((
    "r2_score", "explained_variance_score", "mean_absolute_percentage_error", "d2_absolute_error_score", "fbeta_score",
    "precision_score", "recall_score", "classification_report", "balanced_accuracy_score", "confusion_matrix",
    "precision_recall_fscore_support",
))  # fmt: skip
"""Of scikit-learn's metrics those that give something else with their arguments swapped."""
_DEEPEST = 6


@rule("metric.swapped-args", severity="warning", needs="end")
def swapped_args(run: Evidence) -> Iterator[Proof]:
    """A metric of scikit-learn gets the predictions first and the true values second.

    Why it matters: scikit-learn takes `(y_true, y_pred)`. Swapped, precision and recall trade places, R2 divides by the
    variance of the predictions, a confusion matrix is transposed: no error, only another number.

    What to do: give the true values first, or by name: `r2_score(y_true=y, y_pred=predicted)`.

    How it is found: what is given first goes back to a line on which a model was called in this run; what is given
    second does not. Metrics that are the same both ways are left alone.

    Bad:
        r2_score(model(x).numpy(), y)
    Good:
        r2_score(y, model(x).numpy())
    """
    called = {(visit.place.site.file, visit.place.site.line) for visit in run.visits.roots if visit.place is not None}
    for file in run.source.files():
        for call in file.calls(*_METRICS):
            if len(call.args) < 2 or any(isinstance(arg, ast.Starred) for arg in call.args[:2]):
                continue
            first, second = call.args[:2]
            if _is_output(file, first, called) and not _is_output(file, second, called) and _is_known(file, second):
                yield Proof(
                    where=file.site(call),
                    message=f"{called_name(call)} expects the true values first, but the predictions come first",
                    label=f"{ast.unparse(first)[:40]} comes from the model, {ast.unparse(second)[:40]} does not",
                    evidence={"first": ast.unparse(first)[:80], "second": ast.unparse(second)[:80]},
                    fix=f"swap them: {called_name(call)}({ast.unparse(second)[:40]}, {ast.unparse(first)[:40]})",
                )


def _is_output(file: SourceFile, node: ast.expr, called: set[tuple[str, int]], depth: int = 0) -> bool:
    """Whether an expression goes back to a line on which a model was called."""
    first, last = node.lineno, node.end_lineno or node.lineno
    has_call = any(isinstance(part, ast.Call) for part in ast.walk(node))
    if has_call and any(path == file.path and first <= line <= last for path, line in called):
        return True
    if depth >= _DEEPEST:
        return False
    for name in names_in(node):
        binding = binding_of(file, name, node)
        if binding is None or binding.value is None:
            continue
        value = _part_of(binding.statement, binding.value, name)
        if value is not node and _is_output(file, value, called, depth + 1):
            return True
    return False


def _part_of(statement: ast.AST, value: ast.expr, name: str) -> ast.expr:
    """Of `a, b = f(), g()` the one that goes to this name."""
    for target in getattr(statement, "targets", ()):
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, given in zip(target.elts, value.elts, strict=True):
                if isinstance(one, ast.Name) and one.id == name:
                    return given
    return value


def _is_known(file: SourceFile, node: ast.expr) -> bool:
    """Whether it can be followed at all: a parameter of a function may be anything, a list may be filled anywhere."""
    names = names_in(node)
    bindings = [binding_of(file, name, node) for name in names]
    if not names or any(one is None or one.value is None for one in bindings):
        return False
    return not any(one is not None and isinstance(one.value, (ast.List, ast.ListComp, ast.Dict)) for one in bindings)
