from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from stepscope.diagnose import edits
from stepscope.diagnose.data_sources import loader_call
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.loaders import Loader
from stepscope.evidence.targets import Target

_FEWEST_LABELS = 24
_FEWEST_BATCHES = 3


@rule("data.no-shuffle", severity="warning")
def no_shuffle(run: Evidence) -> Iterator[Proof]:
    """The training data is sorted by class and comes in that order.

    Why it matters: each batch pulls the model toward the one class it holds, so the loss goes up and down like a saw
    and the last class seen wins.

    What to do: `DataLoader(..., shuffle=True)`, or draw a new random order each epoch.

    How it is found: the labels of the first pass over the training data, in the order they came: far fewer changes from
    one label to the next than chance gives, and batches whose classes are not those of the whole. A sampler that was
    chosen is a decision and is left alone.

    Bad:
        loader = DataLoader(sorted_by_class, batch_size=32)
    Good:
        loader = DataLoader(sorted_by_class, batch_size=32, shuffle=True)
    """
    told: set[int] = set()
    for delivery in run.loader_output.all:
        loader = delivery.loader
        if run.batches.trains_on(loader) and loader.sampler == "SequentialSampler" and not _chosen(run, loader):
            whole = loader.finished > 0 or run.over
            if (whole or len(delivery.labels) >= 40) and (said := _sorted(delivery.labels)):
                told.add(loader.number)
                yield _proof(loader.made or loader.iterated, said, delivery.labels, "pass shuffle=True to the loader")
    for target in run.targets.all:
        if target.loader is None and not told and _by_hand(target):
            labels = _first_pass(target)
            if labels and (said := _sorted(labels)):
                place = _picked_at(target)
                fix = "pick rows with a new torch.randperm(n) each epoch instead of in order"
                yield _proof(place, said, labels, fix)


def _proof(place: object, said: str, labels: Sequence[Sequence[int]], fix: str) -> Proof:
    seen = Counter(label for batch in labels for label in batch)
    return Proof(
        where=place,  # type: ignore[arg-type]
        message=f"the training data comes sorted by class: {said}",
        label="not shuffled",
        evidence={"batches": len(labels), "classes": dict(seen.most_common(12)), "first_labels": list(labels[0][:12])},
        edit=edits.keyword(place, "shuffle", "True") if fix.startswith("pass shuffle=True") else None,
        fix=fix,
    )


def _chosen(run: Evidence, loader: Loader) -> bool:
    made = loader_call(run, loader)
    words = set() if made is None else {word.arg for word in made[1].keywords}
    return bool(words & {"sampler", "batch_sampler"})


def _sorted(batches: Sequence[Sequence[int]]) -> str:
    """What is odd about the order of the labels; "" when nothing is."""
    labels = [label for batch in batches for label in batch]
    if len(batches) < _FEWEST_BATCHES or len(labels) < _FEWEST_LABELS:
        return ""
    total, seen = len(labels), Counter(labels)
    if len(seen) < 2 or seen.most_common(1)[0][1] > 0.98 * total or len(seen) > total / 4:
        return ""
    changes = sum(one != other for one, other in pairwise(labels))
    by_chance = (total - 1) * (1 - sum((count / total) ** 2 for count in seen.values()))
    full = [batch for batch in batches if len(batch) >= 4]
    if changes > 0.2 * by_chance or not full:
        return ""
    apart = [sum(abs(Counter(batch)[c] / len(batch) - n / total) for c, n in seen.items()) / 2 for batch in full]
    if sum(apart) / len(apart) < 0.3:
        return ""
    single = sum(len(set(batch)) == 1 for batch in full)
    if single >= 0.5 * len(full):
        return f"{single} of {len(full)} batches hold a single one of the {len(seen)} classes"
    return f"the label changes {changes} times in {total} samples, where a random order changes {by_chance:.0f} times"


def _by_hand(target: Target) -> bool:
    return len(target.labels) >= _FEWEST_BATCHES and target.data is not None and target.calls == len(target.labels)


def _first_pass(target: Target) -> list[list[int]]:
    """The batches up to where the first one comes again."""
    first = target.labels[0]
    again = [n for n, batch in enumerate(target.labels[1:], 1) if batch == first]
    if len(set(first)) == 1:  # one batch of class 0 looks like the next: a pass ends where class 0 begins anew
        starts = [n for n in again if target.labels[n - 1] != first]
        again = starts
    return target.labels[: again[0]] if again else []


def _picked_at(target: Target) -> object:
    origin = target.origin
    for past in (target.data, origin):
        for one in past.ancestors(40) if past is not None else ():
            if one.op in ("getitem", "narrow", "split", "chunk", "index_select") and one.place is not None:
                return one.place.site
    return target.place
