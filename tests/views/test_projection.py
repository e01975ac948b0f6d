"""Embeddings projected: by principal components at once, by t-SNE behind the page, and neighbours in the full space."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from stepscope.errors import BadData, NotFound, UsageError
from stepscope.records import Media
from stepscope.views.context import Context
from stepscope.views.media import projection_jobs
from stepscope.views.media.projection import NearRequest, Projection, ProjectionRequest, _has_umap, near, projection
from stepscope.views.media.tsne import principal, tsne

from .conftest import write_run

Floats = NDArray[np.float32]


def clusters(rows: int = 30, kinds: int = 4, width: int = 12) -> tuple[Floats, NDArray[Any]]:
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(kinds), rows)
    vectors = 4 * rng.standard_normal((kinds, width))[labels] + rng.standard_normal((len(labels), width))
    return vectors.astype(np.float32), labels


def embedding(vectors: Floats, step: int = 0, said: Any = None, **meta: Any) -> tuple[Media, bytes]:
    data = vectors.astype("<f4").tobytes() + (b"" if said is None else msgspec.json.encode(said))
    shape = {"rows": vectors.shape[0], "width": vectors.shape[1], **meta}
    return Media(key="z", step=step, time=float(step), kind="embedding", meta=shape), data


def finished(ctx: Context, request: ProjectionRequest) -> Projection:
    until = time.monotonic() + 300
    while True:
        found = projection(ctx, request)
        if found.done or time.monotonic() > until:
            return found
        time.sleep(0.02)


def places(found: Projection) -> NDArray[Any]:
    return np.array([axis for axis in (found.x, found.y, found.z) if axis]).T


def purity(at: NDArray[Any], labels: NDArray[Any], count: int = 5) -> float:
    """The share of each point's nearest points that have its label."""
    distances = np.linalg.norm(at[:, None] - at[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    return float((labels[np.argsort(distances, axis=1)[:, :count]] == labels[:, None]).mean())


def test_principal_components_agree_with_the_singular_values() -> None:
    vectors, _ = clusters()
    centred = vectors - vectors.mean(axis=0)
    sides, values, _ = np.linalg.svd(centred.astype(np.float64), full_matrices=False)
    at, share = principal(vectors, 3)
    np.testing.assert_allclose(np.abs(at), np.abs(sides[:, :3] * values[:3]), atol=1e-3)
    assert share == pytest.approx((values[:3] ** 2).sum() / (values**2).sum())
    wide, _ = principal(vectors[:5], 2)  # more columns than rows goes another way to the same result
    own = vectors[:5] - vectors[:5].mean(axis=0)
    sides, values, _ = np.linalg.svd(own.astype(np.float64), full_matrices=False)
    np.testing.assert_allclose(np.abs(wide), np.abs(sides[:, :2] * values[:2]), atol=1e-3)


def test_tsne_separates_clusters_and_is_the_same_every_time() -> None:
    vectors, labels = clusters()
    at = tsne(vectors, 2, rounds=250)
    assert purity(at, labels) > 0.98
    assert np.array_equal(at, tsne(vectors, 2, rounds=250))
    shuffled = np.random.default_rng(3).permutation(labels)
    assert purity(at, shuffled) < 0.5  # the measure itself is not fooled


def test_tsne_takes_what_has_no_differences() -> None:
    assert np.isfinite(tsne(np.zeros((20, 3), np.float32), 2, rounds=30)).all()
    assert tsne(np.ones((2, 3), np.float32), 2).shape == (2, 2)


def test_points_come_with_their_columns(ctx: Context, store: Path) -> None:
    vectors, labels = clusters(kinds=2)
    said = {"labels": labels.tolist(), "columns": {"class": [f"c{n}" for n in labels], "loss": [0.5] * 60}}
    run = write_run(store, media=[embedding(vectors, said=said)])
    found = finished(ctx, ProjectionRequest(run=run, key="z", dims=3))
    assert (found.done, found.error, found.total, found.rows) == (True, None, 60, list(range(60)))
    assert [(column.name, column.values[0]) for column in found.columns] == [("class", "c0"), ("loss", 0.5)]
    np.testing.assert_allclose(places(found), principal(vectors, 3)[0], rtol=1e-4)
    assert found.note.startswith("first 3 principal components, ")


def test_tsne_goes_on_behind_the_page_and_is_kept(ctx: Context, store: Path) -> None:
    vectors, labels = clusters(rows=20)
    run = write_run(store, media=[embedding(vectors)])
    request = ProjectionRequest(run=run, key="z", method="tsne", perplexity=10)
    first = projection(ctx, request)
    assert not first.done
    found = finished(ctx, request)
    assert (found.error, found.part, len(found.x), found.z) == (None, 1.0, 80, [])
    assert purity(places(found), labels) > 0.95
    again = projection(ctx, request)
    assert (again.done, again.x) == (True, found.x)


def test_work_that_nobody_watches_stops_and_starts_anew(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection_jobs, "FORGOTTEN_S", 0.05)
    rounds: list[int] = []

    def work(job: projection_jobs.Job) -> Floats:
        at = np.zeros((1, 2), np.float32)
        while job.report(0.1, at):
            rounds.append(1)
            time.sleep(0.005)
        return at

    job = ctx.projections.job("k", work)
    until = time.monotonic() + 300
    while not job.done and time.monotonic() < until:
        time.sleep(0.01)
    assert (job.done, bool(rounds)) == (True, True)
    assert ctx.projections.job("k", lambda job: np.zeros((1, 2), np.float32)) is not job


@pytest.mark.parametrize("method", ["tsne", "umap"])
def test_a_handful_of_points_is_said_to_be_too_few(
    ctx: Context, store: Path, method: Literal["tsne", "umap"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepscope.views.media.projection._has_umap", lambda: True)
    run = write_run(store, media=[embedding(clusters(rows=1)[0])])
    found = finished(ctx, ProjectionRequest(run=run, key="z", method=method, dims=3))
    assert (found.error, len(found.x)) == (None, 4)
    assert found.note == "principal components: 4 points are too few for another method"


def test_what_another_package_raises_ends_the_wait(ctx: Context, capfd: pytest.CaptureFixture[str]) -> None:
    def work(job: projection_jobs.Job) -> Floats:
        job.report(0.0, np.zeros((1, 2), np.float32))
        raise AttributeError("no UMAP in umap")

    job = ctx.projections.job("k", work)
    until = time.monotonic() + 300
    while not job.done and time.monotonic() < until:
        time.sleep(0.01)
    assert (job.done, job.error) == (True, "the projection failed; see the server's output")
    assert "no UMAP in umap" in capfd.readouterr().err


def test_umap_is_told_from_another_package_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "umap").mkdir()
    (tmp_path / "umap/__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert not _has_umap()
    (tmp_path / "umap/umap_.py").touch()
    assert _has_umap()


def test_more_rows_than_a_page_draws_are_sampled_the_same_way_each_time(ctx: Context, store: Path) -> None:
    vectors = np.random.default_rng(0).standard_normal((10_050, 3)).astype(np.float32)
    run = write_run(store, media=[embedding(vectors)])
    found = finished(ctx, ProjectionRequest(run=run, key="z"))
    assert (found.total, len(found.rows), found.rows == sorted(set(found.rows))) == (10_050, 10_000, True)
    assert finished(ctx, ProjectionRequest(run=run, key="z")).rows == found.rows


def test_rows_that_are_not_finite_stand_at_zero(ctx: Context, store: Path) -> None:
    vectors, _ = clusters(rows=3)
    vectors[1] = np.nan
    run = write_run(store, media=[embedding(vectors)])
    assert np.isfinite(places(finished(ctx, ProjectionRequest(run=run, key="z")))).all()


def test_neighbours_are_those_of_the_vectors(ctx: Context, store: Path) -> None:
    vectors = np.array([[1, 0], [2, 0.1], [0, 1], [0.1, 9], [1, 0.05]], np.float32)
    run = write_run(store, media=[embedding(vectors)])
    by_angle = near(ctx, NearRequest(run=run, key="z", row=2, count=1))
    by_distance = near(ctx, NearRequest(run=run, key="z", row=2, count=1, metric="euclidean"))
    assert (by_angle.rows, by_distance.rows) == ([3], [4])
    assert by_distance.distances == [pytest.approx(np.hypot(1, 0.95))]
    assert len(near(ctx, NearRequest(run=run, key="z", row=0, count=100)).rows) == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dims": 4}, "dims=4; a projection has 2 or 3 dimensions"),
        ({"perplexity": 1.0}, "perplexity=1; expected 2 to 200"),
    ],
)
def test_what_cannot_be_asked_for_is_said(ctx: Context, store: Path, change: dict[str, Any], words: str) -> None:
    run = write_run(store, media=[embedding(clusters(rows=2)[0])])
    with pytest.raises(UsageError, match=words):
        projection(ctx, ProjectionRequest(run=run, key="z", **change))
    with pytest.raises(UsageError, match="row 8 is not one of the 8 rows"):
        near(ctx, NearRequest(run=run, key="z", row=8))


def test_what_is_missing_or_damaged_is_said(ctx: Context, store: Path) -> None:
    vectors, _ = clusters(rows=2)
    run = write_run(store, media=[embedding(vectors, step=5), embedding(vectors, step=9, rows=1000)])
    with pytest.raises(NotFound, match="has no embedding under 'y'"):
        projection(ctx, ProjectionRequest(run=run, key="y"))
    with pytest.raises(NotFound, match="has no embedding under 'z' at 3"):
        projection(ctx, ProjectionRequest(run=run, key="z", step=3))
    with pytest.raises(BadData, match="is truncated: 384 of 48000 bytes"):
        projection(ctx, ProjectionRequest(run=run, key="z"))
    assert finished(ctx, ProjectionRequest(run=run, key="z", step=6)).step == 5
