from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.equal_pairs import EqualPair, EqualPairs
from stepscope.evidence.loaders import Loader
from stepscope.records.step import Site

_LOOKS = 3


@rule("data.positive-is-anchor", severity="error", follows=("init.*", "model.shared-by-multiply"))
def positive_is_anchor(run: Evidence) -> Iterator[Proof]:
    """The two samples of a pair that are compared are the same sample.

    Why it matters: their distance is zero whatever the model does, so it learns nothing about what belongs together.

    What to do: draw the positive among the other samples of the class, or augment the two views separately.

    How it is found: two results of a model, computed one after the other with gradients, are compared, and in every
    look at least nine rows in ten of them are equal to the last bit.

    Bad:
        positive = index
        anchor, same, other = data.x[index], data.x[positive], data.x[negative]
    Good:
        positive = random.choice([i for i in data.of_class[label] if i != index])
        anchor, same, other = data.x[index], data.x[positive], data.x[negative]
    """
    for pair in run[EqualPairs].all:
        if pair.looks < _LOOKS or pair.equal < pair.looks:
            continue
        yield Proof(
            where=_sample(run, pair) or pair.place,
            message="the two samples of each pair are the same: their distance is zero whatever the model does",
            label="both are the same sample",
            evidence={"looks": pair.looks, "op": pair.op},
            fix="take another sample of the same class as the partner, or another random view of this one",
            related=[(pair.place, "the results are compared here, and are equal")],
        )


def _sample(run: Evidence, pair: EqualPair) -> Site | None:
    """The line of the dataset that returns the pair, where both came out of a loader."""
    loaders = {id(found): found for one in (pair.first, pair.second) if (found := _loader(one)) is not None}
    for loader in loaders.values():
        place = None if loader.data is None else loader.data.methods.get("__getitem__")
        file = None if place is None else run.source.file(place.file)
        if place is None or file is None:
            continue
        inside = [
            one for one in file.walk(ast.FunctionDef) if one.name == "__getitem__" and one.lineno <= place.line + 1
        ]
        returns = [one for one in ast.walk(inside[-1]) if isinstance(one, ast.Return)] if inside else []
        if len(returns) == 1:
            return file.site(returns[0])
    return None


def _loader(origin: object) -> Loader | None:
    return next((one.loader for one in origin.ancestors(400) if one.loader is not None), None)  # type: ignore[attr-defined]
