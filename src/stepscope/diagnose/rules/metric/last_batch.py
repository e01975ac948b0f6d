from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.last_values import last_values
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name

_CUTS = frozenset({"split", "chunk", "array_split"})


@rule("metric.last-batch", severity="warning", needs="end")
def last_batch(run: Evidence) -> Iterator[Proof]:
    """The score of an evaluation is that of its last batch only.

    Why it matters: the last batch is a small part of the data, and often a smaller batch than the others, so the number
    jumps from epoch to epoch and says little about the model.

    What to do: add up inside the loop (`correct += (pred == y).sum().item()`) and divide by the number of samples, or
    collect the predictions of all batches and score them together.

    How it is found: a loop over the batches of an evaluation assigns a name again each time, nothing in the loop adds
    it up or collects it, and the statement that reads it after the loop makes a score of it, or it was one already.
    More than one batch was evaluated in the loop.

    Bad:
        for x, y in loader:
            pred = model(x).argmax(1)
        accuracy = (pred == y).float().mean()
    Good:
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()
        accuracy = correct / len(loader.dataset)
    """
    for file, loop, batches in _loops(run):
        for one in last_values(file, loop):
            inside = one.score is one.made
            yield Proof(
                where=file.site(one.score),
                message=f"each of the {batches} batches overwrites {one.name}: what is read after the loop is that of "
                "the last batch only",
                label="overwritten by each batch" if inside else "the last batch only",
                evidence={"name": one.name, "batches": batches},
                fix="add it up over the batches inside the loop, and divide by the number of samples",
                related=[(file.site(one.used), "read here, after the loop")]
                if inside
                else [(file.site(one.made), "each batch overwrites it here")],
            )
            break


def _loops(run: Evidence) -> Iterator[tuple[SourceFile, ast.For, int]]:
    """The loops over batches in which a model was called without training, with how many batches each had."""
    seen: set[int] = set()
    for diet in run.batches.diets:
        for evaluated in diet.evaluated:
            for place in evaluated.places:
                file, node = run.source.file(place.file), run.source.expression(place)
                loop = None if file is None or node is None else file.enclosing(node, ast.For, ast.FunctionDef)
                if file is None or not isinstance(loop, ast.For) or id(loop) in seen:
                    continue
                loader = evaluated.loader
                if loader is not None and loader.iterated is not None and loader.iterated.site.line == loop.lineno:
                    batches = loader.batches // max(1, loader.epochs)
                else:
                    batches = evaluated.calls if _cuts_up(loop) else 0
                if batches >= 2:
                    seen.add(id(loop))
                    yield file, loop, batches


def _cuts_up(loop: ast.For) -> bool:
    """`for rows in torch.arange(n).split(64)`, `for start in range(0, n, 64)`"""
    cut = loop.iter
    if isinstance(cut, ast.Call) and called_name(cut) in ("zip", "enumerate") and cut.args:
        cut = cut.args[0]
    is_range = isinstance(cut, ast.Call) and called_name(cut) == "range" and len(cut.args) == 3
    return called_name(cut) in _CUTS or is_range
