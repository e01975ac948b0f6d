"""Meshes: TensorBoard stores vertices, faces and colors separately; combined they make a PLY file for 3D viewers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from stepscope.errors import BadData
from stepscope.eventfiles.events import Event
from stepscope.eventfiles.plugins import decode_mesh
from stepscope.eventfiles.ply import ply
from stepscope.eventfiles.tensors import Tensor
from stepscope.importers.foreign import Thing
from stepscope.records import Media

_BITS = {"vertices": 2, "faces": 4, "colors": 8}


@dataclass
class _Waiting:
    event: Event
    parts: dict[str, Tensor] = field(default_factory=dict)
    wanted: int = 0


class Meshes:
    """Collects the parts of meshes until each is complete."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, int], _Waiting] = {}

    def add(self, tensor: Tensor, content: bytes, event: Event) -> Iterator[Thing]:
        part = decode_mesh(content)
        if tensor.ndim != 3 or tensor.shape[2] != 3 or tensor.dtype.kind not in "fiu" or part.part == "unknown":
            raise BadData(f"a part of a mesh of shape {tensor.shape}; expected (batch, rows, 3)")
        mesh = self._waiting.setdefault((part.name, event.step), _Waiting(event))
        mesh.parts[part.part] = tensor
        mesh.wanted |= part.components
        if mesh.wanted and mesh.wanted == sum(_BITS[name] for name in mesh.parts):
            del self._waiting[part.name, event.step]
            yield from _things(part.name, mesh)

    def rest(self) -> Iterator[Thing]:
        """Incomplete meshes, with the parts they have."""
        for (name, _), mesh in self._waiting.items():
            yield from _things(name, mesh)
        self._waiting = {}


def _things(name: str, mesh: _Waiting) -> Iterator[Thing]:
    if "vertices" not in mesh.parts:
        for part, tensor in mesh.parts.items():
            out = io.BytesIO()
            np.save(out, tensor, allow_pickle=False)
            yield _thing(name, mesh, 0, 1, f"{part}.npy", out.getvalue())
        return
    batch = len(mesh.parts["vertices"])
    for index in range(batch):
        one = {part: tensor[index] for part, tensor in mesh.parts.items() if index < len(tensor)}
        yield _thing(name, mesh, index, batch, "mesh.ply", ply(**one))


def _thing(name: str, mesh: _Waiting, index: int, count: int, file: str, data: bytes) -> Thing:
    media = Media(
        key=name or "mesh", step=mesh.event.step, time=mesh.event.time, kind="file", mime="application/octet-stream",
        index=index, count=count, meta={"name": file, "plugin": "mesh"},
    )  # fmt: skip
    return Thing(media, data)
