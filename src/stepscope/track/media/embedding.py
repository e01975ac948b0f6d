"""Embeddings: vectors with names and thumbnails, for the projector."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from stepscope.common.units import bytes_text
from stepscope.errors import UsageError
from stepscope.records import Media
from stepscope.track.media.arrays import hold, shaped
from stepscope.track.media.image import Image
from stepscope.track.media.loggable import Encoded, captioned, harmless
from stepscope.track.media.table import cell

MAX_BYTES = 256 << 20
MAX_IMAGES = 4096
MAX_COLUMNS = 20


@harmless
class Embedding:
    """Vectors for the projector: `run.log({"latent": stepscope.Embedding(z, labels=y, images=x)})`.

    `vectors` has a row per sample; `labels` a name or number for each, or a dict of several such columns; `images` a
    thumbnail for each (a batch, or a list), kept as one sheet. The data is the rows as float32 followed by JSON with
    the labels, which are the first column, and all columns.
    """

    def __init__(
        self,
        vectors: Any,
        labels: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
        images: Any = None,
        *,
        caption: str | None = None,
    ) -> None:
        self.caption = caption
        vectors, shape = shaped(vectors, "an embedding")
        if len(shape) != 2 or 0 in shape:
            raise UsageError(f"an embedding of shape {shape}; expected (samples, dimensions), none of them 0")
        rows, width = shape
        if rows * width * 4 > MAX_BYTES:
            raise UsageError(
                f"an embedding of {rows:,} x {width:,} values is larger than {bytes_text(MAX_BYTES)}; "
                "take a sample of the rows"
            )
        self._held = hold(vectors, "an embedding")
        self._columns = _columns(labels, rows)
        self._sheet = None if images is None else _sheet(images, rows)

    def encode(self, key: str, step: int, time: float) -> Encoded:
        import numpy as np

        values = self._held.numpy().astype("<f4")
        data = values.tobytes()
        meta: dict[str, Any] = {"rows": values.shape[0], "width": values.shape[1], "labels": bool(self._columns)}
        bad = int((~np.isfinite(values)).any(axis=1).sum())
        if bad:
            meta["nan"] = bad
        if self._columns:
            named = {} if list(self._columns) == ["label"] else {"columns": self._columns}
            data += msgspec.json.encode({"labels": next(iter(self._columns.values())), **named})
        records: Encoded = []
        if self._sheet is not None:
            [(sheet, png)] = self._sheet.encode(key, step, time)
            assert png is not None
            meta["sprite"] = hashlib.sha256(png).hexdigest()
            meta["sprite_cell"] = sheet.meta.get("cell", [sheet.meta["width"], sheet.meta["height"]])
            meta["sprite_columns"] = sheet.meta.get("columns", 1)
            described = {**sheet.meta, "sprite": True}
            records.append((msgspec.structs.replace(sheet, index=1, count=2, meta=described), png))
        count = 1 + len(records)
        main = Media(
            key=key, step=step, time=time, kind="embedding", mime="application/octet-stream", count=count,
            meta=captioned(meta, self.caption),
        )  # fmt: skip
        return [(main, data), *records]


def _columns(labels: Any, rows: int) -> dict[str, list[Any]]:
    """The attributes of each row, by name; a bare list is the one column `label`."""
    if labels is None:
        return {}
    given = labels if isinstance(labels, Mapping) else {"label": labels}
    columns = {str(name): [cell(label) for label in _listed(values)] for name, values in given.items()}
    if len(columns) > MAX_COLUMNS:
        raise UsageError(f"{len(columns)} columns of labels are more than the maximum of {MAX_COLUMNS}; pick some")
    for name, values in columns.items():
        if len(values) != rows:
            which = f" in the column {name!r}" if isinstance(labels, Mapping) else ""
            raise UsageError(f"{len(values)} labels for {rows} vectors{which}; give one each")
    return columns


def _listed(labels: Any) -> list[Any]:
    return labels.tolist() if hasattr(labels, "tolist") else list(labels)


def _sheet(images: Any, rows: int) -> Image:
    count = len(images)
    if count != rows:
        raise UsageError(f"{count} images for {rows} vectors; give one each")
    if count > MAX_IMAGES:
        raise UsageError(f"{count:,} images are more than the maximum of {MAX_IMAGES:,}; take a sample of the rows")
    return Image(images, max_images=MAX_IMAGES, grid=True)
