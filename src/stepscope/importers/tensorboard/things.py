"""Everything but scalars as Stepscope media: images, sounds, texts, histograms, curves, meshes, graphs.

Anything else is stored as a file, with the name of its plugin.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np

from stepscope.errors import BadData, StepscopeError
from stepscope.eventfiles.curves import pr_record
from stepscope.eventfiles.events import Event, Metadata, Value
from stepscope.eventfiles.plugins import decode_hparams, decode_layout
from stepscope.eventfiles.summaries import (
    Histogram,
    Picture,
    Sound,
    decode_audio,
    decode_histogram,
    decode_image,
    from_buckets,
    histogram_record,
)
from stepscope.eventfiles.tensors import Tensor, decode_tensor
from stepscope.importers.foreign import Piece, Thing
from stepscope.importers.tensorboard.graphs import graph_things, traced_things
from stepscope.importers.tensorboard.meshes import Meshes
from stepscope.importers.things import several, things_of
from stepscope.records import ConfigUpdate, Console, End, Media, NotesChange
from stepscope.runs.format.image_head import image_size, mime_of
from stepscope.track.media.table import Table
from stepscope.track.media.text import Markdown

_FAILED = 2
_TEXT_SUFFIX = "/text_summary"
_BINARY = "application/octet-stream"


class Things:
    """Converts the events of one run to pieces."""

    def __init__(self) -> None:
        self.plugins: dict[str, Metadata] = {}
        self._meshes = Meshes()
        self._bad: dict[str, int] = {}

    def of(self, event: Event) -> Iterator[Piece]:
        for value in event.values:
            yield from self._guarded(value.tag, lambda value=value: self._value(value, event))  # type: ignore[misc]
        if event.graph is not None:
            graph = event.graph
            yield _file("graph/file", event, graph, "graph.pb")
            yield from self._guarded("graph", lambda: graph_things(graph, "graph", event.step, event.time))
        if event.meta_graph is not None:
            yield _file("meta_graph", event, event.meta_graph, "meta_graph.pb")
        if event.run_metadata is not None:
            tag, content = event.run_metadata
            yield _file(f"run_metadata/{tag}", event, content, "run_metadata.pb")
        if event.message:
            yield Console(time=event.time, stream="stderr", text=event.message + "\n", step=event.step)

    def rest(self) -> Iterator[Piece]:
        """Items that were waiting for their other parts."""
        yield from self._meshes.rest()

    def troubles(self) -> list[str]:
        told = [f"{count:,} of {what}; they were skipped" for what, count in self._bad.items()]
        self._bad = {}
        return told

    def _guarded(self, tag: str, make: Callable[[], list[Piece]]) -> list[Piece]:
        try:
            return make()
        except StepscopeError as fault:
            what = f"the values of '{tag[:100]}' cannot be read ({fault})"
            self._bad[what] = self._bad.get(what, 0) + 1
            return []

    def _value(self, value: Value, event: Event) -> list[Piece]:
        metadata = value.metadata or self.plugins.get(value.tag) or Metadata()
        if metadata.plugin == "hparams":
            return _hparams(metadata, event)
        if value.kind == "histo":
            return _histogram(decode_histogram(value.data), value.tag, event)
        if value.kind == "image":
            return _pictures([decode_image(value.data)], value.tag, event, metadata)
        if value.kind == "audio":
            return _sounds([decode_audio(value.data)], [""], value.tag, event)
        if value.kind == "tensor":
            return self._tensor(value, metadata, event)
        if value.kind == "none":
            return []
        return [_file(value.tag, event, value.data, f"{value.kind}.pb")]

    def _tensor(self, value: Value, metadata: Metadata, event: Event) -> list[Piece]:
        plugin = metadata.plugin
        tensor = decode_tensor(value.data)
        if plugin == "mesh":
            return list(self._meshes.add(tensor, metadata.content, event))
        if plugin == "custom_scalars":
            return _layout(tensor, event)
        if plugin in _TENSORS:
            return _TENSORS[plugin](tensor, value.tag, event, metadata)
        return [_array(tensor, value.tag, event, plugin)]


# Each takes (tensor, tag, event, metadata).


def _from_images(tensor: Tensor, tag: str, event: Event, metadata: Metadata) -> list[Piece]:
    parts = _strings(tensor, "images")
    if len(parts) < 2:
        raise BadData("images without their width and height")
    width, height = (int(part) if part.isdigit() and len(part) < 10 else 0 for part in parts[:2])
    return _pictures([Picture(data, width, height) for data in parts[2:]], tag, event, metadata)


def _from_audio(tensor: Tensor, tag: str, event: Event, metadata: Metadata) -> list[Piece]:
    parts = _strings(tensor, "sounds")
    if tensor.ndim == 2 and tensor.shape[1] == 2:
        return _sounds([Sound(data) for data in parts[0::2]], [_text(label) for label in parts[1::2]], tag, event)
    return _sounds([Sound(data) for data in parts], [""] * len(parts), tag, event)


def _from_text(tensor: Tensor, tag: str, event: Event, metadata: Metadata) -> list[Piece]:
    """One text unchanged; several as a table, as TensorBoard shows them."""
    parts = [_text(part) for part in _strings(tensor, "texts")]
    key = tag.removesuffix(_TEXT_SUFFIX) or tag
    if len(parts) == 1:
        return [*things_of(Markdown(parts[0]), key, event.step, event.time)]
    width = tensor.shape[-1] if tensor.ndim > 1 else 1
    rows = [parts[start : start + width] for start in range(0, len(parts), width)] if width else []
    return [*things_of(Table(rows, columns=[str(n) for n in range(width)]), key, event.step, event.time)]


def _from_buckets(tensor: Tensor, tag: str, event: Event, metadata: Metadata) -> list[Piece]:
    return _histogram(from_buckets(tensor), tag, event)


def _from_trace(tensor: Tensor, tag: str, event: Event, metadata: Metadata) -> list[Piece]:
    made: list[Piece] = []
    for part in _strings(tensor, "a graph"):
        made.append(_file(f"{tag}/file", event, part, "run_metadata.pb", plugin=metadata.plugin))
        made += traced_things(part, tag or "graph", event.step, event.time)
    return made


def _from_keras(tensor: Tensor, tag: str, event: Event, metadata: Metadata) -> list[Piece]:
    """The layers of a Keras model, as JSON."""
    parts = _strings(tensor, "a model")
    return [_file(tag, event, part, "keras_model.json", "application/json", metadata.plugin) for part in parts[:1]]


def _from_pr(tensor: Tensor, tag: str, event: Event, metadata: Metadata) -> list[Piece]:
    return [Thing(*pr_record(tensor, tag or "unnamed", event.step, event.time))]


_TENSORS: dict[str, Callable[[Tensor, str, Event, Metadata], list[Piece]]] = {
    "images": _from_images,
    "audio": _from_audio,
    "text": _from_text,
    "histograms": _from_buckets,
    "pr_curves": _from_pr,
    "graph_run_metadata": _from_trace,
    "graph_run_metadata_graph": _from_trace,
    "graph_keras_model": _from_keras,
}


def _strings(tensor: Tensor, what: str) -> list[bytes]:
    if tensor.dtype != object:
        raise BadData(f"{what} as numbers")
    return [bytes(part) for part in tensor.reshape(-1)]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _media(tag: str, event: Event, kind: str, mime: str, meta: dict[str, Any]) -> Media:
    return Media(key=tag or "unnamed", step=event.step, time=event.time, kind=kind, mime=mime, meta=meta)


def _pictures(pictures: list[Picture], tag: str, event: Event, metadata: Metadata) -> list[Piece]:
    made: list[Thing] = []
    caption = {"caption": metadata.description} if metadata.description else {}
    for picture in pictures:
        mime = mime_of(picture.data[:4096])
        if mime is None or not mime.startswith("image/"):
            made.append(_file(tag, event, picture.data, "image.bin"))
            continue
        found = image_size(picture.data[: 1 << 16], mime)
        width, height = found or (picture.width, picture.height)
        made.append(
            Thing(_media(tag, event, "image", mime, {"width": width, "height": height, **caption}), picture.data)
        )
    return [*several(made)]


def _sounds(sounds: list[Sound], labels: list[str], tag: str, event: Event) -> list[Piece]:
    made: list[Thing] = []
    for sound, label in zip(sounds, labels, strict=True):
        mime = mime_of(sound.data[:4096]) or sound.mime
        if not mime.startswith("audio/"):
            made.append(_file(tag, event, sound.data, "audio.bin"))
            continue
        meta: dict[str, Any] = {"caption": label} if label else {}
        if sound.rate > 0 and math.isfinite(sound.rate):
            meta |= {"rate": round(sound.rate), "channels": sound.channels, "seconds": sound.frames / sound.rate}
        made.append(Thing(_media(tag, event, "audio", mime, meta), sound.data))
    return [*several(made)]


def _histogram(histogram: Histogram, tag: str, event: Event) -> list[Piece]:
    meta, data = histogram_record(histogram)
    return [Thing(_media(tag, event, "histogram", _BINARY, meta), data)]


def _hparams(metadata: Metadata, event: Event) -> list[Piece]:
    found = decode_hparams(metadata.content)
    made: list[Piece] = []
    values = found.values | ({"hparams_group": found.group} if found.group and _is_word(found.group) else {})
    if values:
        made.append(ConfigUpdate(time=event.time, values=values))
    if found.description:
        made.append(NotesChange(time=event.time, text=found.description))
    if found.status == _FAILED:  # success is meaningless: PyTorch writes it at once, before the training continues
        made.append(End(time=event.time, status="failed", error="the session ended with a failure (hparams)"))
    return made


def _is_word(group: str) -> bool:
    """An explicitly named group; otherwise TensorBoard uses a hash of the values."""
    return re.fullmatch(r"[0-9a-f]{64}", group) is None


def _layout(tensor: Tensor, event: Event) -> list[Piece]:
    layout = decode_layout(_strings(tensor, "a layout")[0]) if tensor.size else {}
    lines = [
        f"- **{category}** / {title}: {', '.join(tags)}" + (" (value, lower, upper)" if kind == "Margin" else "")
        for category, charts in layout.items()
        for title, (kind, tags) in charts.items()
    ]
    text = "Charts that TensorBoard's custom scalars show:\n\n" + "\n".join(lines)
    made: list[Piece] = [*things_of(Markdown(text), "custom_scalars/layout", event.step, event.time)]
    return [*made, _file("custom_scalars/json", event, msgspec.json.encode(layout), "layout.json", "application/json")]


def _array(tensor: Tensor, tag: str, event: Event, plugin: str) -> Thing:
    """A tensor without a known display: as a numpy file, or its strings as JSON."""
    name = f"{plugin or 'tensor'}.npy"
    if tensor.dtype == object:
        texts = [_text(part) for part in _strings(tensor, "strings")]
        return _file(tag, event, msgspec.json.encode(texts), f"{plugin or 'strings'}.json", "application/json", plugin)
    out = io.BytesIO()
    np.save(out, tensor, allow_pickle=False)
    return _file(tag, event, out.getvalue(), name, plugin=plugin, shape=list(tensor.shape))


def _file(
    tag: str,
    event: Event,
    data: bytes,
    name: str,
    mime: str = _BINARY,
    plugin: str = "",
    **more: Any,
) -> Thing:
    meta = {"name": name, **({"plugin": plugin} if plugin else {}), **more}
    return Thing(_media(tag, event, "file", mime, meta), data)
