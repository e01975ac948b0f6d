from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile
from stepscope.evidence.loaders import Loader


@rule("metric.first-batch-only", severity="warning", needs="end")
def first_batch_only(run: Evidence) -> Iterator[Proof]:
    """A loop that adds up a score over all batches ends after the first one.

    Why it matters: the score is that of one batch, and where it is divided by the size of the data set it is far too
    small.

    What to do: move the `return` (or `break`) out of the loop: it is indented one level too deep.

    How it is found: the last statement of a loop over a loader leaves it unconditionally, although the loop adds
    something up; each pass over the loader took one batch of several, and none of its batches was trained on.

    Bad:
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()
            break
    Good:
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()
    """
    for loader in run.loaders.all:
        if loader.is_training or not loader.epochs or loader.batches > loader.epochs or (loader.length or 0) < 2:
            continue
        found = _loop_over(run, loader)
        if found is None:
            continue
        file, loop = found
        end, sums = loop.body[-1], [node for node in ast.walk(loop) if isinstance(node, ast.AugAssign)]
        if isinstance(end, (ast.Return, ast.Break)) and sums:
            word = "return" if isinstance(end, ast.Return) else "break"
            yield Proof(
                where=file.site(end),
                message=f"this {word} ends the loop after its first batch: {loader.batches} of "
                f"{loader.epochs * (loader.length or 0)} batches were evaluated",
                label="inside the loop, so it always runs once",
                evidence={"passes": loader.epochs, "batches": loader.batches, "length": loader.length},
                fix=f"move the {word} out of the loop" if word == "return" else "remove this break",
                related=[(file.site(sums[0]), "meant to be added up over all batches")],
            )


def _loop_over(run: Evidence, loader: Loader) -> tuple[SourceFile, ast.For] | None:
    place = loader.iterated
    file = None if place is None else run.source.file(place.site.file)
    if file is None or place is None:
        return None
    return next(((file, loop) for loop in file.walk(ast.For) if loop.lineno == place.site.line), None)
