from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.global_settings import Seeding

_TIMES = 5


@rule("repro.seed-in-loop", severity="warning")
def seed_in_loop(run: Evidence) -> Iterator[Proof]:
    """The seed is set to the same value again and again during training.

    Why it matters: noise, dropout, augmentation and shuffling are the same in every step or epoch, so the model sees
    far less variety than it should.

    What to do: seed once, at the start of the script; for one repeatable part use a `torch.Generator` of its own.

    How it is found: the same line sets the same seed in many steps (or before many samples) of the training.

    Bad:
        for x in loader:
            torch.manual_seed(0)
            noise = torch.randn_like(x)
    Good:
        torch.manual_seed(0)
        for x in loader:
            noise = torch.randn_like(x)
    """
    by_place: dict[object, list[Seeding]] = defaultdict(list)
    for seeding in run.global_settings.seeds:
        by_place[seeding.place].append(seeding)
    for calls in by_place.values():
        if len(calls) < _TIMES or run.progress.step < 3:
            continue
        if len({(one.which, one.value) for one in calls}) > max(1, len(calls) // 10):
            continue  # a seed of its own for each item or epoch
        later = [one for one in calls if one.step > 0]
        if len(later) < _TIMES - 1 or not _in_training(later):
            continue
        yield Proof(
            where=calls[-1].place,
            message=f"the seed {calls[-1].value} is set again during training, {len(calls)} times so far",
            label="all random numbers after it repeat",
            evidence={"times": len(calls), "value": calls[-1].value, "steps": sorted({one.step for one in later})[:10]},
            fix="seed once at the start; use a torch.Generator of its own where something must repeat",
        )


def _in_training(calls: list[Seeding]) -> bool:
    """In a loop over steps, or before every sample; or once an epoch, with training right after it."""
    if sum(one.trains is False for one in calls) > len(calls) // 2:
        return False  # before evaluations: the same noise for all of them, on purpose
    steps = sorted({one.step for one in calls})
    if any(now - before == 1 for before, now in pairwise(steps)):
        return True
    return len(calls) > 3 * len(steps) or sum(bool(one.trains) for one in calls) >= 3
