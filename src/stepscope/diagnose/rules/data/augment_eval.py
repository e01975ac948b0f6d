from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.data_sources import dataset_line, held_out, loader_names
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("data.augment-eval", severity="warning", needs="steps, end", follows=("data.inplace-dataset",))
def augment_eval(run: Evidence) -> Iterator[Proof]:
    """The validation data is augmented at random, like the training data.

    Why it matters: the score is measured on distorted samples and changes from one evaluation to the next, so it is
    lower than the truth and too noisy to choose a model by.

    What to do: give the evaluation's dataset its own transform, without the random parts.

    How it is found: a loader that trains nothing hands out the same labels in the same order, but other samples; or,
    asked again when the script is over, its dataset gives the same sample twice in two versions. Test-time
    augmentation and data that is made noisy to be cleaned are left alone.

    Bad:
        val = Images(val_files, transform=train_transform)
    Good:
        val = Images(val_files, transform=plain_transform)
    """
    if not any(fact.is_training for fact in run.loaders.all):
        return
    for delivery in run.loader_output.all:
        fact = delivery.loader
        if run.batches.trains_on(fact) or not delivery.batches or not delivery.is_supervised:
            continue
        names = loader_names(run, fact, made_from=False)
        if any(re.search(r"tta|augment|noisy|train", name, re.I) for name in names):
            continue
        if not run.batches.evaluates(fact) and not held_out(names):
            continue
        changed = delivery.other_samples
        if changed is None and delivery.varying is not None:
            changed = delivery.varying >= 4
        if not changed:
            continue
        yield Proof(
            where=dataset_line(run, fact) or fact.made,
            message="the evaluation gets randomly augmented samples: the same sample is different each time",
            label="its samples change every time",
            evidence={"passes": fact.epochs, "batches": fact.batches},
            fix="use a transform without random parts for the evaluation's dataset",
            related=[(fact.made, "the loader of the evaluation")],
        )
