from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name
from stepscope.evidence.loaders import Loader
from stepscope.records.place import Place
from stepscope.records.step import Site


@rule("data.order-lost", severity="warning", needs="end")
def order_lost(run: Evidence) -> Iterator[Proof]:
    """Predictions are collected from a loader that shuffles, without the labels of the same batches.

    Why it matters: the predictions come out in a random order. Compared with labels in the order of the file, or
    written beside its ids, each one is in the wrong row: the score is at chance level.

    What to do: `shuffle=False` for loaders that are only evaluated, or collect the labels in the same loop.

    How it is found: a loader with a random order was never trained on. The loop over it puts a model's answers into a
    list and leaves the labels of the batches unused.

    Bad:
        loader = DataLoader(test_set, batch_size=64, shuffle=True)
        preds = torch.cat([model(x).argmax(1) for x, _ in loader])
        accuracy_score(y_test, preds)
    Good:
        loader = DataLoader(test_set, batch_size=64, shuffle=False)
    """
    for loader in run.loaders.all:
        if loader.sampler != "RandomSampler" or loader.is_training or not loader.finished or loader.iterated is None:
            continue
        file = run.source.file(loader.iterated.file)
        loop = None if file is None else _loop(file, loader.iterated)
        if file is None or loop is None or not _collects(loop) or not _drops_labels(loop):
            continue
        where = _built(run, loader)
        yield Proof(
            where=where,
            message="this loader shuffles, and the loop over it keeps the predictions but not the labels: which "
            "prediction belongs to which sample is lost",
            label="a new order in every pass",
            evidence={"sampler": loader.sampler, "passes": loader.epochs},
            edit=edits.keyword(where, "shuffle", "False") if where is loader.made else None,
            fix="shuffle=False for a loader that is only evaluated",
            related=[(loader.iterated, "the predictions are collected here")],
        )


def _loop(file: SourceFile, place: Place) -> ast.For | ast.comprehension | None:
    """The loop or comprehension that goes through the loader."""
    found = [node for node in file.walk(ast.For, ast.comprehension) if node.iter.lineno == place.line]
    return found[0] if len(found) == 1 else None


def _collects(loop: ast.For | ast.comprehension) -> bool:
    """Whether what the loop computes is put into a list."""
    if isinstance(loop, ast.comprehension):
        return True
    calls = (node for part in loop.body for node in ast.walk(part) if isinstance(node, ast.Call))
    return any(called_name(call) in ("append", "extend") for call in calls)


def _drops_labels(loop: ast.For | ast.comprehension) -> bool:
    """`for x, _ in loader`: more than one part in a batch, and only the first is used."""
    if not isinstance(loop.target, ast.Tuple) or len(loop.target.elts) < 2:
        return False
    return all(isinstance(one, ast.Name) and one.id.startswith("_") for one in loop.target.elts[1:])


def _built(run: Evidence, loader: Loader) -> Place | Site | None:
    """Where it was made; for one of several made by a function, the call of that function."""
    made = loader.made
    file = None if made is None else run.source.file(made.file)
    if made is None or file is None or made.name == "<module>":
        return made
    several = [one for one in run.loaders.all if one.made is made]
    calls = sorted(file.calls(made.name), key=lambda call: call.lineno)
    return file.site(calls[several.index(loader)]) if len(calls) == len(several) > 1 else made
