from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.global_settings import Seeding
from stepscope.records.place import Place

_TIMES = 5
_EPOCHS, _ITEMS = 3, 8
"""In how many epochs a sample must have got the same seed, and how many samples."""


@rule("repro.seed-in-loop", severity="warning")
def seed_in_loop(run: Evidence) -> Iterator[Proof]:
    """The seed is set to the same value repeatedly during training.

    Why it matters: noise, dropout, augmentation and shuffling are the same in every step or epoch, so the model sees
    far less variety than it should.

    What to do: seed once, at the start of the script; for one repeatable part use a `torch.Generator` of its own.

    How it is found: the same line sets the same seed in many steps (or before many samples) of the training; or each
    sample of the training data gets the same seed in every epoch. A seed before each trial of a search, where a new
    optimizer is made right after it, is fine.

    Bad:
        for x in loader:
            torch.manual_seed(0)
            noise = torch.randn_like(x)
    Good:
        torch.manual_seed(0)
        for x in loader:
            noise = torch.randn_like(x)
    """
    by_place: dict[Place | None, list[Seeding]] = defaultdict(list)
    callers = _callers(run.global_settings.seeds)
    for seeding in run.global_settings.seeds:
        by_place[_line(callers, seeding)].append(seeding)
    for place, calls in by_place.items():
        if len(calls) < _TIMES or run.progress.step < 3:
            continue
        later = [one for one in calls if one.step > 0]
        if len({(one.which, one.value) for one in calls}) > max(3, len(calls) // 10):
            if _same_for_each_item(calls):
                yield _of_items(place, calls)
            continue  # a seed of its own for each item or epoch
        if len(later) < _TIMES - 1 or not _in_training(later) or _is_trial(run, later):
            continue
        yield Proof(
            where=place,
            message=f"the seed {calls[-1].value} is set again during training, {len(calls)} times so far",
            label="all random numbers after it repeat",
            evidence={"times": len(calls), "value": calls[-1].value, "steps": sorted({one.step for one in later})[:10]},
            edit=tensors.hoisted(calls[-1].place),
            fix="seed once at the start; use a torch.Generator of its own where something must repeat",
        )


def _callers(seeds: list[Seeding]) -> dict[object, set[Place]]:
    """By function: the lines that call it, on the way to a seed."""
    found: dict[object, set[Place]] = defaultdict(set)
    for seeding in seeds:
        for inner, outer in pairwise(_chain(seeding)):
            found[_function(inner)].add(outer)
    return found


def _line(callers: dict[object, set[Place]], seeding: Seeding) -> Place | None:
    """The line to change: that of the seed, or the call of the helper that other lines call as well."""
    for place in _chain(seeding):
        several = len(callers.get(_function(place), ())) > 1
        if not several and "seed" not in place.name.lower():
            return place
    return seeding.place


def _chain(seeding: Seeding) -> list[Place]:
    return [] if seeding.place is None else [seeding.place, *seeding.callers]


def _function(place: Place) -> object:
    return place.file, place.first_line, place.function


def _same_for_each_item(calls: list[Seeding]) -> bool:
    """Before each sample, and each of the values came back in a later epoch."""
    if any(one.place is None or one.place.name != "__getitem__" for one in calls):
        return False
    counts = Counter((one.which, one.value) for one in calls if one.trains is not False)
    often = [count for count in counts.values() if count >= _EPOCHS]
    return len(often) >= _ITEMS and len(often) >= len(counts) // 2


def _of_items(place: Place | None, calls: list[Seeding]) -> Proof:
    times = Counter((one.which, one.value) for one in calls).most_common(1)[0][1]
    return Proof(
        where=place,
        message=f"each sample gets the same seed in every epoch, {times} times so far: its augmentation never varies",
        label="the random numbers after it are the same for this index, always",
        evidence={"times": times, "samples": len({one.value for one in calls})},
        fix="remove the seed, or add the epoch to it",
    )


def _is_trial(run: Evidence, calls: list[Seeding]) -> bool:
    """Whether another training begins after the seed: its optimizer is made before any update."""
    begun = {made.step for made in run.optimizers.made}
    return sum(one.step in begun for one in calls) > len(calls) // 2


def _in_training(calls: list[Seeding]) -> bool:
    """In a loop over steps, or before every sample; or once an epoch, with training right after it."""
    if sum(one.trains is False for one in calls) > len(calls) // 2:
        return False  # before evaluations: the same noise for all of them, on purpose
    steps = sorted({one.step for one in calls})
    if any(now - before == 1 for before, now in pairwise(steps)):
        return True
    return len(calls) > 3 * len(steps) or sum(bool(one.trains) for one in calls) >= 3
