"""Meshes and point clouds as PLY files, which 3D viewers open."""

from __future__ import annotations

import numpy as np

from stepscope.eventfiles.tensors import Tensor


def ply(vertices: Tensor, faces: Tensor | None = None, colors: Tensor | None = None) -> bytes:
    """A mesh or point cloud as a binary PLY file."""
    rows = len(vertices)
    coloured = colors is not None and len(colors) == rows
    lines = ["ply", "format binary_little_endian 1.0", f"element vertex {rows}"]
    lines += [f"property float {axis}" for axis in "xyz"]
    kinds = [("place", "<f4", (3,))]
    if coloured:
        lines += [f"property uchar {name}" for name in ("red", "green", "blue")]
        kinds.append(("color", "u1", (3,)))
    table = np.zeros(rows, dtype=kinds)
    table["place"] = vertices
    if coloured and colors is not None:
        table["color"] = np.clip(colors, 0, 255)
    body = table.tobytes()
    if faces is not None and len(faces):
        lines += [f"element face {len(faces)}", "property list uchar int vertex_indices"]
        triangles = np.zeros(len(faces), dtype=[("count", "u1"), ("corner", "<i4", (3,))])
        triangles["count"] = 3
        triangles["corner"] = faces
        body += triangles.tobytes()
    return ("\n".join([*lines, "end_header"]) + "\n").encode() + body
