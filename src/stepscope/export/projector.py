"""Embeddings as files for TensorBoard's projector."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from stepscope.errors import BadData

if TYPE_CHECKING:
    from stepscope.records import Media

_CONFIG = "projector_config.pbtxt"


def write_embedding(place: Path, media: Media, data: bytes) -> None:
    """Vectors, labels and the entry that names them."""
    rows, width = int(media.meta["rows"]), int(media.meta["width"])
    size = rows * width * 4
    if len(data) < size:
        raise BadData(f"an embedding of {len(data)} bytes; expected {size}")
    vectors = np.frombuffer(data[:size], dtype="<f4").reshape(rows, width)
    folder = place / f"{media.step:05d}" / (re.sub(r"[^A-Za-z0-9_.-]+", "_", media.key)[:80] or "embedding")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "tensors.tsv").open("w") as out:
        out.writelines("\t".join(map(repr, row)) + "\n" for row in vectors.tolist())
    below = folder.relative_to(place).as_posix()
    lines = [f"  tensor_name: {_quoted(f'{media.key}:{media.step:05d}')}", f'  tensor_path: "{below}/tensors.tsv"']
    if len(data) > size:
        _write_labels(folder / "metadata.tsv", msgspec.json.decode(data[size:]))
        lines.append(f'  metadata_path: "{below}/metadata.tsv"')
    with (place / _CONFIG).open("a", encoding="utf-8") as out:
        out.write("embeddings {\n" + "\n".join(lines) + "\n}\n")


def _write_labels(path: Path, labels: dict[str, Any]) -> None:
    columns = labels.get("columns") or {}
    if len(columns) > 1:
        rows = [list(columns), *zip(*columns.values(), strict=True)]
    else:
        rows = [[label] for label in labels.get("labels", [])]
    text = "".join("\t".join(_cell(cell) for cell in row) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def _cell(value: Any) -> str:
    return " ".join(str(value).split()) or "-"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
