"""trackio's non-numeric values: those with a `_type`, some of them files in its `media` folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stepscope.errors import BadData, StepscopeError
from stepscope.files.opening import read_file, read_text
from stepscope.importers.foreign import Thing
from stepscope.importers.things import file_thing, inside, plotly_thing, things_of
from stepscope.track.media import Histogram, Html, Markdown, Table, Text
from stepscope.track.media.bins import wide_bins

_LARGEST = 64 << 20
Value = dict[str, Any]
Made = list[Thing]


def things(root: Path, key: str, value: Value, step: int, time: float) -> Made:
    """The media of one value, whose files are below `root`; `BadData` with the reason if it is unavailable."""
    kind = str(value.get("_type")).removeprefix("trackio.")
    try:
        return _MAKERS.get(kind, _other)(root, key, value, step, time)
    except StepscopeError as fault:
        raise BadData(f"'{key}' at step {step} ({kind}): {fault}") from None
    except (OSError, ValueError, TypeError, KeyError) as fault:
        raise BadData(f"'{key}' at step {step} ({kind}) cannot be read: {fault}") from None


def _file(kind: str | None) -> Callable[[Path, str, Value, int, float], Made]:
    def make(root: Path, key: str, value: Value, step: int, time: float) -> Made:
        caption = value.get("caption")
        path = inside(root, value["file_path"])
        said = None if caption is None else str(caption)
        return [file_thing(path, key, step, time, kind=kind, caption=said, within=root)]

    return make


def _table(root: Path, key: str, value: Value, step: int, time: float) -> Made:
    rows = value["_value"]
    if not rows:
        return things_of(Text("an empty table"), key, step, time)
    plain = [{name: _cell(each) for name, each in row.items()} for row in rows]
    return things_of(Table(plain), key, step, time)


def _cell(value: Any) -> Any:
    if isinstance(value, dict) and "file_path" in value:
        return str(value["file_path"])
    return value if value is None or isinstance(value, (str, int, float, bool)) else json.dumps(value)


def _histogram(root: Path, key: str, value: Value, step: int, time: float) -> Made:
    edges, counts = wide_bins(value["bins"], value["values"])
    return things_of(Histogram(counts=counts, edges=edges), key, step, time)


def _markdown(root: Path, key: str, value: Value, step: int, time: float) -> Made:
    return things_of(Markdown(str(value["_value"])), key, step, time)


def _html(root: Path, key: str, value: Value, step: int, time: float) -> Made:
    if "file_path" not in value:
        return things_of(Html(str(value["_value"])), key, step, time)
    page = read_text(inside(root, value["file_path"]), _LARGEST, within=root)
    return things_of(Html(page), key, step, time)


def _plotly(root: Path, key: str, value: Value, step: int, time: float) -> Made:
    tree = value.get("_value")
    if tree is None:
        tree = json.loads(read_file(inside(root, value["file_path"]), _LARGEST, within=root))
    return [plotly_thing(json.loads(tree) if isinstance(tree, str) else tree, key, step, time)]


def _other(root: Path, key: str, value: Value, step: int, time: float) -> Made:
    """An unknown kind: its file if it has one, else its fields."""
    if "file_path" in value:
        return _file(None)(root, key, value, step, time)
    return things_of(Text(json.dumps(value, indent=2)), key, step, time)


_MAKERS: dict[str, Callable[[Path, str, Value, int, float], Made]] = {
    "image": _file("image"),
    "video": _file("video"),
    "audio": _file("audio"),
    "table": _table,
    "histogram": _histogram,
    "markdown": _markdown,
    "html": _html,
    "plotly": _plotly,
}
