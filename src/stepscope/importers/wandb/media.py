"""W&B's non-numeric values: those with a `_type`, most of them files in the run's folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from stepscope.errors import BadData, StepscopeError
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file, read_text
from stepscope.importers.foreign import Thing
from stepscope.importers.things import file_thing, inside, plotly_thing, several, things_of
from stepscope.importers.wandb.annotations import boxes_of, coloured, masks_of
from stepscope.track.media import Histogram, Html, Table, Text
from stepscope.track.media.bins import wide_bins

_LARGEST_JSON = 256 << 20


class Shelf:
    """The files of one run, and the media made from values that refer to them."""

    def __init__(self, files: Path) -> None:
        self.folder = files

    def things(self, key: str, value: dict[str, Any], step: int, time: float) -> Iterator[Thing]:
        """The media of one value; `BadData` with the reason if it is unavailable."""
        kind = str(value.get("_type"))
        make = _MAKERS.get(kind, _kept_as_text)
        try:
            yield from several(make(self, key, value, step, time))
        except StepscopeError as fault:
            raise BadData(f"'{key}' at step {step} ({kind}): {fault}") from None
        except (OSError, ValueError, TypeError, KeyError) as fault:
            raise BadData(f"'{key}' at step {step} ({kind}) cannot be read: {fault}") from None

    def file(self, inner: Any) -> Path:
        """A file of the run by its path there."""
        return inside(self.folder, inner)

    def json(self, inner: Any) -> Any:
        data = read_file(self.file(inner), _LARGEST_JSON, within=self.folder)
        try:
            return msgspec.json.decode(data)
        except MALFORMED:
            return json.loads(data)  # NaN, which the strict parser rejects


Made = list[Thing]
Maker = Callable[[Shelf, str, "dict[str, Any]", int, float], Made]


def _one_file(kind: str | None) -> Maker:
    def make(shelf: Shelf, key: str, value: dict[str, Any], step: int, time: float) -> Made:
        path = shelf.file(value["path"])
        made = file_thing(path, key, step, time, kind=kind, caption=_text(value.get("caption")), within=shelf.folder)
        if made.media.kind != "image":
            return [made]
        size = made.media.meta
        boxes = boxes_of(value, shelf.json, size.get("width", 0), size.get("height", 0))
        if boxes:
            made = replace(made, media=msgspec.structs.replace(made.media, meta={**size, "boxes": boxes}))
        masks = masks_of(value, shelf.file)
        return [made, *(_mask(shelf, mask, key, step, time, caption=f"mask: {name}") for name, mask in masks)]

    return make


def _mask(shelf: Shelf, path: Path, key: str, step: int, time: float, caption: str) -> Thing:
    made = file_thing(path, key, step, time, caption=caption, within=shelf.folder)
    return made if made.data is None else replace(made, data=coloured(made.data))


def _files(field: str, kind: str | None) -> Maker:
    """A list of items, each a separate value."""

    def make(shelf: Shelf, key: str, value: dict[str, Any], step: int, time: float) -> Made:
        captions = value.get("captions") or []
        made: Made = []
        for index, one in enumerate(value.get(field) or []):
            inner = one if isinstance(one, dict) else {"path": one}
            if isinstance(captions, list) and index < len(captions):
                inner = {"caption": captions[index], **inner}
            for name in ("boxes", "masks"):
                listed = value.get(f"all_{name}")
                if isinstance(listed, list) and index < len(listed):
                    inner = {name: listed[index], **inner}
            made += _one_file(kind)(shelf, key, inner, step, time)
        return made

    return make


def _separated(shelf: Shelf, key: str, value: dict[str, Any], step: int, time: float) -> Made:
    if value.get("filenames"):
        return _files("filenames", "image")(shelf, key, value, step, time)
    form = value.get("format", "png")
    names = [f"media/images/{key}_{step}_{index}.{form}" for index in range(int(value.get("count", 0)))]
    return _files("filenames", "image")(shelf, key, {**value, "filenames": names}, step, time)


def _histogram(shelf: Shelf, key: str, value: dict[str, Any], step: int, time: float) -> Made:
    edges = value.get("bins")
    if edges is None:
        packed = value["packedBins"]
        edges = [packed["min"] + packed["size"] * number for number in range(int(packed["count"]) + 1)]
    wide, counts = wide_bins(edges, value["values"])
    return things_of(Histogram(counts=counts, edges=wide), key, step, time)


def _table(shelf: Shelf, key: str, value: dict[str, Any], step: int, time: float) -> Made:
    content = value if "data" in value else shelf.json(value["path"])
    columns = [str(name) for name in content["columns"]]
    rows = [[_cell(cell) for cell in row] for row in content["data"]]
    if not rows:
        return things_of(Table({name: [] for name in columns}), key, step, time)
    return things_of(Table(rows=rows, columns=columns), key, step, time)


def _cell(value: Any) -> Any:
    """Media in a table are named by their file; other nested values are written out."""
    if isinstance(value, dict) and "path" in value:
        return str(value["path"])
    return value if value is None or isinstance(value, (str, int, float, bool)) else json.dumps(value)


def _html(shelf: Shelf, key: str, value: dict[str, Any], step: int, time: float) -> Made:
    return things_of(Html(read_text(shelf.file(value["path"]), _LARGEST_JSON, within=shelf.folder)), key, step, time)


def _htmls(shelf: Shelf, key: str, value: dict[str, Any], step: int, time: float) -> Made:
    return [thing for one in value.get("html") or [] for thing in _html(shelf, key, one, step, time)]


def _plotly(shelf: Shelf, key: str, value: dict[str, Any], step: int, time: float) -> Made:
    return [plotly_thing(shelf.json(value["path"]), key, step, time)]


def _kept_as_text(shelf: Shelf, key: str, value: dict[str, Any], step: int, time: float) -> Made:
    """An unknown kind: its file if it has one, else its fields."""
    if "path" in value:
        return _one_file(None)(shelf, key, value, step, time)
    return things_of(Text(json.dumps(value, indent=2, default=str)), key, step, time)


def _text(value: Any) -> str | None:
    return None if value is None or value is False else str(value)


_MAKERS: dict[str, Maker] = {
    "image-file": _one_file("image"),
    "images/separated": _separated,
    "images": _separated,
    "audio-file": _one_file("audio"),
    "audio": _files("audio", "audio"),
    "video-file": _one_file("video"),
    "videos": _files("videos", "video"),
    "histogram": _histogram,
    "table-file": _table,
    "incremental-table-file": _table,
    "table": _table,
    "html-file": _html,
    "html": _htmls,
    "plotly-file": _plotly,
}
