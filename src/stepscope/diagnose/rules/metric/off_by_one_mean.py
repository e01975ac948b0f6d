from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name


@rule("metric.off-by-one-mean", severity="info", needs="source")
def off_by_one_mean(run: Evidence) -> Iterator[Proof]:
    """A sum over n batches is divided by the last index, which is n - 1.

    Why it matters: `enumerate` counts from 0, so the mean is too large, by a lot when there are few batches; with one
    batch it is a division by zero.

    What to do: divide by `i + 1`, or by `len(loader)`.

    How it is found: the source divides by the index of an `enumerate` loop without adding one.

    Bad:
        for i, batch in enumerate(loader): total += loss.item()
        mean = total / i
    Good:
        mean = total / (i + 1)
    """
    for file in run.source.files():
        for loop in file.walk(ast.For):
            index = _index(loop)
            scope = file.enclosing(loop, ast.FunctionDef, ast.Module)
            if index is None or scope is None:
                continue
            summed = {
                ast.unparse(node.target)
                for node in ast.walk(loop)
                if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)
            }
            for node in ast.walk(scope):
                if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div) or node.lineno < loop.lineno:
                    continue
                if isinstance(node.right, ast.Name) and node.right.id == index and _of(summed, node.left):
                    yield Proof(
                        where=file.site(node),
                        message=f"the sum of n batches is divided by {index}, which counts from 0: by n - 1",
                        label=f"{index} is one less than the number of batches",
                        evidence={"index": index, "loop_line": loop.lineno},
                        edit=edits.replace((file, node.right), f"({index} + 1)"),
                        fix=f"divide by ({index} + 1), or by len() of the loader",
                    )


def _index(loop: ast.For) -> str | None:
    """The index of `for i, x in enumerate(...)` that starts at 0."""
    call = loop.iter
    if not isinstance(call, ast.Call) or called_name(call) != "enumerate":
        return None
    starts = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "start")]
    if any(not isinstance(start, ast.Constant) or start.value != 0 for start in starts):
        return None
    target = loop.target
    first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else None
    return first.id if isinstance(first, ast.Name) else None


def _of(summed: set[str], left: ast.expr) -> bool:
    return any(ast.unparse(part) in summed for part in ast.walk(left) if isinstance(part, (ast.Name, ast.Attribute)))
