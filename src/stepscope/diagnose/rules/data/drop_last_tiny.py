from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("data.drop-last-tiny", severity="error")
def drop_last_tiny(run: Evidence) -> Iterator[Proof]:
    """A loader yields no batch at all, so its loop does nothing.

    Why it matters: the loop runs, nothing is trained (or evaluated), and there is no error.

    What to do: make `batch_size` smaller than the dataset, or leave out `drop_last=True`.

    How it is found: the loader was iterated to its end without giving a batch, though its dataset has samples.

    Bad:
        loader = DataLoader(twenty_samples, batch_size=32, drop_last=True)
    Good:
        loader = DataLoader(twenty_samples, batch_size=8, drop_last=True)
    """
    for fact in run.loaders.all:
        if not fact.finished or fact.batches:
            continue
        size = fact.samples
        if size == 0:
            continue  # an empty dataset is another matter, and the script may have asked for it
        if size is None and not fact.drop_last:
            continue
        many = "its samples" if size is None else f"{size} samples"
        yield Proof(
            where=fact.made or fact.iterated,
            message=f"the loader yields no batch: {many} do not fill one of {fact.batch_size}"
            + (", and drop_last drops the rest" if fact.drop_last else ""),
            label=f"0 batches in {fact.finished} passes",
            evidence={"samples": size, "batch_size": fact.batch_size, "drop_last": fact.drop_last},
            edit=edits.keyword(fact.made, "drop_last", "False") if fact.drop_last else None,
            fix="use a smaller batch_size, or drop_last=False",
            related=[(fact.iterated, "this loop never runs")],
        )
