"""A small forest of extremely randomized trees in numpy: which parameters a metric depends on, and how.

A tree is grown on a bootstrap sample of the runs, all nodes of a level at once. Each node tries some splits, each at a
random parameter and the value of a random run, and takes the one that leaves the least variance. A parameter's
importance is how much the error on out-of-bag runs grows when it is shuffled. Everything follows from one seed, so the
same runs give the same numbers.

Few numpy calls on long arrays rather than many on short ones: beside a busy thread each call may wait for the GIL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TREES = 120
MANY_RUNS = 500
"""With more runs, half as many trees give the same result."""
SMALLEST = 6
"""Nodes with fewer runs are not split further."""
_DEPTH = 24
_TRIES = 12
"""Number of splits tried in each node."""
_SEED = 20261115
_PARTIAL_TREES = 40
"""The mean of this many trees is smooth enough for a line."""
_PARTIAL_ROWS = 16_000
"""Maximum predictions per tree in total: with many parameters, fewer runs are used for each."""


@dataclass(frozen=True)
class Tree:
    """Nodes as columns; a leaf has feature -1. `codes` is this tree's order of category values."""

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    out_of_bag: Ints
    codes: dict[int, Floats]

    def predict(self, rows: Floats) -> Floats:
        seen = _coded(rows, self.codes)
        at = np.zeros(len(seen), np.int64)
        every = np.arange(len(seen))
        for _ in range(_DEPTH + 1):
            feature = self.feature[at]
            inner = feature >= 0
            if not inner.any():
                break
            goes_left = seen[every, np.maximum(feature, 0)] <= self.threshold[at]
            at = np.where(inner, np.where(goes_left, self.left[at], self.right[at]), at)
        guess: Floats = self.value[at]
        return guess


def _coded(rows: Floats, codes: dict[int, Floats]) -> Floats:
    """Categories have no order: each tree shuffles them, so that a threshold can split off any subset."""
    if not codes:
        return rows
    seen: Floats = rows.copy()
    for column, order in codes.items():
        seen[:, column] = order[rows[:, column].astype(np.int64)]
    return seen


@dataclass(frozen=True)
class Forest:
    trees: list[Tree]
    rows: Floats
    target: Floats
    r2: float
    """R² of out-of-bag predictions; 0 or less means that it explains nothing."""


@dataclass(frozen=True)
class Importances:
    """How much the error grows when a parameter is shuffled, as a fraction of the metric's variance."""

    mean: Floats
    error: Floats
    """The standard error of the mean over the trees."""


def grow(rows: Floats, target: Floats, names: dict[int, int], trees: int = 0, seed: int = _SEED) -> Forest:
    """A forest for `target`. `names` tells which columns are indices into a list, and the list's length."""
    rng = np.random.default_rng(seed)
    count = len(target)
    trees = trees or (TREES if count <= MANY_RUNS else TREES // 2)
    grown = []
    total, seen = np.zeros(count), np.zeros(count)
    for _ in range(trees):
        sample = rng.integers(0, count, count)
        codes = {column: rng.permutation(size).astype(np.float64) for column, size in names.items()}
        tree = _tree(rows, target, sample, codes, rng)
        grown.append(tree)
        if len(tree.out_of_bag):
            total[tree.out_of_bag] += tree.predict(rows[tree.out_of_bag])
            seen[tree.out_of_bag] += 1
    judged = seen > 0
    guess = total[judged] / seen[judged]
    spread = float(((target[judged] - target[judged].mean()) ** 2).sum()) if judged.any() else 0.0
    r2 = 1 - float(((target[judged] - guess) ** 2).sum()) / spread if spread > 0 else 0.0
    return Forest(grown, rows, target, r2)


def _tree(rows: Floats, target: Floats, sample: Ints, codes: dict[int, Floats], rng: np.random.Generator) -> Tree:
    unseen = np.setdiff1d(np.arange(len(target)), sample)
    x, y = _coded(rows[sample], codes), target[sample]
    feature, threshold, left, right, value = [-1], [0.0], [-1], [-1], [float(y.mean())]
    node = np.zeros(len(y), np.int64)  # the node of each sampled run, among those of this level
    members = np.array([0])  # the level's nodes, by their index in the columns
    for _ in range(_DEPTH):
        found = _best_splits(x, y, node, len(members), rng)
        if not found.split.any():
            break
        place = np.full((len(members), 2), -1, np.int64)
        for at in np.flatnonzero(found.split):
            first = len(feature)
            feature[members[at]], threshold[members[at]] = int(found.feature[at]), float(found.threshold[at])
            left[members[at]], right[members[at]] = first, first + 1
            place[at] = first, first + 1
            feature += [-1, -1]
            threshold += [0.0, 0.0]
            left += [-1, -1]
            right += [-1, -1]
            value += [float(found.left_mean[at]), float(found.right_mean[at])]
        stays = found.split[node]
        x, y, node = x[stays], y[stays], node[stays]
        goes_right = x[np.arange(len(y)), found.feature[node]] > found.threshold[node]
        reached = place[node, goes_right.astype(np.int64)]
        members, node = np.unique(reached, return_inverse=True)
    whole = np.array(feature, np.int64), np.array(threshold), np.array(left, np.int64), np.array(right, np.int64)
    return Tree(*whole, np.array(value), unseen, codes)


@dataclass(frozen=True)
class _Splits:
    split: npt.NDArray[np.bool_]
    feature: Ints
    threshold: Floats
    left_mean: Floats
    right_mean: Floats


def _best_splits(x: Floats, y: Floats, node: Ints, nodes: int, rng: np.random.Generator) -> _Splits:
    """The best of some random splits for every node of a level, evaluated at once."""
    size = np.bincount(node, minlength=nodes).astype(np.float64)
    total = np.bincount(node, weights=y, minlength=nodes)
    spread = np.bincount(node, weights=y * y, minlength=nodes) - total * total / np.maximum(size, 1)
    order = np.argsort(node, kind="stable")
    start = np.concatenate(([0], np.cumsum(size)[:-1])).astype(np.int64)
    tried = rng.integers(0, x.shape[1], (_TRIES, nodes))
    run = order[start + (rng.random((_TRIES, nodes)) * size).astype(np.int64)]
    at = x[run, tried]
    left = x[np.arange(len(y)), tried[:, node]] <= at[:, node]
    place = (node + nodes * np.arange(_TRIES)[:, None]).ravel()
    n = np.bincount(place, weights=left.ravel(), minlength=_TRIES * nodes).reshape(_TRIES, nodes)
    s = np.bincount(place, weights=(left * y).ravel(), minlength=_TRIES * nodes).reshape(_TRIES, nodes)
    m, rest = size - n, total - s
    gain = s * s / np.maximum(n, 1) + rest * rest / np.maximum(m, 1) - total * total / size
    gain = np.where((n >= 1) & (m >= 1), gain, 0.0)
    best, every = np.argmax(gain, axis=0), np.arange(nodes)
    split = (gain[best, every] > 1e-9 * np.maximum(spread, 1e-300)) & (size >= SMALLEST) & (spread > 0)
    return _Splits(
        split=split,
        feature=tried[best, every],
        threshold=at[best, every],
        left_mean=(s / np.maximum(n, 1))[best, every],
        right_mean=(rest / np.maximum(m, 1))[best, every],
    )


def importances(forest: Forest, seed: int = _SEED) -> Importances:
    """Shuffle one parameter after the other among the out-of-bag runs of a tree."""
    rng = np.random.default_rng(seed + 1)
    columns = forest.rows.shape[1]
    variance = float(forest.target.var()) or 1.0
    worse = np.zeros((len(forest.trees), columns))
    for number, tree in enumerate(forest.trees):
        unseen = tree.out_of_bag
        used = np.unique(tree.feature[tree.feature >= 0])
        if len(unseen) < 2 or not len(used):
            continue
        rows, truth = forest.rows[unseen], forest.target[unseen]
        asked = np.tile(rows, (1 + len(used), 1)).reshape(1 + len(used), len(rows), columns)
        for place, column in enumerate(used):
            asked[1 + place, :, column] = rows[rng.permutation(len(rows)), column]
        guesses = tree.predict(asked.reshape(-1, columns)).reshape(1 + len(used), len(rows))
        errors = ((guesses - truth) ** 2).mean(axis=1)
        worse[number, used] = errors[1:] - errors[0]
    return Importances(
        mean=worse.mean(axis=0) / variance,
        error=worse.std(axis=0) / variance / max(1.0, len(forest.trees) ** 0.5),
    )


def partial(forest: Forest, grids: Sequence[Floats]) -> list[Floats]:
    """The forest's mean prediction with a parameter set to each value of its grid, all others unchanged.

    One grid per parameter, in the order of the columns.
    """
    places = sum(map(len, grids))
    most = max(16, min(80, _PARTIAL_ROWS // max(1, places)))
    rows = forest.rows[:: max(1, len(forest.rows) // most)][:most]
    asked = np.tile(rows, (places, 1))
    start = 0
    for column, grid in enumerate(grids):
        end = start + len(grid) * len(rows)
        asked[start:end, column] = np.repeat(grid, len(rows))
        start = end
    trees = forest.trees[:: max(1, len(forest.trees) // _PARTIAL_TREES)]
    total = np.zeros(len(asked))
    for tree in trees:
        total += tree.predict(asked)
    expected = (total / len(trees)).reshape(-1, len(rows)).mean(axis=1)
    return np.split(expected, np.cumsum([len(grid) for grid in grids])[:-1])
