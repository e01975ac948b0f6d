"""By what a script divides the sums of an evaluation, as its source says.

A loss that is summed over the numbers of a batch may be meant for each sample (a VAE's) or for each number. Where the
function that evaluates divides by samples alone, it is for each sample.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["divides_by_samples"]

_BATCHES = re.compile(r"loader|batches|(?:^|_)dl$|iter", re.IGNORECASE)


@lru_cache(maxsize=64)
def divides_by_samples(path: str, line: int) -> bool:
    """Whether what the loop at a line sums up is divided by a number of samples, and by nothing else."""
    try:
        module = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError, RecursionError):
        return False
    scope = _scope_of(module, line)
    loops = [one for one in ast.walk(scope) if isinstance(one, ast.For) and _spans(one.iter, line)]
    if not loops:
        return False
    summed = set(_summed_in(loops[0]))
    after = [one for one in ast.walk(scope) if getattr(one, "lineno", 0) >= loops[0].lineno]
    divisors = [divisor for node in after if (divisor := _divisor(node, summed)) is not None]
    return bool(divisors) and all(_is_of_samples(divisor, scope) for divisor in divisors)


def _summed_in(loop: ast.For) -> Iterator[str]:
    """`total += loss`, `losses.append(loss)`."""
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            yield ast.unparse(node.func.value)


def _spans(node: ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _scope_of(module: ast.Module, line: int) -> ast.AST:
    """The innermost function around a line; else the module without its functions."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    around = [one for one in ast.walk(module) if isinstance(one, kinds) and one.lineno <= line <= (one.end_lineno or 0)]
    if around:
        return max(around, key=lambda one: one.lineno)
    return ast.Module([one for one in module.body if not isinstance(one, (*kinds, ast.ClassDef))], [])


def _divisor(node: ast.AST, summed: set[str]) -> ast.expr | None:
    """What a sum is divided by; a literal number is a scale."""
    above: ast.expr
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
        above, below = node.target, node.value
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        above, below = node.left, node.right
    else:
        return None
    is_sum = any(isinstance(one, ast.Name) and one.id in summed for one in ast.walk(above))
    return below if is_sum and not isinstance(below, ast.Constant) else None


def _is_of_samples(node: ast.expr, scope: ast.AST) -> bool:
    """`len(loader.dataset)`, `len(x)`, `x.size(0)`, `x.shape[0]`; a name that only such numbers are added to."""
    if isinstance(node, ast.Name):
        given = [one.value for one in ast.walk(scope) if isinstance(one, ast.AugAssign) and _is(one.target, node.id)]
        if not given:
            assigned = [one for one in ast.walk(scope) if isinstance(one, ast.Assign) and _is(one.targets[0], node.id)]
            given = [one.value for one in assigned]
        return bool(given) and all(not isinstance(one, ast.Name) and _is_of_samples(one, scope) for one in given)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        return _BATCHES.search(_last_name(node.args[0])) is None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size":
        return len(node.args) == 1 and _is_zero(node.args[0])
    is_shape = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    return is_shape and _is_zero(node.slice)  # type: ignore[attr-defined]


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0
