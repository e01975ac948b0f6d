from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.array_provenance import story_at
from stepscope.diagnose.data_sources import birth, dataset_line, host_call
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.targets import Target
from stepscope.records.step import Site

_LOSSES = frozenset({"cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"})
_FEWEST = 5
_SHARE = 0.02


@rule("data.label-noise", severity="info", needs="end", follows=("data.label-misaligned", "data.aliased-buffer"))
def label_noise(run: Evidence) -> Iterator[Proof]:
    """The same sample comes with different labels.

    Why it matters: the model cannot satisfy both, so the loss stops at a plateau that no training lowers, and the
    accuracy has a ceiling.

    What to do: find the doubled samples and decide on one label, or drop them.

    How it is found: rows of training data are marked by their values; several rows with many measured values, equal to
    the last digit, came with two labels. Small tables of codes, where equal rows are no surprise, are left alone.

    Bad:
        data = first_annotator + second_annotator      # the same images, twice
    Good:
        data = [(image, agreed_label(image)) for image in images]
    """
    for target in run.targets.all:
        rows, clashes = target.samples, target.clashes
        if target.op not in _LOSSES or clashes < _FEWEST or clashes < _SHARE * rows or clashes > 0.9 * rows:
            continue
        if not _measured(run, target):
            continue
        pair = target.clash or (0, 0)
        yield Proof(
            where=_where(run, target) or target.place,
            message=f"{clashes} of {rows} different samples come with two different labels",
            label=f"one of them is {pair[0]} in one place and {pair[1]} in another",
            evidence={"samples": rows, "with_two_labels": clashes, "example": list(pair)},
            fix="look for duplicate samples and give each one label",
            related=[(target.place, "the loss compares with them here")],
        )


def _measured(run: Evidence, target: Target) -> bool:
    """The data has many columns of numbers with a fraction: equal rows are the same sample."""
    looks = [fed.look for fed in run.batches.first if fed.look is not None and fed.origin is not None]
    return any(not look.whole and look.width >= 4 for look in looks[:8]) and not any(
        fed.model.repeats > 0.2 * max(1, fed.model.rows) for fed in run.batches.first[:8]
    )


def _where(run: Evidence, target: Target) -> Site | None:
    """Where the labels were put together."""
    if target.loader is not None:
        return dataset_line(run, target.loader)
    made = host_call(run, target.origin)
    behind = [] if made is None else story_at(run, made.place)
    return behind[0] if behind else birth(run, target.origin)
