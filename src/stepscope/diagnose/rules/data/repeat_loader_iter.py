from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name
from stepscope.records.place import Place

_TIMES = 5


@rule("data.repeat-loader-iter", severity="warning")
def repeat_loader_iter(run: Evidence) -> Iterator[Proof]:
    """`next(iter(loader))` inside the loop always returns the same first batch.

    Why it matters: the model sees one batch of the dataset, over and over, and memorizes it.

    What to do: make the iterator once, before the loop, or write `for batch in loader`.

    How it is found: the loader was restarted five times or more, each time only its first batch was taken, it was
    the same batch each time, and it trained the model. A batch taken once, before the loop, to overfit on purpose, is
    fine, and so is a loader that shuffles.

    Bad:
        for step in range(steps):
            x, y = next(iter(loader))
    Good:
        batches = iter(loader)
        for step in range(steps):
            x, y = next(batches)
    """
    for delivery in run.loader_output.all:
        fact = delivery.loader
        unused = fact.epochs - fact.batches  # an iterator that was made and never asked
        if fact.batches < _TIMES or not 0 <= unused <= 1 or fact.trains < _TIMES or fact.finished:
            continue
        heads = [head[0] for head in delivery.heads if len(head) == 1]
        if len(heads) < _TIMES or any(head != heads[0] for head in heads):
            continue
        if fact.length == 1 or fact.iterated is None or not _is_new_iterator(run, fact.iterated):
            continue
        yield Proof(
            where=fact.iterated,
            message=f"every step trains on the same first batch; the loader was started {fact.epochs} times",
            label="a new iterator each time, only its first batch is used",
            evidence={"times": fact.epochs, "batches_in_loader": fact.length},
            fix="make the iterator before the loop (batches = iter(loader)), or loop with `for batch in loader`",
            related=[(fact.made, "the loader")],
        )


def _is_new_iterator(run: Evidence, place: Place) -> bool:
    """It says `iter(...)` there: a `for` that is left after one batch is a decision (or a limit of Stepscope's)."""
    node = run.source.expression(place)
    return node is not None and called_name(node) in ("iter", "next")
