"""Embeddings in 2D or 3D: by principal components, t-SNE or UMAP, and nearest neighbors."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from stepscope.errors import BadData, NotFound, UsageError
from stepscope.files.decoding import MALFORMED
from stepscope.records import Media
from stepscope.runs.read.folder import RunFolder
from stepscope.views.context import Context
from stepscope.views.media.projection_jobs import Job
from stepscope.views.media.tsne import MAX_ROWS, ROUNDS, principal, tsne
from stepscope.views.route import route

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MOST_ROWS = 10_000
"""Maximum number of points drawn; a larger set is sampled with a fixed seed."""
MAX_NEAR = 100
MAX_LABEL = 200
MAX_WIDTH = 50
"""Number of principal components that t-SNE and UMAP start from: the rest is mostly noise, and costs time."""

LEAST_ROWS = 8
"""Fewer points have no neighborhoods to preserve, and some versions of UMAP fail on them."""
_one_umap = threading.Lock()
"""Numba's own threads crash the process when two callers use them at once, if neither TBB nor OpenMP is installed."""

Method = Literal["pca", "tsne", "umap"]


class ProjectionRequest(msgspec.Struct):
    run: str
    key: str
    step: int | None = None
    """The newest at or before it; None for the newest of all."""
    method: Method = "pca"
    dims: int = 2
    perplexity: float = 30.0
    """t-SNE: the perplexity. UMAP: `n_neighbors`."""


class PointColumn(msgspec.Struct):
    """One attribute of each row: its label, its loss, its split."""

    name: str
    values: list[Any]


class Projection(msgspec.Struct):
    step: int
    rows: list[int]
    """The rows of the embedding that the points represent."""
    total: int
    """Total number of rows."""
    x: list[float]
    y: list[float]
    z: list[float]
    """Empty in 2D. All three are empty until there is something to draw."""
    done: bool
    part: float
    """Progress, 0 to 1."""
    note: str
    """What was computed, in words: the method, and what was omitted."""
    columns: list[PointColumn]
    methods: list[str]
    """The methods this server supports."""
    error: str | None = None


class NearRequest(msgspec.Struct):
    run: str
    key: str
    row: int
    step: int | None = None
    count: int = 10
    metric: Literal["cosine", "euclidean"] = "cosine"


class Near(msgspec.Struct):
    rows: list[int]
    distances: list[float]


@route("POST", "/api/projection")
def projection(ctx: Context, request: ProjectionRequest) -> Projection:
    """The position of each vector of an embedding. Poll until `done`: the plot forms meanwhile."""
    if request.dims not in (2, 3):
        raise UsageError(f"dims={request.dims}; a projection has 2 or 3 dimensions")
    if not 2 <= request.perplexity <= 200:
        raise UsageError(f"perplexity={request.perplexity:g}; expected 2 to 200")
    methods = ["pca", "tsne", *(["umap"] if _has_umap() else [])]
    if request.method not in methods:
        raise UsageError("UMAP is not installed where the server runs; install it with: pip install umap-learn")
    folder, found = _media(ctx, request.run, request.key, request.step)
    stored = ctx.projections.read(_name(folder, found), partial(_read, folder, found))
    rows = _sample(len(stored.vectors), _room(request.method))
    work = partial(_work, vectors=stored.vectors[rows], request=request)
    key = (_name(folder, found), request.method, request.dims, request.perplexity)
    job = ctx.projections.job(key, work, short=request.method == "pca")
    places = job.places
    columns = [PointColumn(name=name, values=[_short(values[row]) for row in rows]) for name, values in stored.columns]
    return Projection(
        step=found.step,
        rows=rows.tolist(),
        total=len(stored.vectors),
        x=_axis(places, 0),
        y=_axis(places, 1),
        z=_axis(places, 2),
        done=job.done,
        part=job.part,
        note=job.note,
        columns=columns,
        methods=methods,
        error=job.error,
    )


@route("POST", "/api/projection/near")
def near(ctx: Context, request: NearRequest) -> Near:
    """The vectors nearest to one, measured between the vectors themselves and not in the plot."""
    if not 1 <= request.count <= MAX_NEAR:
        raise UsageError(f"count={request.count}; expected 1 to {MAX_NEAR}")
    folder, found = _media(ctx, request.run, request.key, request.step)
    vectors = ctx.projections.read(_name(folder, found), partial(_read, folder, found)).vectors
    if not 0 <= request.row < len(vectors):
        raise UsageError(f"row {request.row} is not one of the {len(vectors)} rows; reload the page")
    own = vectors[request.row]
    if request.metric == "cosine":
        sizes = np.linalg.norm(vectors, axis=1) * max(float(np.linalg.norm(own)), 1e-30)
        distances = 1 - (vectors @ own) / np.maximum(sizes, 1e-30)
    else:
        distances = np.linalg.norm(vectors - own, axis=1)
    distances[request.row] = np.inf
    order = np.argsort(distances, kind="stable")[: min(request.count, len(vectors) - 1)]
    return Near(rows=order.tolist(), distances=[float(value) for value in distances[order]])


# -- the embedding ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Stored:
    vectors: Floats
    columns: list[tuple[str, list[Any]]]


def _media(ctx: Context, run: str, key: str, step: int | None) -> tuple[RunFolder, Media]:
    folder = ctx.runs.get(run)
    found = [one for one in folder.media(key, kind="embedding") if step is None or one.step <= step]
    if not found:
        raise NotFound(f"run {folder.name!r} has no embedding under {key!r}" + ("" if step is None else f" at {step}"))
    return folder, found[-1]


def _read(folder: RunFolder, found: Media) -> _Stored:
    """The vectors and their attributes; `BadData` if the bytes do not match the record."""
    data = folder.media_bytes(found)
    rows, width = found.meta.get("rows"), found.meta.get("width")
    if not isinstance(rows, int) or not isinstance(width, int) or rows < 1 or width < 1:
        raise BadData(f"the embedding {found.key!r} at step {found.step} has no shape in its record; log it again")
    size = rows * width * 4
    if len(data) < size:
        raise BadData(f"the embedding {found.key!r} at step {found.step} is truncated: {len(data)} of {size} bytes")
    vectors = np.frombuffer(data, dtype="<f4", count=rows * width).reshape(rows, width)
    finite = np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0).astype(np.float32)
    return _Stored(finite, _columns(data[size:], rows))


def _name(folder: RunFolder, found: Media) -> tuple[object, ...]:
    """A key that identifies this embedding: a step may be logged again after a restart."""
    return folder.id, found.key, found.step, found.time, found.sha256


def _columns(data: bytes, rows: int) -> list[tuple[str, list[Any]]]:
    try:
        said = msgspec.json.decode(data) if data else {}
    except MALFORMED:  # the vectors are intact, so draw them without labels
        return []
    if not isinstance(said, dict):
        return []
    named = said.get("columns")
    given = list(named.items()) if isinstance(named, dict) else [("label", said.get("labels"))]
    return [(str(name), values) for name, values in given if isinstance(values, list) and len(values) == rows]


def _short(value: Any) -> Any:
    return value[:MAX_LABEL] if isinstance(value, str) else value


def _room(method: Method) -> int:
    """Number of points a method handles in reasonable time; scikit-learn's approximate t-SNE handles more."""
    if method == "tsne" and not find_spec("sklearn"):
        return MAX_ROWS
    return MOST_ROWS if method == "pca" else MOST_ROWS // 2


def _sample(rows: int, room: int) -> NDArray[np.int64]:
    if rows <= room:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, room, replace=False))


# -- the methods ------------------------------------------------------------------------------------------------


def _work(job: Job, vectors: Floats, request: ProjectionRequest) -> Floats:
    if request.method == "pca":
        places, share = principal(vectors, request.dims)
        job.note = f"first {request.dims} principal components, {100 * share:.3g}% of the variance"
        return places
    start, _ = principal(vectors, request.dims)
    if len(vectors) < LEAST_ROWS:
        job.note = f"principal components: {len(vectors)} points are too few for another method"
        return start
    job.report(0.0, start)
    narrow = principal(vectors, MAX_WIDTH)[0] if vectors.shape[1] > MAX_WIDTH else vectors
    if request.method == "umap":
        return _umap(job, narrow, request)
    if len(vectors) > MAX_ROWS:
        return _sklearn_tsne(job, narrow, request)
    job.note = f"t-SNE, exact, perplexity {_perplexity(len(vectors), request):.3g}"
    return tsne(
        narrow, request.dims, request.perplexity, report=lambda at, places: job.report(min(0.99, at / ROUNDS), places)
    )


def _perplexity(rows: int, request: ProjectionRequest) -> float:
    return min(request.perplexity, max(1.0, (rows - 1) / 3))


def _sklearn_tsne(job: Job, vectors: Floats, request: ProjectionRequest) -> Floats:
    from sklearn.manifold import TSNE

    perplexity = _perplexity(len(vectors), request)
    job.note = f"t-SNE by scikit-learn, perplexity {perplexity:.3g}"
    made = TSNE(request.dims, perplexity=perplexity, init="pca", random_state=0).fit_transform(vectors)
    return np.asarray(made, dtype=np.float32)


def _has_umap() -> bool:
    """Check the file without importing it: another package on PyPI is also called `umap`."""
    spec = find_spec("umap")
    return spec is not None and any(Path(place, "umap_.py").exists() for place in spec.submodule_search_locations or ())


def _umap(job: Job, vectors: Floats, request: ProjectionRequest) -> Floats:
    neighbours = int(min(request.perplexity, len(vectors) - 1))
    job.note = f"UMAP, {neighbours} neighbors; the first run compiles it, which can take a minute"
    with _one_umap:
        umap: Any = import_module("umap")
        # One thread: with a fixed seed UMAP uses no more, and would warn about a larger number.
        made = umap.UMAP(n_components=request.dims, n_neighbors=neighbours, random_state=0, n_jobs=1)
        places = np.asarray(made.fit_transform(vectors), dtype=np.float32)
    job.note = f"UMAP, {neighbours} neighbors"
    return places


def _axis(places: Floats | None, axis: int) -> list[float]:
    if places is None or axis >= places.shape[1]:
        return []
    return [float(f"{value:.5g}") for value in places[:, axis].tolist()]
