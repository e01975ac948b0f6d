from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose import edits
from stepscope.diagnose.array_provenance import binding_of
from stepscope.diagnose.data_sources import names_in
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name, dotted

_SAME_LENGTH = frozenset(("enumerate", "tqdm", "track", "iter", "progress_bar", "prange", "logger", "log_every"))
"""Put around a loader in a loop, these give its batches on; `DataLoader(dataset)` does not give the dataset's items."""


@rule("metric.average-wrong", severity="warning", needs="steps, end")
def average_wrong(run: Evidence) -> Iterator[Proof]:
    """Correct samples are counted, but divided by the number of batches.

    Why it matters: the result is batch size times the accuracy, above 1 (or above 100%), and it grows with the
    batch size.

    What to do: divide by the number of samples: `len(loader.dataset)`, or a total counted in the loop.

    How it is found: the source sums matches over the batches of a loader (`correct += (pred == y).sum()`) and divides
    the sum by `len(loader)`; the loader's batches were seen to hold more than one sample.

    Bad:
        accuracy = correct / len(loader)
    Good:
        accuracy = correct / len(loader.dataset)
    """
    for file in run.source.files():
        for division in file.walk(ast.BinOp):
            if not isinstance(division.op, ast.Div):
                continue
            loop = _counted_loop(file, division)
            if loop is None:
                continue
            size = _batch_size(run, file, loop)
            if size is None or size < 2:
                continue
            counted = " and ".join(names_in(division.left)[:1]) or "the count"
            yield Proof(
                where=file.site(division),
                message=f"{counted} counts samples, but is divided by the number of batches",
                label=f"batches hold {size} samples, so this can reach {size}",
                evidence={"batch_size": size},
                edit=edits.replace((file, division.right), f"len({_looped(loop)}.dataset)"),
                fix="divide by the number of samples: len(loader.dataset)",
                related=[(file.site(loop.iter), "the loop over the batches")],
            )


def _counted_loop(file: SourceFile, division: ast.BinOp) -> ast.For | None:
    """The loop over `x` whose matches are summed, for a division of the sum by `len(x)`."""
    right: ast.expr | None = division.right
    if isinstance(right, ast.Name):
        binding = binding_of(file, right.id, division)
        right = None if binding is None else binding.value
    if not (isinstance(right, ast.Call) and called_name(right) == "len" and len(right.args) == 1):
        return None
    looped = dotted(right.args[0])
    scope = file.enclosing(division, ast.FunctionDef, ast.Module)
    if not looped or scope is None:
        return None
    sums = set(names_in(division.left))
    for loop in ast.walk(scope):
        if isinstance(loop, ast.For) and looped == _looped(loop) and not _inside(division, loop):
            added = [n for n in ast.walk(loop) if isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Add)]
            if any(dotted(node.target) in sums and _counts_matches(loop, node.value) for node in added):
                return loop
    return None


def _inside(node: ast.AST, outer: ast.AST) -> bool:
    return any(part is node for part in ast.walk(outer))


def _counts_matches(loop: ast.For, value: ast.expr) -> bool:
    """Whether what is added is a number of samples that match: a sum of comparisons, not a mean."""
    local = {
        dotted(target): node.value
        for node in ast.walk(loop)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if dotted(target)
    }
    parts: list[ast.AST] = [value]
    seen: set[str] = set()
    for part in parts:
        for name in names_in(part):
            if name in local and name not in seen:
                seen.add(name)
                parts.append(local[name])
    walked: list[Any] = [node for part in parts for node in ast.walk(part)]
    averaged = any(
        (isinstance(node, ast.Call) and called_name(node) in ("mean", "accuracy_score"))
        or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div))
        for node in ast.walk(value)
    ) or any(isinstance(node, ast.Call) and called_name(node) == "mean" for node in walked)
    summed = any(isinstance(node, ast.Call) and called_name(node) in ("sum", "count_nonzero") for node in walked)
    compared = any(
        (isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq))
        or (isinstance(node, ast.Call) and called_name(node) in ("eq", "argmax_equal"))
        for node in walked
    )
    return summed and compared and not averaged


def _batch_size(run: Evidence, file: SourceFile, loop: ast.For) -> int | None:
    """The size of the batches of the loader that ran through this loop."""
    for fact in run.loaders.all:
        if fact.iterated is None:
            continue
        site = fact.iterated.site
        if site.file == file.path and loop.iter.lineno <= site.line <= (loop.iter.end_lineno or loop.iter.lineno):
            delivery = run.loader_output.of(fact)
            shape = delivery.shapes[0] if delivery is not None and delivery.shapes else ()
            return shape[0] if shape else fact.batch_size
    return None


def _looped(loop: ast.For) -> str:
    """The loader that a loop goes over, also inside of enumerate() or a progress bar."""
    over: ast.expr = loop.iter
    while isinstance(over, ast.Call) and over.args and called_name(over) in _SAME_LENGTH:
        over = over.args[0]
    return ast.unparse(over)
