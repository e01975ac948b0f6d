"""Media for importers: another tool's files or numbers, in the form that `run.log` would have stored."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from stepscope.errors import BadData
from stepscope.files.opening import open_file, read_window
from stepscope.importers.foreign import Thing
from stepscope.records import Media
from stepscope.runs.format.image_head import image_size, mime_of
from stepscope.track.media.figure import plotly_tree
from stepscope.track.media.loggable import Loggable, captioned
from stepscope.track.names import as_name

_HEAD = 1 << 16
_SMALL = 1 << 20
_BROWSER_VIDEOS = ("video/mp4", "video/webm")


def things_of(made: Loggable, key: str, step: int, time: float, **meta: Any) -> list[Thing]:
    """The records of one of Stepscope's media classes; `StepscopeError` if its data is invalid."""
    more = {name: value for name, value in meta.items() if value is not None}
    return [
        Thing(msgspec.structs.replace(record, meta={**record.meta, **more}), data)
        for record, data in made.encode(as_name(key), step, time)
    ]


def file_thing(
    path: Path,
    key: str,
    step: int,
    time: float,
    *,
    within: Path,
    kind: str | None = None,
    caption: str | None = None,
    **meta: Any,
) -> Thing:
    """A file stored unchanged: as an image, a sound or a clip if its first bytes say so, else as a file.

    `within` is the folder that it must not leave through a link. `kind` is its owner's type; it counts only if the
    bytes agree. Large files are not read whole.
    """
    with open_file(path, within=within) as stream:
        head = read_window(stream, 0, _SMALL + 1)
    found, mime = _kind_of(head[:_HEAD], kind, path)
    if found == "image":
        wide = image_size(head[:_HEAD], mime)
        meta = {**meta, **({} if wide is None else {"width": wide[0], "height": wide[1]})}
    if found == "file":
        meta = {"name": as_name(path.name), **meta}
    media = Media(key=as_name(key), step=step, time=time, kind=found, mime=mime, meta=captioned(meta, caption))
    if len(head) <= _SMALL:
        return Thing(media, head)
    return Thing(media, file=path, within=within)


def plotly_thing(tree: Any, key: str, step: int, time: float) -> Thing:
    """A plotly figure from its JSON."""
    if not isinstance(tree, dict):
        raise BadData("a plotly figure that is not a JSON object")
    data, mime, meta = plotly_tree(tree)
    return Thing(Media(key=as_name(key), step=step, time=time, kind="figure", mime=mime, meta=meta), data)


def _kind_of(head: bytes, kind: str | None, path: Path) -> tuple[str, str]:
    mime = mime_of(head)
    if mime is not None:
        family = mime.partition("/")[0]
        if kind == "video" and mime in ("image/gif", "image/apng", "image/webp"):
            return "video", mime
        if family == "video" and mime not in _BROWSER_VIDEOS:
            return "file", mime
        return ("video" if mime == "image/apng" else family), mime
    return "file", mimetypes.guess_type(path.name)[0] or "application/octet-stream"


def inside(root: Path, inner: Any) -> Path:
    """A file by its path below `root`, as a log names it; `BadData` if it leads elsewhere or is missing."""
    path = root / str(inner)
    if ".." in path.parts or not path.absolute().is_relative_to(root.absolute()):
        raise BadData(f"its file '{inner}' is outside the run's folder")
    if not path.is_file():
        raise BadData(f"its file '{inner}' is not in the run's folder")
    return path


def several(things: list[Thing]) -> Iterator[Thing]:
    """Items under one key at one step, each with its index."""
    for index, thing in enumerate(things):
        yield replace(thing, media=msgspec.structs.replace(thing.media, index=index, count=len(things)))
