from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.data_sources import function_at
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name
from stepscope.evidence.loaders import Loader
from stepscope.records.step import Site


@rule("data.inplace-dataset", severity="error")
def inplace_dataset(run: Evidence) -> Iterator[Proof]:
    """The dataset changes its own data each time a sample is taken.

    Why it matters: `row = self.data[i]` is a window on the stored data, and `row -= mean` writes through it. Every
    epoch the same sample is shifted, scaled or made noisier once more, until nothing is left of it.

    What to do: make a new tensor (`row = self.data[i] - mean`), or copy first (`self.data[i].clone()`, `.copy()`).

    How it is found: the arrays of the dataset are compared between batches; rows that were just handed out have
    changed, and again in the next epoch, also where a loader is made for each. A cache that is filled once is fine.

    Bad:
        x = self.x[i]
        x -= self.mean
    Good:
        x = self.x[i] - self.mean
    """
    for delivery in run.loader_output.all:
        again = [key for key, epochs in delivery.changed.items() if len(epochs) >= 2]
        if not again:
            continue
        names = sorted({name for name, _ in again})
        epochs = max(len(epochs) for epochs in delivery.changed.values())
        yield Proof(
            where=_writing_line(run, delivery.loader) or delivery.loader.made,
            message=f"taking a sample changes the dataset itself: rows of {', '.join(names)} differ after each epoch",
            label=f"writes into the stored data; the same rows changed in {epochs} epochs",
            evidence={"arrays": names, "rows_changed_again": len(again), "rows_changed": len(delivery.changed)},
            edit=tensors.not_in_place(_writing_line(run, delivery.loader)),
            fix="compute a new tensor instead of writing in place, or clone()/copy() the row first",
        )


def _writing_line(run: Evidence, fact: Loader) -> Site | None:
    found = None if fact.data is None else function_at(run, fact.data.methods.get("__getitem__"))
    if found is None:
        return None
    file, method = found
    bodies: list[ast.AST] = [method]
    owner = file.enclosing(method, ast.ClassDef)
    called = {called_name(call) for call in ast.walk(method) if isinstance(call, ast.Call)}
    for other in ast.walk(owner) if owner is not None else ():
        if isinstance(other, ast.FunctionDef) and other.name in called:
            bodies.append(other)
    for body in bodies:
        for node in ast.walk(body):
            if _writes(node):
                return file.site(node)
    return file.site(method)


def _writes(node: ast.AST) -> bool:
    if isinstance(node, ast.AugAssign):
        counts = isinstance(node.op, ast.Add) and isinstance(node.value, ast.Constant)  # `self.calls += 1`
        return not counts
    if isinstance(node, ast.Call):
        name = called_name(node)
        out = any(word.arg == "out" for word in node.keywords)
        return out or (name.endswith("_") and not name.endswith("__")) or name in ("shuffle", "fill", "sort", "put")
    return isinstance(node, ast.Assign) and any(isinstance(target, ast.Subscript) for target in node.targets)
