from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.data_sources import dataset_line
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.dataset_numberings import DatasetNumberings, TwoNumberings

_SHARE = 0.1


@rule("data.numbered-again", severity="error", needs="end")
def numbered_again(run: Evidence) -> Iterator[Proof]:
    """The words or classes of the evaluation get new numbers, so a number means something else than in training.

    Why it matters: the model has learned what number 7 means. If the test set gives number 7 to another word (or to
    another class), the answers and the metric are about as good as chance, however well the model has learned.

    What to do: build the vocabulary (or the list of classes) once, from the training data, and hand it to the other
    datasets: `TextData(test_rows, vocab=train_data.vocab)`.

    How it is found: two datasets of one class, one that is trained on and one that is only evaluated, hold a table of
    names and numbers under the same attribute. At least one in ten of the names that both know has another number.

    Bad:
        train_data, test_data = TextData(train_rows), TextData(test_rows)      # each builds its own vocabulary
    Good:
        train_data = TextData(train_rows)
        test_data = TextData(test_rows, vocab=train_data.vocab)
    """
    seen: set[str] = set()
    for found in run[DatasetNumberings].all:
        if found.name in seen or found.different < max(1, _SHARE * found.common) or not found.evaluated.batches:
            continue
        seen.add(found.name)
        yield _proof(run, found)


def _proof(run: Evidence, found: TwoNumberings) -> Proof:
    word, before, after = found.example
    made = dataset_line(run, found.trained)
    return Proof(
        where=dataset_line(run, found.evaluated) or found.evaluated.made,
        message=f"the data of the evaluation has a `{found.name}` of its own: {found.different:,} of the "
        f"{found.common:,} names that both have stand for another number than in training",
        label=f"{word!r} is {after} here, and {before} in training",
        evidence={"attribute": found.name, "common": found.common, "different": found.different},
        fix=f"build `{found.name}` once, from the training data, and hand it to this dataset",
        related=[(made, "trained on with these numbers")] if made is not None else [],
    )
