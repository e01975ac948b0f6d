from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.held_out_lines import training_line
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.batches import Diet, Evaluated

_SHARE = 0.5
_FEWEST = 16
_SPLITS = ("random_split", "train_test_split", "SubsetRandomSampler", "randperm", "permutation")


@rule("data.overlapping-split", severity="error", follows=("data.test-in-train",))
def overlapping_split(run: Evidence) -> Iterator[Proof]:
    """Windows of one series are split at random, so test windows overlap training windows.

    Why it matters: each window of the test shares most of its values with a neighbor that was trained on. The result
    says how well the model remembers, not how well it predicts later values.

    What to do: split the series by time first, leave a gap of one window, then cut windows from each part.

    How it is found: the first or the last half of at least half of the evaluated rows is found, shifted, inside rows
    the same model was trained on before; measured numbers only, and not the few windows at a border.

    Bad:
        train, val = random_split(Windows(series, 40), [700, 160])
    Good:
        train, val = Windows(series[:700], 40), Windows(series[740:], 40)
    """
    for diet in run.batches.diets:
        for evaluated in diet.evaluated:
            if evaluated.windows < _FEWEST or evaluated.overlapping < _SHARE * evaluated.windows:
                continue
            share = evaluated.overlapping / evaluated.windows
            yield Proof(
                where=_split(run) or training_line(run, diet, evaluated)[0],
                message=f"{share:.0%} of the windows {diet.type} is evaluated on overlap windows it was trained on",
                label="neighboring windows are on both sides of the split",
                evidence={"windows": evaluated.windows, "overlapping": evaluated.overlapping},
                fix="split the series by time, leave a gap of one window, then cut windows from each part",
                related=_related(diet, evaluated),
            )


def _split(run: Evidence) -> Any:
    """The one call of the script that splits at random."""
    found = [(file, call) for file in run.source.files() for call in file.calls(*_SPLITS[:3])]
    found = found or [(file, call) for file in run.source.files() for call in file.calls(*_SPLITS[3:])]
    inside = [(file, call) for file, call in found if not file.enclosing(call, ast.For, ast.While)]
    return inside[0][0].site(inside[0][1]) if len(inside) == 1 else None


def _related(diet: Diet, evaluated: Evaluated) -> list[tuple[Any, str]]:
    places = [(evaluated.places[0], "evaluated here")] if evaluated.places else []
    return [*places, *[(place, "trained here") for place in diet.places[:1]]]
