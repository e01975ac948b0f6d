"""Values as W&B's users log them, made into ours: numbers as they are, W&B's media from their files and fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stepscope.track.media import Audio, File, Histogram, Html, Image, Table, Video, to_media
from stepscope.track.media.bins import wide_bins
from stepscope.track.media.loggable import comes_from

_DEEPEST = 16
_LISTED = 8


def kept_values(data: Mapping[Any, Any]) -> dict[str, Any]:
    """What we keep of one `log` call, under the names W&B shows: nested ones joined with a dot."""
    found: dict[str, Any] = {}
    for name, value in dotted(data).items():
        if comes_from(value, "wandb", "CustomChart"):
            table = getattr(value, "table", None)
            if table is not None:
                found[f"{name}_table"] = _table(table)
            continue
        made = _kept(value)
        if made is not None:
            found[name] = made
    return found


def dotted(data: Mapping[Any, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """A nested dict as W&B names it.

    >>> dotted({"loss": 1, "val": {"acc": 2}})
    {'loss': 1, 'val.acc': 2}
    """
    flat: dict[str, Any] = {}
    for key, value in data.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and depth < _DEEPEST:
            flat.update(dotted(value, f"{name}.", depth + 1))
        else:
            flat[name] = value
    return flat


def _kept(value: Any) -> Any:
    """The value to record, or None for what only W&B keeps."""
    if value is None or isinstance(value, (int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return _several(value)
    for kind, make in _MAKERS.items():
        if comes_from(value, "wandb", kind):
            return make(value)
    if comes_from(value, "wandb", "WBValue", "Media"):
        return _file(value)
    if getattr(value, "shape", None) is not None and hasattr(value, "dtype"):
        size = 1
        for side in value.shape:
            size *= int(side)
        return value if size == 1 else Histogram(value) if size else None
    return value if to_media(value) is not None else None


def _several(values: Any) -> Any:
    if values and all(isinstance(each, (int, float)) for each in values):
        return Histogram(list(values)) if len(values) > _LISTED else str(list(values))
    made = [_kept(each) for each in values]
    known = [each for each in made if each is not None and not isinstance(each, (int, float))]
    return known or None


def _path(value: Any) -> Path:
    return Path(str(value._path))


def _caption(value: Any) -> str | None:
    text = getattr(value, "_caption", None)
    return None if text is None else str(text)


def _table(value: Any) -> Table:
    rows = [[_cell(cell) for cell in row] for row in value.data]
    columns = [str(name) for name in value.columns]
    return Table(rows=rows, columns=columns) if rows else Table({name: [] for name in columns})


def _cell(value: Any) -> Any:
    return f"<{type(value).__name__}>" if comes_from(value, "wandb", "WBValue") else value


def _counted(edges: Any, counts: Any) -> Histogram:
    wide, numbers = wide_bins(edges, counts)
    return Histogram(counts=numbers, edges=wide)


def _file(value: Any) -> File | None:
    return File(_path(value)) if getattr(value, "_path", None) else None


_MAKERS: dict[str, Callable[[Any], Any]] = {
    "Image": lambda value: Image(_path(value), caption=_caption(value)),
    "Audio": lambda value: Audio(_path(value), caption=_caption(value)) if value._path else None,
    "Video": lambda value: Video(_path(value), caption=_caption(value)) if value._path else None,
    "Html": lambda value: Html(_path(value)) if getattr(value, "_path", None) else Html(str(value.html)),
    "Histogram": lambda value: _counted(value.bins, value.histogram),
    "Table": _table,
}
