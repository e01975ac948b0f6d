"""Runs as TensorBoard folders: scalars, images, sounds, texts, histograms, curves and hyperparameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec
import numpy as np

from stepscope.errors import Conflict, StepscopeError, StorageError
from stepscope.eventfiles import write
from stepscope.eventfiles.reader import is_event_file
from stepscope.eventfiles.summaries import Histogram, encode_histogram
from stepscope.export.projector import write_embedding
from stepscope.runs.points.histograms import decode_histogram

if TYPE_CHECKING:
    from stepscope.records import Media
    from stepscope.runs.read.folder import RunFolder

_BLOCK = 1 << 16
_MOST_METRICS = 50
_MOST_ROWS = 200
_THRESHOLDS = 127
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]+')


@dataclass
class Exported:
    """What was written for one run."""

    run: str
    path: Path
    points: int = 0
    media: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    """Kinds of media that TensorBoard has no page for, with counts."""


def write_tensorboard(runs: Sequence[RunFolder], folder: Path, *, double: bool = False) -> list[Exported]:
    """One folder below `folder` per run, named after it. Existing folders with event files are rejected."""
    places = _places(runs, folder)
    for place in places:
        if place.is_dir() and any(is_event_file(path.name) for path in place.iterdir()):
            raise Conflict(f"{place} already has event files; give another folder, or remove it first")
    return [_write_run(run, place, double) for run, place in zip(runs, places, strict=True)]


def _places(runs: Sequence[RunFolder], folder: Path) -> list[Path]:
    """A folder per run: its name, sanitized, with a number if two are equal."""
    taken: set[Path] = set()
    places = []
    for run in runs:
        parts = [_UNSAFE.sub("_", part).strip(" .")[:100] for part in run.name.split("/")]
        path = folder.joinpath(*(part for part in parts if part)) if any(parts) else folder / run.id
        again = 2
        place = path
        while place in taken:
            place = path.with_name(f"{path.name}-{again}")
            again += 1
        taken.add(place)
        places.append(place)
    return places


def _write_run(run: RunFolder, place: Path, double: bool) -> Exported:
    done = Exported(run.name, place)
    try:
        place.mkdir(parents=True, exist_ok=True)
        part = place / ".part"  # so that a reader sees the file only when it is complete
        with part.open("wb") as out:
            out.write(write.version(run.created))
            _settings(run, out)
            _scalars(run, out, done, double)
            _media(run, place, out, done)
        part.rename(place / f"events.out.tfevents.{max(0, int(run.created)):010d}.stepscope.{run.id}.0")
    except OSError as fault:
        raise StorageError(f"{place} could not be written: {fault.strerror}; choose another folder") from fault
    return done


def _settings(run: RunFolder, out: IO[bytes]) -> None:
    settings = {str(name): value for name, value in run.config.items() if value is not None}
    if not settings:
        return
    metrics = [name for name in run.metrics() if not name.startswith("system/")][:_MOST_METRICS]
    for value in write.hparams(settings, metrics, run.created, run.ended, run.status in ("failed", "killed", "lost")):
        out.write(write.event(run.created, 0, value))


def _scalars(run: RunFolder, out: IO[bytes], done: Exported, double: bool) -> None:
    for name in run.metrics():
        series = run.series(name)
        for start in range(0, len(series.values), _BLOCK):
            part = slice(start, start + _BLOCK)
            out.write(write.scalars(name, series.steps[part], series.times[part], series.values[part], double=double))
        done.points += len(series.values)


def _media(run: RunFolder, place: Path, out: IO[bytes], done: Exported) -> None:
    for media in run.media():
        try:
            if media.kind == "embedding":
                write_embedding(place, media, run.media_bytes(media))
                done.media += 1
                continue
            values = list(_values(media, run.media_bytes(media)))
        except (StepscopeError, msgspec.MsgspecError, KeyError, ValueError, TypeError):
            values = []
        if not values:
            done.left_out[media.kind] = done.left_out.get(media.kind, 0) + 1
            continue
        done.media += 1
        for value in values:
            out.write(write.event(media.time, media.step, value))


def _values(media: Media, data: bytes) -> Iterator[bytes]:
    """The summary values for one item; none if TensorBoard has no page for it."""
    tag = media.key if media.count == 1 else f"{media.key}/{media.index}"
    kind = "image" if media.kind in ("figure", "video") else media.kind
    values = _VALUES.get(kind)
    if values is not None:
        yield from values(tag, media, data)


def _image(tag: str, media: Media, data: bytes) -> Iterator[bytes]:
    if media.mime.startswith("image/"):
        yield write.image(tag, data, int(media.meta.get("width") or 0), int(media.meta.get("height") or 0))


def _audio(tag: str, media: Media, data: bytes) -> Iterator[bytes]:
    meta = media.meta
    rate, channels = float(meta.get("rate") or 0), int(meta.get("channels") or 1)
    yield write.audio(tag, data, media.mime, rate, channels, round(float(meta.get("seconds") or 0) * rate))


def _histogram_value(tag: str, media: Media, data: bytes) -> Iterator[bytes]:
    yield write.histogram(tag, encode_histogram(_histogram(data, media.meta)))


def _text(tag: str, media: Media, data: bytes) -> Iterator[bytes]:
    yield write.text(tag, data.decode("utf-8", "replace"))


def _html(tag: str, media: Media, data: bytes) -> Iterator[bytes]:
    yield write.text(tag, "```html\n" + data.decode("utf-8", "replace") + "\n```")


def _table(tag: str, media: Media, data: bytes) -> Iterator[bytes]:
    yield write.text(tag, _markdown(**msgspec.json.decode(data)))


def _confusion(tag: str, media: Media, data: bytes) -> Iterator[bytes]:
    found = msgspec.json.decode(data)
    rows = [[label, *counts] for label, counts in zip(found["labels"], found["counts"], strict=True)]
    yield write.text(tag, _markdown(["true \\ predicted", *found["labels"]], rows))


def _curves(tag: str, media: Media, data: bytes) -> Iterator[bytes]:
    if media.meta.get("curve") != "pr":
        return
    several = len(media.meta.get("labels") or ()) > 1
    for curve in msgspec.json.decode(data)["curves"]:
        yield write.pr_curve(f"{tag}/{curve['label']}" if several else tag, _at_thresholds(curve))


_VALUES = {
    "image": _image,
    "audio": _audio,
    "histogram": _histogram_value,
    "text": _text,
    "html": _html,
    "table": _table,
    "confusion": _confusion,
    "curve": _curves,
}
"""The values of each kind of media that TensorBoard shows."""


def _histogram(data: bytes, meta: dict[str, Any]) -> Histogram:
    found = decode_histogram(data)
    total = float(np.sum(found.counts))
    return Histogram(
        found.edges, found.counts, meta.get("min"), meta.get("max"), total, meta.get("mean"), meta.get("std")
    )


def _markdown(columns: list[Any], rows: list[list[Any]]) -> str:
    """A table as Markdown."""
    lines = [columns, ["---"] * len(columns), *rows[:_MOST_ROWS]]
    text = "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)
    return text + (f"\n\n{len(rows) - _MOST_ROWS:,} more rows" if len(rows) > _MOST_ROWS else "")


def _cell(value: Any) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")


def _at_thresholds(curve: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A curve at TensorBoard's even thresholds: at each, the point with the lowest score not below it."""
    marks = np.array([np.inf if mark is None else mark for mark in curve["thresholds"]], dtype=np.float64)
    recall, precision = (np.array(curve[axis], dtype=np.float64) for axis in ("x", "y"))
    positives, negatives = float(curve["positives"]), float(curve["negatives"])
    if not len(marks):
        return np.zeros((6, _THRESHOLDS))
    at = np.searchsorted(-marks, -np.linspace(0, 1, _THRESHOLDS), side="right") - 1
    at = np.maximum(at, 0)
    hits = recall[at] * positives
    with np.errstate(all="ignore"):
        alarms = np.minimum(hits * (1 - precision[at]) / precision[at], negatives)
    for place in np.flatnonzero(np.isnan(alarms)):  # no match, so the curve does not tell: at most one step below
        alarms[place] = min(1.0, alarms[place - 1]) if place else negatives
    rates = hits / np.maximum(1e-7, hits + alarms)
    return np.stack((hits, alarms, negatives - alarms, positives - hits, rates, recall[at]))
