"""Embeddings written for TensorBoard's projector: text files of vectors and labels, and a sprite image."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from stepscope.errors import StepscopeError
from stepscope.files.opening import read_text
from stepscope.importers.foreign import Piece
from stepscope.importers.things import file_thing, things_of
from stepscope.track.media.embedding import Embedding

_BLOCK = re.compile(r"embeddings\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_FIELD = re.compile(r'(tensor_name|tensor_path|metadata_path|image_path)\s*:\s*"((?:[^"\\]|\\.)*)"')
_LARGEST = 256 << 20
_LARGEST_CONFIG = 4 << 20


def embeddings(folder: Path, state: dict[str, Any], created: float) -> Iterator[Piece]:
    """The embeddings in a run's folder that were not there at the last poll."""
    try:
        text = read_text(folder / "projector_config.pbtxt", _LARGEST_CONFIG, within=folder)
    except OSError:
        return
    known = dict(state["embeddings"])
    for block in _BLOCK.findall(text):
        found = dict(_FIELD.findall(block))
        path = _inside(folder, found.get("tensor_path", ""))
        if path is None or not path.is_file():
            continue
        stamp = path.stat()
        if known.get(found["tensor_path"]) == stamp.st_size or stamp.st_size > _LARGEST:
            continue
        tag, _, step = found.get("tensor_name", "embedding").rpartition(":")
        number = int(step) if step.isdigit() else 0
        try:
            made = Embedding(_vectors(folder, path), _labels(folder, found.get("metadata_path", "")))
            key = tag if step.isdigit() and tag else f"{tag}{step}"
            yield from things_of(made, key, number, stamp.st_mtime)
            sprite = _inside(folder, found.get("image_path", ""))
            if sprite is not None and sprite.is_file():
                yield file_thing(sprite, f"{key}/sprite", number, stamp.st_mtime, within=folder.resolve())
        except (StepscopeError, ValueError, OSError):
            continue  # half written: read again when it has grown
        known[found["tensor_path"]] = stamp.st_size
    state["embeddings"] = known


def _inside(folder: Path, name: str) -> Path | None:
    """A path from the configuration, if it stays within the folder."""
    if not name:
        return None
    path = (folder / name).resolve()
    return path if path.is_relative_to(folder.resolve()) else None


def _vectors(folder: Path, path: Path) -> np.ndarray[Any, Any]:
    lines = read_text(path, _LARGEST, within=folder.resolve()).splitlines()
    return np.loadtxt(lines, delimiter="\t", dtype=np.float32, ndmin=2)


def _labels(folder: Path, name: str) -> Any:
    path = _inside(folder, name)
    if path is None or not path.is_file() or path.stat().st_size > _LARGEST:
        return None
    lines = read_text(path, _LARGEST, within=folder.resolve()).rstrip("\n").split("\n")
    if "\t" not in lines[0]:
        return lines
    header, *rows = [line.split("\t") for line in lines]
    return {name: [row[place] if place < len(row) else "" for row in rows] for place, name in enumerate(header)}
