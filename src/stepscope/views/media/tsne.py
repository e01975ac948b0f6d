"""t-SNE, exact and deterministic: the same vectors always give the same plot.

After van der Maaten and Hinton (2008): distances in the plane approximate those between the vectors, above all small
ones. It starts from the first principal components, so two runs over the same data look alike, and it reports progress
after each step, so that the page can show the plot forming. Its cost grows with the square of the number of points;
`MAX_ROWS` of them take a few hundred megabytes and half a minute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MAX_ROWS = 2000
ROUNDS = 500
_EARLY = 120
"""Iterations with exaggerated attraction between near points, so that clusters form."""
_EXAGGERATION = 12.0


def principal(vectors: Floats, dims: int) -> tuple[Floats, float]:
    """The first principal components of centered vectors, with fixed signs, and their share of the variance.

    >>> places, share = principal(np.array([[0.0, 0.0], [2.0, 0.0], [7.0, 0.0]], dtype=np.float32), 2)
    >>> places[:, 0].tolist(), round(share, 6)
    ([-3.0, -1.0, 4.0], 1.0)
    """
    centred = (vectors - vectors.mean(axis=0)).astype(np.float64)
    rows, width = centred.shape
    total = float((centred**2).sum())
    if width <= rows:  # the smaller of the two square matrices has the same directions
        values, axes = np.linalg.eigh(centred.T @ centred)
        places = centred @ axes[:, ::-1][:, :dims]
    else:
        values, sides = np.linalg.eigh(centred @ centred.T)
        places = sides[:, ::-1][:, :dims] * np.sqrt(np.maximum(values[::-1][:dims], 0))
    heaviest = np.abs(places).argmax(axis=0)
    places = places * np.where(places[heaviest, np.arange(places.shape[1])] < 0, -1.0, 1.0)
    if places.shape[1] < dims:
        places = np.pad(places, ((0, 0), (0, dims - places.shape[1])))
    kept = float(np.maximum(values[::-1][:dims], 0).sum())
    return places.astype(np.float32), min(1.0, kept / total) if total > 0 else 0.0


def tsne(
    vectors: Floats,
    dims: int,
    perplexity: float = 30.0,
    rounds: int = ROUNDS,
    report: Callable[[int, Floats], bool] = lambda _round, _places: True,
) -> Floats:
    """Positions in 2D or 3D that keep near vectors near. Stops early if `report` returns False."""
    rows = len(vectors)
    if rows < 4:
        return principal(vectors, dims)[0]
    near = _affinities(vectors, min(perplexity, (rows - 1) / 3))
    places, _ = principal(vectors, dims)
    places *= np.float32(1e-2) / max(float(places[:, 0].std()), 1e-12)
    speed = max(rows / _EXAGGERATION / 4, 50.0)
    moved, gains = np.zeros_like(places), np.ones_like(places)
    for at in range(rounds):
        stronger = _EXAGGERATION if at < _EARLY else 1.0
        pull = _gradient(near, places, np.float32(stronger))
        gains = np.where((pull > 0) != (moved > 0), gains + 0.2, gains * 0.8).clip(0.01)
        momentum = 0.5 if at < _EARLY else 0.8
        moved = (momentum * moved - speed * gains * pull).astype(np.float32)
        places += moved
        places -= places.mean(axis=0)
        if not report(at + 1, places):
            break
    return places


def _gradient(near: Floats, places: Floats, stronger: np.float32) -> Floats:
    """The gradient of each point."""
    weights = _plane_distances(places)
    weights += 1
    np.reciprocal(weights, out=weights)
    np.fill_diagonal(weights, 0)
    total = weights.sum(dtype=np.float64)
    forces = near * stronger
    forces -= weights / np.float32(total)
    forces *= weights
    # Axis by axis and not as a matrix product: with two or three columns that is as fast, and it does not start
    # a thread on every core in each of hundreds of iterations.
    drawn = np.stack([(forces * places[:, axis]).sum(axis=1) for axis in range(places.shape[1])], axis=1)
    pull: Floats = 4 * (places * forces.sum(axis=1)[:, None] - drawn)
    return pull


def _plane_distances(places: Floats) -> Floats:
    """Squared distances for two or three columns."""
    found = np.square(places[:, 0][:, None] - places[:, 0])
    for axis in range(1, places.shape[1]):
        found += np.square(places[:, axis][:, None] - places[:, axis])
    return np.asarray(found, dtype=np.float32)


def _squared_distances(points: Floats) -> Floats:
    sizes = (points**2).sum(axis=1)
    found = sizes[:, None] + sizes[None, :]
    found -= 2 * (points @ points.T)
    np.maximum(found, 0, out=found)
    return np.asarray(found, dtype=np.float32)


def _affinities(vectors: Floats, perplexity: float) -> Floats:
    """Pairwise affinities that sum to one, with about `perplexity` effective neighbors per point."""
    scale = np.float32(max(float(np.abs(vectors - vectors.mean(axis=0)).max()), 1e-12))
    distances = _squared_distances((vectors - vectors.mean(axis=0)) / scale)
    np.fill_diagonal(distances, np.inf)
    wanted = np.log(perplexity)
    low, high = np.zeros(len(vectors)), np.full(len(vectors), np.inf)
    sharpness = np.ones(len(vectors))
    nearest = distances.min(axis=1, keepdims=True)
    for _ in range(60):
        shares = np.exp(-(distances - nearest) * sharpness[:, None].astype(np.float32))
        totals = shares.sum(axis=1, keepdims=True)
        shares /= totals
        spread = -(shares * np.log(np.maximum(shares, 1e-30))).sum(axis=1)
        wide = spread > wanted
        low, high = np.where(wide, sharpness, low), np.where(wide, high, sharpness)
        if np.abs(spread - wanted).max() < 1e-3:
            break
        sharpness = np.where(np.isinf(high), sharpness * 2, (low + high) / 2)
    both = shares + shares.T
    both /= both.sum(dtype=np.float64)
    return np.asarray(both, dtype=np.float32)
