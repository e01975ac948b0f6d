"""Embeddings: vectors with names and thumbnails, for the projector."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from stepscope.errors import UsageError
from stepscope.records import Media
from stepscope.track.media.arrays import hold, shaped
from stepscope.track.media.image import Image
from stepscope.track.media.loggable import Encoded, captioned, harmless
from stepscope.track.media.table import cell

__all__ = ["Embedding"]

MAX_BYTES = 256 << 20
MAX_IMAGES = 4096


@harmless
class Embedding:
    """Vectors to look at in space: `run.log({"latent": stepscope.Embedding(z, labels=y, images=x)})`.

    `vectors` has a row per sample; `labels` a name or number for each; `images` a thumbnail for each (a batch, or a
    list), kept as one sheet. The data is the rows as float32 followed by JSON with the labels.
    """

    def __init__(
        self, vectors: Any, labels: Sequence[Any] | None = None, images: Any = None, *, caption: str | None = None
    ) -> None:
        self.caption = caption
        vectors, shape = shaped(vectors, "an embedding")
        if len(shape) != 2 or 0 in shape:
            raise UsageError(f"an embedding of shape {shape}; expected (samples, dimensions), none of them 0")
        rows, width = shape
        if rows * width * 4 > MAX_BYTES:
            raise UsageError(
                f"an embedding of {rows:,} x {width:,} values is larger than the {MAX_BYTES >> 20} MiB that are kept; "
                "take a sample of the rows"
            )
        self._held = hold(vectors, "an embedding")
        self._labels = None if labels is None else [cell(label) for label in _listed(labels)]
        if self._labels is not None and len(self._labels) != rows:
            raise UsageError(f"{len(self._labels)} labels for {rows} vectors; give one each")
        self._sheet = None if images is None else _sheet(images, rows)

    def encode(self, key: str, step: int, time: float) -> Encoded:
        import numpy as np

        values = self._held.numpy().astype("<f4")
        data = values.tobytes()
        meta: dict[str, Any] = {"rows": values.shape[0], "width": values.shape[1], "labels": self._labels is not None}
        bad = int((~np.isfinite(values)).any(axis=1).sum())
        if bad:
            meta["nan"] = bad
        if self._labels is not None:
            data += msgspec.json.encode({"labels": self._labels})
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


def _listed(labels: Any) -> list[Any]:
    return labels.tolist() if hasattr(labels, "tolist") else list(labels)


def _sheet(images: Any, rows: int) -> Image:
    count = len(images)
    if count != rows:
        raise UsageError(f"{count} images for {rows} vectors; give one each")
    if count > MAX_IMAGES:
        raise UsageError(f"{count:,} images are more than the {MAX_IMAGES:,} that are kept; take a sample of the rows")
    return Image(images, max_images=MAX_IMAGES, grid=True)
